"""Laws of costs: positive and symmetric whatever comes in, and the same bits whoever asks."""

import math
import pickle
import tempfile
from itertools import combinations, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshwright.kernels.core.costs import cost_between
from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests
from meshwright.runtime.errors import InputError

NAME = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)
PRICE = st.floats(1e-3, 1e6)
CELL = PRICE | st.just(math.nan)
Cells = list[list[float]]

RULES = {"mean": lambda a, b: a / 2 + b / 2, "max": max, "min": min}


@st.composite
def squares(draw: st.DrawFn, cell: st.SearchStrategy[float] = PRICE, most: int = 6) -> Cells:
    count = draw(st.integers(0, most))
    return [[draw(cell) for _ in range(count)] for _ in range(count)]


@st.composite
def any_costs(draw: st.DrawFn) -> Costs:
    """Costs of each kind, for up to seven nodes with any names in any order."""
    names = draw(st.lists(NAME, unique=True, max_size=7))
    kind = draw(st.sampled_from(["matrix", "sites", "clusters", "euclidean", "great-circle"]))
    if kind == "matrix":
        return Costs.from_matrix([[draw(PRICE) for _ in names] for _ in names], names)
    if kind in ("sites", "clusters"):
        groups = draw(st.lists(NAME, unique=True, min_size=1, max_size=4))
        where = {name: draw(st.sampled_from(groups)) for name in names}
        if kind == "clusters":
            return Costs.clusters(where, inner=draw(PRICE), outer=draw(PRICE))
        between = Costs.from_matrix([[draw(PRICE) for _ in groups] for _ in groups], groups)
        return Costs.sites(between, where, local=draw(PRICE))
    reach = (90.0, 180.0) if kind == "great-circle" else (1e4, 1e4)
    places = {name: [draw(st.floats(-most, most)) for most in reach] for name in names}
    return Costs.coordinates(places, base=draw(PRICE), factor=draw(PRICE), metric=kind)


def all_pairs(costs: Costs) -> tuple[list[int], list[int]]:
    pairs = list(permutations(range(costs.node_count), 2))
    return [u for u, _ in pairs], [v for _, v in pairs]


def by_name(costs: Costs) -> dict[tuple[str, str], float]:
    names = costs.nodes.to_pylist()
    u, v = all_pairs(costs)
    found = costs.between(u, v).tolist()
    return {(names[a], names[b]): cost for a, b, cost in zip(u, v, found, strict=True)}


def known(cells: Cells, u: int, v: int, rule: str) -> float:
    """What a pair costs by its own cells, infinite where neither has a number."""
    there, back = cells[u][v], cells[v][u]
    given = [cost for cost in (there, back) if not math.isnan(cost)]
    if len(given) == 2 and there != back:
        return float(RULES[rule](there, back))
    return given[0] if given else math.inf


def oracle(cells: Cells, rule: str) -> dict[tuple[int, int], float]:
    """Pairs by their own cells, and those without by the cheapest path over the others."""
    count = len(cells)
    own = {(u, v): known(cells, u, v, rule) for u, v in permutations(range(count), 2)}
    paths = dict(own)
    for w, u, v in ((w, u, v) for w in range(count) for u, v in own if w not in (u, v)):
        paths[u, v] = min(paths[u, v], paths[u, w] + paths[w, v])
    return {pair: paths[pair] if math.isinf(cost) else cost for pair, cost in own.items()}


@given(squares(CELL), st.sampled_from(sorted(RULES)))
def test_a_matrix_is_symmetrised_and_filled_as_stated(cells: Cells, rule: str) -> None:
    wanted = oracle(cells, rule)
    if math.inf in wanted.values():
        with pytest.raises(InputError, match="no path of known costs"):
            Costs.from_matrix(cells, symmetrise=rule, missing="path")
        return
    costs = Costs.from_matrix(cells, symmetrise=rule, missing="path")
    found = dict(zip(wanted, costs.between(*all_pairs(costs)).tolist(), strict=True))
    assert found == pytest.approx(wanted, rel=1e-14)
    untouched = {pair for pair in wanted if not math.isinf(known(cells, *pair, rule))}
    assert all(found[pair] == wanted[pair] for pair in untouched)


