import copy
import dataclasses
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest

from meshwright.model.costs import forms as cost_means
from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests
from meshwright.runtime import memory
from meshwright.runtime.errors import CapacityError, InputError, OptionError

NAN, INF = float("nan"), float("inf")
CITIES = ["Zürich", "東京", "a, b"]
MATRIX = np.array([[0, 2, 3], [2, 0, 5], [3, 5, 0]])


def of(costs: Costs, *names: str) -> float:
    """The cost between two nodes by name."""
    listed = costs.nodes.to_pylist()
    return float(costs.between(*(listed.index(name) for name in names)))


@pytest.fixture
def cities() -> Costs:
    return Costs.from_matrix(MATRIX, CITIES)


def test_a_matrix_gives_each_pair_its_cost_by_name(cities: Costs) -> None:
    assert of(cities, "Zürich", "東京") == 2
    assert of(cities, "a, b", "東京") == 5
    assert cities.between([0, 1], [2, 2]).tolist() == [3, 5]
    assert cities.row(2, [0, 1]).tolist() == [3, 5]
    assert cities.to_matrix().tolist() == MATRIX.tolist()


def test_without_names_nodes_are_numbered_as_in_generated_workloads() -> None:
    costs = Costs.from_matrix(np.ones((11, 11)))
    assert costs.nodes.to_pylist()[:2] == ["n00", "n01"]


def test_a_frame_brings_its_names_whatever_the_order_of_its_rows(cities: Costs) -> None:
    frame = pd.DataFrame(MATRIX, index=CITIES, columns=CITIES)
    assert Costs.from_matrix(frame.iloc[::-1]) == cities
    assert Costs.from_matrix(frame.set_axis([5, 6, 7]), CITIES) == cities
    with pytest.raises(InputError, match="names are strings"):
        Costs.from_matrix(frame.set_axis([5, 6, 7]))


def test_masked_cells_have_no_number() -> None:
    given = np.ma.masked_equal([[0, 2], [9, 0]], 9)
    with pytest.raises(InputError, match="no cost from 'n1' to 'n0'"):
        Costs.from_matrix(given)
    assert of(Costs.from_matrix(given, missing="other-direction"), "n0", "n1") == 2


@pytest.mark.parametrize("diagonal", [0.0, -1.0, NAN, INF, 7.0])
def test_the_diagonal_is_ignored(cities: Costs, diagonal: float) -> None:
    given = MATRIX.astype(float)
    np.fill_diagonal(given, diagonal)
    assert Costs.from_matrix(given, CITIES) == cities


def test_what_is_given_is_copied_and_what_is_held_is_read_only() -> None:
    given = MATRIX.astype(float)
    costs = Costs.from_matrix(given, CITIES)
    given[:] = 9
    assert of(costs, "Zürich", "東京") == 2
    for array in (costs.arrays().matrix, costs.arrays().site_of, costs.arrays().points):
        assert array.flags.c_contiguous
        assert not array.flags.writeable
    with pytest.raises(dataclasses.FrozenInstanceError):
        costs.nodes = None  # type: ignore[misc]


