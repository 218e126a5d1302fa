"""Pictures of studies: one style for an algorithm, and the paper's values in them."""

from math import nan

from meshwright.studies.catalogue import Curves, Point, Related
from meshwright.studies.drawing import ALGORITHMS, draw, styles


def test_no_two_algorithms_look_alike():
    assert len(set(ALGORITHMS.values())) == len(ALGORITHMS)


def test_an_algorithm_looks_the_same_whatever_is_beside_it():
    alone = styles(["dcbc"])["dcbc"]
    among = styles(["gm", "dc", "other", "dcbc", "gm"])
    assert among["dcbc"] == alone == ALGORITHMS["dcbc"]
    assert among["other"] != styles(["first", "other"])["other"]


def _curves(**changes):
    fields = {"measure": lambda seed, scope: (), "x": "size", "y": "links"}
    return Curves(**fields | changes)


def test_the_values_of_the_paper_are_marked(tmp_path):
    ours = {"gm": {1.0: [1.0, 3.0], 2.0: [4.0]}, "dc": {1.0: [2.0], 2.0: [4.0]}}
    stated = (Point("gm", 2, 5.0), Point("gm", nan, 3.0), Point("dc", 1.5, nan))
    lines = _curves(
        stated=stated, related=(Related("dc", "gm", 2.0, 0.5), Related("gm", "dc", more=9.0, at=2))
    )
    draw("A figure", [(lines, ours), (_curves(dots=True, y="time"), ours)], [], tmp_path / "figure")
    shown = (tmp_path / "figure.svg").read_text()
    for words in ("gm, the paper", "gm, the paper, overall", "dc, the paper, overall", "dc, by the paper"):
        assert f">{words}<" in shown
    assert "<image" in shown
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
