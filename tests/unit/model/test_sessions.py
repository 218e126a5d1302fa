import gzip

import pytest

import meshwright as mw
from meshwright.model.sessions import Session, read_sessions


def table(path, text):
    path.write_text(text)
    return path


def test_sessions_by_time_keep_the_files_order_and_an_empty_end_never_comes(tmp_path):
    path = table(tmp_path / "s.csv", "end,node,note,start\n9,b,x,5\n,a,y,2\n\n7,b,z,3\n")
    assert read_sessions(path) == [Session("b", 5, 9), Session("a", 2, None), Session("b", 3, 7)]


def test_a_session_by_snapshots_ends_with_the_first_in_which_the_node_was_not_seen(tmp_path):
    path = table(tmp_path / "s.csv", "node,first_snapshot,last_snapshot\na,0,1\na,2,3\nb,1,2\n")
    assert read_sessions(path) == [Session("a", 0, 2), Session("a", 2, None), Session("b", 1, 3)]


def test_times_of_snapshots_come_from_their_own_table(tmp_path):
    packed = tmp_path / "s.csv.gz"
    packed.write_bytes(gzip.compress("node,first_snapshot,last_snapshot\na,0,0\nb,1,2\n".encode("utf-8-sig")))
    times = table(tmp_path / "t.csv", "snapshot,unix_time,alive\n0,100,1\n1,130,1\n2,170,1\n3,200,0\n")
    assert read_sessions(packed, times) == [Session("a", 100, 130), Session("b", 130, 200)]


def test_a_field_may_be_as_long_as_a_line(tmp_path):
    name = "n" * 200_000
    assert read_sessions(table(tmp_path / "s.csv", f"node,start,end\n{name},1,2\n")) == [Session(name, 1, 2)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no column 'node'; its columns are none"),
        ("node,from,to\na,1,2\n", "has no column 'first_snapshot'; its columns are node, from, to"),
        ("node,start,end\na,1\n", "row 1 has 2 cells"),
        ("node,start,end\na,1,2\n,1,2\n", "row 2 has no node name"),
        ("node,start,end\na,x,2\n", "row 1 has 'x' instead of a whole number"),
        ("node,start,end\na,-1,2\n", "row 1 has '-1' instead of a whole number"),
        ("node,start,end\na,5,5\n", "the session of 'a' ends at 5, before its start at 5"),
        ("node,first_snapshot,last_snapshot\na,3,2\nb,1,9\n", "last snapshot of 'a' is 2, before its first"),
    ],
)
def test_a_row_that_cannot_be_right_is_refused_with_its_number(tmp_path, text, message):
    with pytest.raises(mw.InputError, match=message):
        read_sessions(table(tmp_path / "s.csv", text))


def test_snapshots_without_a_time_and_times_that_do_not_rise_are_refused(tmp_path):
    path = table(tmp_path / "s.csv", "node,first_snapshot,last_snapshot\na,0,7\n")
    with pytest.raises(mw.InputError, match="snapshots 0 to 7, but one of these has no time"):
        read_sessions(path, table(tmp_path / "t.csv", "snapshot,unix_time\n0,5\n1,6\n"))
    with pytest.raises(mw.InputError, match="row 2: snapshots must rise by one, and their times must rise"):
        read_sessions(path, table(tmp_path / "t.csv", "snapshot,unix_time\n0,5\n1,5\n"))
    with pytest.raises(mw.InputError, match="has its own times"):
        read_sessions(table(tmp_path / "u.csv", "node,start,end\n"), tmp_path / "t.csv")
    with pytest.raises(mw.InputError, match="there is no such file"):
        read_sessions(tmp_path / "nothing.csv")
