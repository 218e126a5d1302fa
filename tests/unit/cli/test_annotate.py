"""`meshwright annotate`."""

import json
from pathlib import Path

import meshwright as mw

PAIRS = [("b1", "news"), ("b2", "news"), ("b2", "x"), ("b3", "x")]


def test_an_overlay_keeps_its_links_and_what_made_them(run, tmp_path: Path) -> None:
    interests = mw.Interests.from_pairs(PAIRS)
    interests.write(tmp_path / "interests")
    assert run("build", tmp_path / "interests", "--algorithm", "gm", "--out", tmp_path / "overlay")[0] == 0
    (tmp_path / "topics.csv").write_text("topic,rate\nnews,3\n")
    code, out, _ = run(
        "annotate",
        tmp_path / "overlay",
        "--topics",
        tmp_path / "topics.csv",
        "--json",
        "--out",
        tmp_path / "o",
    )
    assert code == 0
    said = json.loads(out)
    assert (said["topic_attributes"], said["node_attributes"], said["algorithm"]) == (["rate"], [], "gm")
    before, after = mw.Overlay.read(tmp_path / "overlay"), mw.Overlay.read(tmp_path / "o")
    assert after.edges.tolist() == before.edges.tolist()
    assert after.facts == before.facts
    assert mw.expected_load(after).maximum > mw.expected_load(before).maximum


def test_caps_of_a_file_bind_the_next_build(run, tmp_path: Path) -> None:
    mw.Interests.from_pairs(PAIRS).write(tmp_path / "interests")
    (tmp_path / "nodes.csv").write_text("node,max_links,site\nb2,1,Oslo\n")
    code, out, _ = run(
        "annotate", tmp_path / "interests", "--nodes", tmp_path / "nodes.csv", "--out", tmp_path / "capped"
    )
    assert (code, out.splitlines()[0]) == (0, f"{tmp_path / 'capped'}: node attributes: max_links, site")
    built = run(
        *("build", tmp_path / "capped", "--algorithm", "gm", "--set", "max_links=column"),
        *("--out", tmp_path / "overlay"),
    )
    assert built[0] == 1
    assert "'b2'" in built[2]


def test_nothing_to_add_and_a_wrong_file_are_refused_and_leave_nothing(run, tmp_path: Path) -> None:
    mw.Interests.from_pairs(PAIRS).write(tmp_path / "interests")
    (tmp_path / "nodes.csv").write_text("node,max_links\nb9,1\n")
    for words, said in (((), "nothing to add"), (("--nodes", tmp_path / "nodes.csv"), "names node 'b9'")):
        code, _, error = run("annotate", tmp_path / "interests", *words, "--out", tmp_path / "out")
        assert code == 2
        assert said in error
        assert not (tmp_path / "out").exists()
