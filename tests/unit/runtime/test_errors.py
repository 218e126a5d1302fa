import pickle

import pytest

import meshwright as mw
from meshwright.runtime import errors
from meshwright.runtime.checks import check_whole

KINDS = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)]
OURS = [kind for kind in KINDS if issubclass(kind, mw.MeshwrightError)]


@pytest.mark.parametrize("kind", OURS)
def test_an_error_crosses_between_processes_with_all_that_it_names(kind):
    given = kind("f.csv, row 7 is bad; mend it", path="f.csv", row=7, option="x")
    found = pickle.loads(pickle.dumps(given))
    assert type(found) is kind
    assert (str(found), found.path, found.row, found.option) == (str(given), "f.csv", 7, "x")


def test_an_error_names_nothing_unless_told():
    error = mw.InputError("it is bad")
    assert (str(error), error.path, error.row, error.option) == ("it is bad", None, None, None)


def test_a_path_is_filled_in_where_none_is_named():
    assert vars(mw.InputError("bad", row=3).at("f")) == {"path": "f", "row": 3, "option": None}
    assert vars(mw.InputError("bad", path="f").at("f", 3)) == {"path": "f", "row": 3, "option": None}
    assert vars(mw.InputError("bad", path="f", row=3).at("g", 4)) == {"path": "f", "row": 3, "option": None}


def refused(kind, call, *arguments):
    with pytest.raises(kind) as caught:
        call(*arguments)
    return caught.value


def test_an_error_of_an_option_names_it():
    interests = mw.Interests.from_pairs([])
    assert refused(mw.OptionError, check_whole, "most_stars", -1, 0).option == "most_stars"
    assert refused(mw.OptionError, lambda: mw.build(interests, "gm", speed=1)).option == "speed"
    assert refused(mw.OptionError, lambda: mw.build(interests, "low-oda", rho=0)).option == "rho"


@pytest.mark.parametrize(
    ("name", "text", "read", "row"),
    [
        ("pairs.csv", "node,topic\na,b\na,\n", mw.Interests.from_csv, 3),
        ("pairs.csv", "node,topic\na,b\na,b,c\n", mw.Interests.from_csv, 3),
        ("pairs.csv", "node,subject\na,b\n", mw.Interests.from_csv, None),
        ("absent/pairs.csv", None, mw.Interests.from_csv, None),
        ("events.jsonl", '{"at":1,"event":"leave","node":"a"}\n{"at":2}\n', mw.read_events, 2),
        ("events.jsonl", '{"at":1,"event":"leave","node":"a"}\n[\n', mw.read_events, 2),
        ("costs.csv", "source,target,cost\na,b,1\na,b,2\n", mw.Costs.from_csv, 1),
        ("costs.csv", "", mw.Costs.from_csv, None),
    ],
)
def test_an_error_of_a_reader_names_the_file_and_the_row(tmp_path, name, text, read, row):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    error = refused(mw.InputError, read, path)
    assert (error.path, error.row) == (str(path), row)


def test_an_error_of_a_dataset_names_its_folder(tmp_path):
    assert refused(mw.DatasetError, mw.Overlay.read, tmp_path).path == str(tmp_path)


def test_a_long_line_keeps_its_beginning_and_its_end():
    line = "wrong: " + "x" * 10_000_000 + "; do this"
    short = errors.shortened(line)
    assert len(short) == errors.LONGEST_LINE
    assert short.startswith("wrong: x")
    assert short.endswith("x; do this")
    assert errors.shortened("x" * errors.LONGEST_LINE) == "x" * errors.LONGEST_LINE


def test_a_long_name_is_shown_by_its_beginning():
    assert errors.quoted("x" * 81) == "'" + "x" * 80 + "'…"
    assert errors.quoted("x" * 80) == repr("x" * 80)