@pytest.mark.parametrize(
    ("value", "shown"), [(-1.5, "-1.5"), (0.0, "0"), (INF, "inf"), (-INF, "-inf"), (NAN, "no cost")]
)
def test_a_cell_that_is_no_cost_is_refused_with_its_names_and_how_many_more(value: float, shown: str) -> None:
    given = MATRIX.astype(float)
    given[1, 2] = value
    with pytest.raises(InputError, match=rf"{shown}.*") as caught:
        Costs.from_matrix(given, CITIES)
    assert "from '東京' to 'a, b'" in str(caught.value)
    assert "more" not in str(caught.value)
    given[2, 0] = value
    with pytest.raises(InputError, match=r"\(and 1 more\)"):
        Costs.from_matrix(given, CITIES)


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        (np.ones((2, 3)), r"shape \(2, 3\); give a square"),
        (np.ones(3), r"1 dimension\(s\)"),
        (np.ones((2, 2, 2)), r"3 dimension\(s\)"),
        ([[0, 1], [1]], "not a square of numbers"),
        (np.array([["0", "1"], ["1", "0"]]), "give numbers"),
        (np.ones((2, 2), bool), "of type bool"),
        (np.ones((2, 2), complex), "of type complex128"),
        (3.0, r"0 dimension\(s\)"),
    ],
)
def test_what_is_no_square_of_numbers_is_refused(given: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        Costs.from_matrix(given)


@pytest.mark.parametrize(
    ("names", "rule"),
    [
        (["a", "b"], "the matrix has 3 rows, but there are 2 names"),
        (["a", "b", "a"], "'a' appears 2 times; name each once"),
        (["a", "b", "b"], "'b' appears 2 times"),
        (["a", "", "b"], "empty"),
        (["a", 7, "b"], "names are strings"),
        ("abc", "the single string"),
    ],
)
def test_names_that_do_not_fit_are_refused(names: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        Costs.from_matrix(MATRIX, names)


def test_costs_of_no_node_and_of_one_are_legal() -> None:
    for count in (0, 1):
        costs = Costs.from_matrix(np.full((count, count), NAN))
        assert costs.node_count == count
        assert costs.normalised() == costs
        assert costs.between([], []).tolist() == []


@pytest.mark.parametrize(("rule", "cost"), [("mean", 3), ("max", 4), ("min", 2)])
def test_directions_that_differ_are_symmetrised_by_the_rule_and_the_facts_tell(
    rule: str, cost: float
) -> None:
    costs = Costs.from_matrix([[0, 4, 1], [2, 0, 1], [1, 1, 0]], list("abc"), symmetrise=rule)
    assert of(costs, "a", "b") == of(costs, "b", "a") == cost
    assert costs.facts["symmetrised_by"] == rule
    assert costs.facts["asymmetric_pairs"] == 1
    assert costs.facts["greatest_difference"] == 0.5
    assert costs.facts["mean_difference"] == pytest.approx(0.5 / 3)
    assert costs.facts["most_unlike"] == {"pair": ["a", "b"], "there": 4, "back": 2}


def test_directions_that_differ_can_be_refused_but_for_rounding() -> None:
    with pytest.raises(InputError, match="'n0' to 'n1' costs 4, but 'n1' to 'n0' costs 2"):
        Costs.from_matrix([[0, 4], [2, 0]], symmetrise="refuse")
    nearly = Costs.from_matrix([[0, 0.3], [0.1 + 0.2, 0]], symmetrise="refuse")
    assert of(nearly, "n0", "n1") == pytest.approx(0.3)


def test_the_greatest_of_costs_have_a_mean() -> None:
    great = 1e100
    costs = Costs.from_matrix([[0, great], [great / 2, 0]])
    assert of(costs, "n0", "n1") == 0.75 * great


def test_pairs_without_a_number_are_filled_by_the_rule_and_counted() -> None:
    given = [[0, 1, NAN, 4], [1, 0, 2, NAN], [NAN, NAN, 0, 1], [4, 9, 1, 0]]
    with pytest.raises(InputError, match=r"from 'n0' to 'n2' \(and 2 more\).*missing='path'"):
        Costs.from_matrix(given)
    with pytest.raises(InputError, match=r"from 'n0' to 'n2'; measure it, or set missing='path'"):
        Costs.from_matrix(given, missing="other-direction")
    costs = Costs.from_matrix(given, missing="path")
    assert of(costs, "n1", "n2") == 2
    assert of(costs, "n1", "n3") == 9
    assert of(costs, "n0", "n2") == 3
    assert costs.facts["missing_filled_by"] == "path"
    assert costs.facts["filled_from_other_direction"] == 2
    assert costs.facts["filled_by_path"] == 1


def test_nodes_that_no_path_joins_are_refused() -> None:
    given = np.full((4, 4), NAN)
    given[0, 1] = given[2, 3] = 1
    with pytest.raises(InputError, match=r"leads from 'n0' to 'n2' \(and 3 more\)"):
        Costs.from_matrix(given, missing="path")


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"symmetrise": "median"}, "mean, max, min, refuse"),
        ({"missing": "zero"}, "refuse, other-direction, path"),
    ],
)
def test_rules_that_do_not_exist_are_refused_with_those_that_do(options: Any, rule: str) -> None:
    with pytest.raises(OptionError, match=rule):
        Costs.from_matrix(MATRIX, **options)


def test_a_matrix_of_many_blocks_is_symmetric_and_finds_faults_in_each() -> None:
    given = np.random.default_rng(0).uniform(1, 2, (600, 600))
    costs = Costs.from_matrix(given)
    wanted = (given / 2 + given.T / 2) * (1 - np.eye(600))
    assert costs.to_matrix().tolist() == wanted.tolist()
    assert costs.facts["asymmetric_pairs"] == 600 * 599 // 2
    given[555, 3] = -1
    with pytest.raises(InputError, match="from 'n555' to 'n003' is -1;"):
        Costs.from_matrix(given)


def test_a_matrix_that_does_not_fit_is_refused_with_what_to_use_instead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(memory, "free_memory", lambda: 50)
    with pytest.raises(CapacityError, match=r"the costs between 3 nodes.*Costs\.sites.*Costs\.coordinates"):
        Costs.from_matrix(MATRIX)


