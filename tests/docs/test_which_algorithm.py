"""The page that helps to choose, from the algorithms that there are."""

import numpy as np
import pytest

import meshwright as mw
from benchmarks.suggesting import plane
from benchmarks.which_algorithm import measure, page
from meshwright import suggesting
from meshwright.model.edges import Built

FEW = ("gm", "ring", "exact", "chord", "tr-maw", "nm")


def stars(interests, costs, options, seed, progress):
    topics = np.split(interests.node_ids, interests.topic_indptr[1:-1])
    return Built(edges=np.unique([(own[0], other) for own in topics for other in own[1:]], axis=0))


@pytest.fixture
def few_and_a_new_one(monkeypatch):
    """Some of the algorithms, of every kind, and one that somebody adds."""
    mw.register("stars", mw.Algorithm(summary="a star for each topic", load=stars))
    chosen = {name: mw.algorithms()[name] for name in (*FEW, "stars")}
    monkeypatch.setattr(mw, "algorithms", lambda: chosen)
    monkeypatch.setattr(suggesting, "_RESTARTS", 10)
    yield
    mw.unregister("stars")


@pytest.mark.usefixtures("few_and_a_new_one")
def test_every_algorithm_has_its_row_and_the_guide_names_the_best():
    interests = mw.workloads.unif(24, 8, subscriptions=3, seed=1)
    costs = plane(interests)
    plain, priced = measure(interests, None), measure(interests, costs)
    assert plain["tr-maw"] == {"error": "it needs the costs of links"}
    assert plain["stars"]["average_degree"] == mw.evaluate(mw.build(interests, "stars")).average_degree
    assert priced["tr-maw"]["cost"] == pytest.approx(mw.build(interests, "tr-maw", costs=costs).costs.sum())
    assert not {"mean_topic_diameter", "times_bound", "repairs"} & plain["chord"].keys()
    assert plain["exact"]["times_bound"] <= plain["gm"]["times_bound"]
    lines = page({"a": plain}, {"a": priced}, "today").splitlines()
    assert any(line.startswith("| the fewest links | **`exact`**") for line in lines)
    assert any(line.startswith("| short paths inside topics | **`stars`**") for line in lines)
    assert sum(line.startswith("| `stars` |") for line in lines) == 2
    assert any(line.startswith("Not measured: `tr-maw` (it needs") for line in lines)