@given(squares(CELL))
def test_facts_count_what_was_done(cells: Cells) -> None:
    pairs = [(cells[u][v], cells[v][u]) for u, v in combinations(range(len(cells)), 2)]
    gaps = [sum(map(math.isnan, pair)) for pair in pairs]
    shares = [abs(a - b) / max(a, b) for (a, b), missing in zip(pairs, gaps, strict=True) if not missing]
    try:
        facts = Costs.from_matrix(cells, missing="path").facts
    except InputError:
        return
    assert facts["asymmetric_pairs"] == sum(share > 0 for share in shares)
    assert facts["mean_difference"] == pytest.approx(sum(shares) / max(len(shares), 1))
    assert facts["greatest_difference"] == max(shares, default=0)
    assert facts["filled_from_other_direction"] == gaps.count(1)
    assert facts["filled_by_path"] == gaps.count(2)


@given(any_costs())
def test_a_cost_is_positive_and_has_the_same_bits_both_ways_alone_and_in_arrays(costs: Costs) -> None:
    u, v = all_pairs(costs)
    found = costs.between(u, v)
    assert found.dtype == np.float64
    assert ((found > 0) & np.isfinite(found)).all()
    assert found.tobytes() == costs.between(v, u).tobytes()
    alone = [cost_between(costs.arrays(), a, b) for a, b in zip(u, v, strict=True)]
    assert found.tolist() == alone
    matrix = costs.to_matrix()
    assert matrix[u, v].tobytes() == found.tobytes()
    assert not matrix.diagonal().any()


@given(any_costs(), st.randoms(use_true_random=False))
def test_binding_to_interests_matches_names_and_changes_no_cost(costs: Costs, random: object) -> None:
    names = costs.nodes.to_pylist()
    kept = random.sample(names, random.randint(0, len(names)))  # type: ignore[attr-defined]
    bound = costs.of(Interests.from_pairs([], nodes=kept))
    assert bound.nodes.to_pylist() == sorted(kept, key=str.encode)
    everything = by_name(costs)
    assert by_name(bound) == {pair: everything[pair] for pair in permutations(kept, 2)}


@given(any_costs())
def test_normalised_costs_have_mean_one_over_pairs_of_nodes(costs: Costs) -> None:
    before = list(by_name(costs).values())
    after = list(by_name(costs.normalised()).values())
    if before:
        mean = math.fsum(before) / len(before)
        assert after == pytest.approx([cost / mean for cost in before], rel=1e-12)
        assert costs.normalised().facts["normalised_by"] == {
            "mean": pytest.approx(mean, rel=1e-12),
            "mean_exact": True,
        }


@given(any_costs())
def test_costs_survive_pickling_and_writing_bit_by_bit(costs: Costs) -> None:
    with tempfile.TemporaryDirectory() as folder:
        costs.write(Path(folder) / "costs")
        read = Costs.read(Path(folder) / "costs")
    for copy in (read, pickle.loads(pickle.dumps(costs))):
        assert copy == costs
        assert copy.facts == costs.facts
        assert copy.between(*all_pairs(costs)).tobytes() == costs.between(*all_pairs(costs)).tobytes()


LATITUDE, LONGITUDE = st.floats(-90, 90), st.floats(-180, 180)


@given(LATITUDE, LONGITUDE, LATITUDE, LONGITUDE)
def test_great_circles_agree_with_the_haversine_formula(a: float, b: float, c: float, d: float) -> None:
    costs = Costs.coordinates({"u": (a, b), "v": (c, d)}, base=1.0)
    north, east = math.radians(c - a) / 2, math.radians(d - b) / 2
    half = math.sin(north) ** 2 + math.cos(math.radians(a)) * math.cos(math.radians(c)) * math.sin(east) ** 2
    kilometres = 2 * 6371.0088 * math.asin(math.sqrt(min(half, 1.0)))
    assert costs.between(0, 1) == pytest.approx(1.0 + kilometres, rel=1e-9, abs=1e-3)


@given(st.lists(st.tuples(*[st.floats(-1e6, 1e6)] * 3), min_size=2, max_size=4), PRICE, PRICE)
def test_euclidean_costs_are_base_and_factor_times_distance(
    points: list[tuple[float, float, float]], base: float, factor: float
) -> None:
    places = {str(number): point for number, point in enumerate(points)}
    costs = Costs.coordinates(places, base=base, factor=factor, metric="euclidean", columns=("x", "y", "z"))
    for u, v in permutations(range(len(points)), 2):
        assert costs.between(u, v) == pytest.approx(
            base + factor * math.dist(points[u], points[v]), rel=1e-12
        )