@pytest.mark.parametrize(
    ("u", "v", "rule"),
    [
        (0, 3, "outside 0 to 2"),
        (-1, 0, "outside 0 to 2"),
        ([0, 1], [1, 1], "a link from '東京' to itself has no cost;"),
        ([0, 1], [0, 1], r"a link from 'Zürich' to itself has no cost \(and 1 more\)"),
        (0.5, 1, "of type float64; give integers"),
    ],
)
def test_ids_that_have_no_cost_are_refused(cities: Costs, u: Any, v: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        cities.between(u, v)


def test_costs_of_interests_follow_their_ids_and_count_whom_they_leave_out(cities: Costs) -> None:
    bound = cities.of(Interests.from_pairs([("東京", "t"), ("Zürich", "t")]))
    assert bound.nodes.to_pylist() == ["Zürich", "東京"]
    assert bound.to_matrix().tolist() == [[0, 2], [2, 0]]
    assert bound.facts["nodes_left_out"] == 1
    assert bound.of(Interests.from_pairs([], nodes=["東京"])).facts["nodes_left_out"] == 2


def test_costs_for_other_nodes_are_refused(cities: Costs) -> None:
    with pytest.raises(
        InputError, match=r"'Bern' \(and 1 more\) has no costs; the costs are for 3 nodes, such"
    ):
        cities.of(Interests.from_pairs([], nodes=["Zürich", "Bern", "Rom"]))
    with pytest.raises(InputError, match=r"costs\.of got a list; give Interests"):
        cities.of(["Zürich"])  # type: ignore[arg-type]


def test_costs_are_equal_if_they_say_the_same_of_the_same_nodes(cities: Costs) -> None:
    assert cities == Costs.from_matrix(np.triu(MATRIX) + np.triu(MATRIX).T, CITIES, symmetrise="max")
    assert cities != Costs.from_matrix(MATRIX)
    assert cities != Costs.from_matrix(MATRIX * 2, CITIES)
    assert cities != "costs"
    with pytest.raises(TypeError, match="unhashable"):
        hash(cities)


def test_a_pickled_copy_is_equal_and_as_read_only(cities: Costs) -> None:
    for other in (pickle.loads(pickle.dumps(cities)), copy.deepcopy(cities)):
        assert other == cities
        assert other.facts == cities.facts
        assert not other.arrays().matrix.flags.writeable
        assert not other.arrays().site_of.flags.writeable


def test_normalising_divides_by_the_mean_and_tells_it(cities: Costs) -> None:
    normal = cities.normalised()
    assert normal.to_matrix() == pytest.approx(MATRIX / (10 / 3))
    assert normal.facts["normalised_by"] == {"mean": pytest.approx(10 / 3), "mean_exact": True}
    assert normal.facts["symmetrised_by"] == "mean"


def test_means_of_many_coordinates_are_sampled_by_seed_and_the_facts_say_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cost_means, "MOST_NODES_EXACT", 10)
    monkeypatch.setattr(cost_means, "SAMPLED_PAIRS", 20_000)
    rng = np.random.default_rng(0)
    places = {str(node): rng.uniform(0, 100, 2) for node in range(60)}
    costs = Costs.coordinates(places, base=1.0, metric="euclidean")
    u, v = np.triu_indices(60, 1)
    exact = costs.between(u, v).mean()
    one, same, other = (costs.normalised(seed=seed) for seed in (1, 1, 2))
    facts = one.facts["normalised_by"]
    assert not facts["mean_exact"]
    assert facts["mean_pairs"] == 20_000
    assert facts["mean"] != exact
    assert abs(facts["mean"] - exact) < 4 * facts["mean_standard_error"] < 2
    assert one == same
    assert one != other


def test_making_costs_does_not_import_numba() -> None:
    program = (
        "import sys; from meshwright.model.costs.costs import Costs; "
        "Costs.clusters({'a': 'x', 'b': 'y'}, inner=1, outer=2); "
        "Costs.from_matrix([[0, 1], [1, 0]]).normalised(); "
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_the_text_of_costs_tells_their_form(cities: Costs) -> None:
    assert repr(cities) == "Costs(3 nodes on 3 sites)"
    clusters = Costs.clusters({"a": "x", "b": "x"}, inner=1, outer=10)
    assert repr(clusters) == "Costs(2 nodes in 1 clusters, 1 inside and 10 between)"
    globe = Costs.coordinates({"a": (0, 0), "b": (1, 1)}, base=2, factor=0.01)
    assert repr(globe) == "Costs(2 nodes at coordinates, 2 and 0.01 a km)"
    plane = Costs.coordinates({"a": (0, 0)}, base=2, factor=0.5, metric="euclidean")
    assert repr(plane) == "Costs(1 nodes at coordinates, 2 and 0.5 a unit)"
