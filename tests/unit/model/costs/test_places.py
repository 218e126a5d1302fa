import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests
from meshwright.runtime.errors import InputError, OptionError

CITIES = Costs.from_matrix([[0, 10, 40], [10, 0, 30], [40, 30, 0]], ["Oslo", "Paris", "Lima"])
WHERE = {"b1": "Paris", "b2": "Oslo", "b3": "Paris"}


def of(costs: Costs, *names: str) -> float:
    listed = costs.nodes.to_pylist()
    return float(costs.between(*(listed.index(name) for name in names)))


def with_attributes(**columns: list[Any]) -> Interests:
    bare = Interests.from_pairs([], nodes=["b1", "b2", "b3"])
    return Interests(bare.indptr, bare.topic_ids, bare.nodes, bare.topics, pa.table(columns))


def test_nodes_on_sites_cost_what_their_sites_do_and_a_stated_price_inside_one() -> None:
    costs = Costs.sites(CITIES, WHERE, local=0.5)
    assert of(costs, "b1", "b2") == 10
    assert of(costs, "b1", "b3") == 0.5
    assert costs.site_names.to_pylist() == ["Oslo", "Paris"]
    assert costs.site_of is not None
    assert costs.site_of.tolist() == [1, 0, 1]
    assert costs.facts["sites_left_out"] == 1
    assert repr(costs) == "Costs(3 nodes on 2 sites)"


def test_a_site_of_several_nodes_without_a_local_cost_is_refused() -> None:
    with pytest.raises(
        InputError, match="several nodes are on site 'Paris', but links inside it have no cost"
    ):
        Costs.sites(CITIES, WHERE)
    with pytest.raises(InputError, match=r"'Oslo' \(and 1 more\)"):
        Costs.sites(CITIES, WHERE | {"b4": "Oslo"}, local={"Lima": 1})
    alone = Costs.sites(CITIES, {"b1": "Paris", "b2": "Oslo"})
    assert of(alone, "b1", "b2") == 10


def test_each_site_may_have_its_own_local_cost() -> None:
    costs = Costs.sites(CITIES, WHERE | {"b4": "Oslo"}, local={"Paris": 2, "Oslo": 3.5})
    assert of(costs, "b1", "b3") == 2
    assert of(costs, "b2", "b4") == 3.5


@pytest.mark.parametrize("local", [0, -1, math.nan, math.inf, True, "1", {"Paris": 0}])
def test_a_local_cost_that_is_not_positive_and_finite_is_refused(local: Any) -> None:
    with pytest.raises(InputError, match=r"local.* is .*positive"):
        Costs.sites(CITIES, WHERE, local=local)


def test_placements_come_from_mappings_pairs_files_tables_and_attributes(tmp_path: Path) -> None:
    table = pa.table({"node": list(WHERE), "site": list(WHERE.values()), "rack": [1, 2, 3]})
    pq.write_table(table, tmp_path / "where.parquet")
    (tmp_path / "where.csv").write_text("rack,site,node\n1,Paris,b1\n2,Oslo,b2\n3,Paris,b3\n3,Paris,b3\n")
    wanted = Costs.sites(CITIES, WHERE, local=1)
    attributes = with_attributes(site=list(WHERE.values()))
    sources: list[Any] = [
        list(WHERE.items()),
        tmp_path / "where.parquet",
        str(tmp_path / "where.csv"),
        table,
        table.to_pandas(),
        attributes,
    ]
    for source in sources:
        assert Costs.sites(CITIES, source, local=1) == wanted
    renamed = table.rename_columns(["broker", "city", "rack"])
    assert Costs.sites(CITIES, renamed, local=1, node="broker", site="city") == wanted


@pytest.mark.parametrize(
    ("source", "rule"),
    [
        (
            WHERE | {"b4": "Rom", "b5": "Bern"},
            r"'Bern' \(and 1 more\) is the site of some nodes, but has no costs; the costs are for 3 sites",
        ),
        (
            [("b1", "Paris"), ("b1", "Oslo")],
            "node 'b1' has the site 'Paris' and also 'Oslo'; give each node one",
        ),
        ({"b1": None}, "the site of pair 1 is None"),
        ({"b1": ""}, "the site of pair 1 is an empty string"),
        (pa.table({"node": ["b1", "b2"], "site": ["Paris", None]}), "row 2: the site is missing"),
        (pa.table({"node": ["b1"], "city": ["Paris"]}), "no column 'site'"),
        (with_attributes(site=["Paris", None, None]), r"no 'site' for node 'b2' \(and 1 more\)"),
        (with_attributes(host=["h", "h", "h"]), "no attribute 'site'; their attributes are: host"),
        (Interests.from_pairs([("b1", "t")]), "no attribute 'site'; their attributes are: none"),
        ("nowhere.csv", "no such file"),
    ],
)
def test_nodes_without_a_site_and_sites_without_costs_are_refused(source: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        Costs.sites(CITIES, source, local=1)


def test_a_node_that_the_placement_lacks_is_refused_when_bound() -> None:
    costs = Costs.sites(CITIES, WHERE, local=1)
    with pytest.raises(InputError, match="'b9' has no site; the costs are for 3 nodes"):
        costs.of(Interests.from_pairs([], nodes=["b1", "b9"]))


def test_sites_need_costs_between_them() -> None:
    with pytest.raises(InputError, match=r"sites got a ndarray; give the Costs between sites"):
        Costs.sites(np.ones((2, 2)), WHERE)  # type: ignore[arg-type]


def test_sites_may_be_at_coordinates_or_in_clusters_themselves() -> None:
    globe = Costs.coordinates({"Oslo": (59.9, 10.7), "Paris": (48.9, 2.3)}, base=5, factor=0.01)
    costs = Costs.sites(globe, WHERE, local=1)
    assert of(costs, "b1", "b2") == of(globe, "Oslo", "Paris")
    assert of(costs, "b1", "b3") == 1
    regions = Costs.clusters({"Oslo": "eu", "Paris": "eu", "Lima": "sa"}, inner=10, outer=100)
    costs = Costs.sites(regions, WHERE | {"b4": "Lima"}, local=1)
    assert [of(costs, "b1", other) for other in ("b3", "b2", "b4")] == [1, 10, 100]
    with pytest.raises(
        InputError, match=r"'Lima' is the site .* has no coordinates; the costs are for 2 sites"
    ):
        Costs.sites(globe, {"b4": "Lima"})


def test_clusters_have_one_cost_inside_and_one_between() -> None:
    costs = Costs.clusters({"a": "x", "b": "y", "c": "x"}, inner=1, outer=10)
    assert costs.to_matrix().tolist() == [[0, 10, 1], [10, 0, 10], [1, 10, 0]]
    assert costs.site_names.to_pylist() == ["x", "y"]
    normal = costs.normalised()
    assert normal.facts["normalised_by"]["mean"] == 7
    assert of(normal, "a", "c") == 1 / 7
    table = pa.table({"node": ["a", "b", "c"], "cluster": ["x", "y", "x"]})
    assert Costs.clusters(table, inner=1, outer=10) == costs


@pytest.mark.parametrize("prices", [{"inner": 0, "outer": 1}, {"inner": 1, "outer": math.inf}])
def test_costs_of_clusters_are_positive_and_finite(prices: Any) -> None:
    with pytest.raises(InputError, match="a cost is a positive finite number"):
        Costs.clusters({"a": "x"}, **prices)


def test_as_many_clusters_as_nodes_take_no_matrix() -> None:
    names = [str(node) for node in range(100_000)]
    costs = Costs.clusters(dict(zip(names, names, strict=True)), inner=1, outer=2)
    assert costs.arrays().matrix.size == 2
    assert costs.between(3, 4) == 2


def test_known_distances_on_the_globe() -> None:
    places = {"Paris": (48.8566, 2.3522), "London": (51.5074, -0.1278), "Sydney": (-33.8688, 151.2093)}
    costs = Costs.coordinates(places, base=1e-9)
    assert of(costs, "Paris", "London") == pytest.approx(343.6, abs=0.1)
    assert of(costs, "London", "Sydney") == pytest.approx(16994, abs=2)
    corners = Costs.coordinates({"n": (90, 0), "s": (-90, 77), "w": (0, -180), "e": (0, 180)}, base=1)
    quarter = math.pi / 2 * 6371.0088
    assert of(corners, "n", "s") == pytest.approx(1 + 2 * quarter)
    assert of(corners, "n", "e") == pytest.approx(1 + quarter)
    assert of(corners, "w", "e") == pytest.approx(1)


def test_equal_places_cost_the_base_exactly() -> None:
    for metric in ("great-circle", "euclidean"):
        costs = Costs.coordinates({"a": (10, 20), "b": (10, 20)}, base=0.25, factor=3, metric=metric)
        assert of(costs, "a", "b") == 0.25


def test_points_in_the_plane_and_in_space_have_straight_distances() -> None:
    plane = Costs.coordinates({"a": (0, 0), "b": (3, 4)}, base=1, factor=2, metric="euclidean")
    assert of(plane, "a", "b") == 11
    space = {"a": (0, 0, 0), "b": (2, 3, 6)}
    costs = Costs.coordinates(space, base=1, metric="euclidean", columns=("x", "y", "z"))
    assert of(costs, "a", "b") == 8
    assert costs.site_of is None


def test_coordinates_come_from_mappings_files_tables_and_attributes(tmp_path: Path) -> None:
    lat, lon = [1.5, 2.0, 3.0], [10.0, -20.0, 30.0]
    table = pa.table({"node": ["b1", "b2", "b3"], "lat": lat, "lon": lon})
    pq.write_table(table, tmp_path / "places.parquet")
    table.to_pandas().to_csv(tmp_path / "places.csv.gz", index=False)
    table.to_pandas().to_csv(tmp_path / "places.tsv", index=False, sep="\t")
    wanted = Costs.coordinates(dict(zip(["b1", "b2", "b3"], zip(lat, lon, strict=True), strict=True)), base=1)
    sources: list[Any] = [
        tmp_path / "places.parquet",
        str(tmp_path / "places.csv.gz"),
        tmp_path / "places.tsv",
        table,
        table.to_pandas(),
        with_attributes(lat=lat, lon=lon),
    ]
    for source in sources:
        assert Costs.coordinates(source, base=1) == wanted
    named = table.rename_columns(["city", "Lat", "Long"])
    assert Costs.coordinates(named, base=1, node="city", columns=("Lat", "Long")) == wanted


@pytest.mark.parametrize(
    ("places", "rule"),
    [
        ({"a": (91, 0)}, "the latitude of 'a' is 91; give degrees from -90 to 90"),
        ({"a": (0, 200), "b": (0, -181)}, r"the longitude of 'a' is 200 \(and 1 more\)"),
        ({"a": (0, 0), "b": (math.nan, 0)}, "the lat of 'b' is missing or not a finite number"),
        ({"a": (0, math.inf)}, "the lon of 'a'"),
        ({"a": (1,)}, "the place of 'a' is .*; give 2 numbers: lat, lon"),
        ({"a": (1, 2, 3)}, "give 2 numbers"),
        ({"a": ("x", 2)}, "give 2 numbers"),
        ({"a": 5}, "give 2 numbers"),
        (pa.table({"node": ["a", "b", "c"], "lat": [1.0, None, 2.0], "lon": [None, 1.0, 2.0]}), "more"),
        (pa.table({"node": ["a", "a"], "lat": [1.0, 2.0], "lon": [1.0, 1.0]}), "'a' appears 2 times"),
        (pa.table({"node": ["a"], "lat": ["1"], "lon": [1.0]}), "'lat' is string, but must be a number"),
        (pa.table({"city": ["a"], "lat": [1.0], "lon": [1.0]}), "no column 'node'; its columns are city"),
        (with_attributes(lat=[1.0, 2.0, None], lon=[1.0, 2.0, 3.0]), "there is no 'lat' for node 'b3'"),
        (5, "the coordinates are an int; give a mapping"),
        ("nowhere.parquet", "no such file"),
    ],
)
def test_nodes_without_a_place_are_refused(places: Any, rule: str) -> None:
    with pytest.raises(InputError, match=rule):
        Costs.coordinates(places, base=1)


@pytest.mark.parametrize(
    ("options", "error", "rule"),
    [
        ({"base": 0}, InputError, "base is 0; a cost is a positive"),
        ({"base": 1, "factor": -1}, InputError, "factor is -1"),
        ({"base": 1, "metric": "euclid"}, OptionError, r"did you mean euclidean\? Otherwise choose"),
        ({"base": 1, "columns": ("x", "y", "z")}, OptionError, "3 names in columns"),
    ],
)
def test_prices_and_metrics_that_make_no_cost_are_refused(options: Any, error: Any, rule: str) -> None:
    with pytest.raises(error, match=rule):
        Costs.coordinates({"a": (0, 0)}, **options)


@pytest.mark.parametrize(("far", "factor"), [(1e200, 1.0), (1e60, 1e50)])
def test_points_too_far_apart_for_a_cost_are_refused(far: float, factor: float) -> None:
    with pytest.raises(InputError, match=r"greatest cost between two points is (inf|1.*e\+110)"):
        Costs.coordinates({"a": (far, 0), "b": (0, far)}, base=1, factor=factor, metric="euclidean")


def test_a_frame_of_many_nodes_stores_nothing_quadratic() -> None:
    count = 200_000
    frame = pd.DataFrame({"node": [f"n{i}" for i in range(count)], "x": np.arange(count), "y": 0.0})
    costs = Costs.coordinates(frame, base=1, metric="euclidean")
    assert sum(array.nbytes for array in costs.arrays() if isinstance(array, np.ndarray)) == 24 * count
    assert costs.between([0], [count - 1]).tolist() == [count]


def test_the_manhattan_distance_goes_along_the_axes() -> None:
    plane = Costs.coordinates({"a": (0, 0), "b": (3, -4)}, base=1, factor=2, metric="manhattan")
    assert of(plane, "a", "b") == 15
    space = {"a": (0, 0, 0), "b": (2, 3, 6)}
    assert of(Costs.coordinates(space, base=1, metric="manhattan", columns=("x", "y", "z")), "a", "b") == 12
    with pytest.raises(InputError, match="greatest cost between two points"):
        Costs.coordinates({"a": (6e99, 0), "b": (0, 6e99)}, base=1, metric="manhattan")
    assert Costs.coordinates({"a": (6e99, 0), "b": (0, 6e99)}, base=1, metric="euclidean")


points = st.lists(st.tuples(*[st.floats(-80, 80)] * 2), min_size=2, max_size=6)


@given(points, st.floats(0.01, 100), st.none() | st.floats(0.01, 10), st.floats(0.01, 10))
def test_a_least_cost_is_the_greater_of_it_and_the_cost_by_distance(places, least, base, factor) -> None:
    named = {f"n{at}": place for at, place in enumerate(places)}
    u, v = np.triu_indices(len(places), 1)
    for metric in ("great-circle", "euclidean", "manhattan"):
        how = {"factor": factor, "metric": metric}
        floored = Costs.coordinates(named, base=base, least_cost=least, **how).between(u, v)
        tiny = Costs.coordinates(named, base=base or 1e-100, **how).between(u, v)
        assert floored.tolist() == np.maximum(tiny, least).tolist()


def test_a_least_cost_may_take_the_place_of_the_base() -> None:
    costs = Costs.coordinates({"a": (1, 1), "b": (1, 1), "c": (1, 5)}, least_cost=0.5, metric="euclidean")
    assert costs.between([0, 0], [1, 2]).tolist() == [0.5, 4]
    assert repr(costs) == "Costs(3 nodes at coordinates, 0 and 1 a unit, at least 0.5)"
    mean = costs.normalised()
    assert mean.between([0, 0], [1, 2]).tolist() == pytest.approx([3 * 0.5 / 8.5, 3 * 4 / 8.5])
    with pytest.raises(InputError, match=r"need base .* or least_cost .*; give one of them"):
        Costs.coordinates({"a": (1, 1)})


@pytest.mark.parametrize("least", [0, -1, math.nan, math.inf, True, "1"])
def test_a_least_cost_is_a_cost(least) -> None:
    with pytest.raises(InputError, match="least_cost"):
        Costs.coordinates({"a": (1, 1)}, least_cost=least)
    with pytest.raises(InputError, match="least_cost"):
        Costs.from_matrix([[0, 1], [1, 0]], least_cost=least)


def test_pairs_of_a_matrix_that_cost_less_are_raised_and_counted() -> None:
    cells = [[0, 0, 0.2], [0, 0, 3], [0.6, 3, 0]]
    costs = Costs.from_matrix(cells, ["a", "b", "c"], least_cost=0.5)
    assert [of(costs, "a", "b"), of(costs, "a", "c"), of(costs, "b", "c")] == [0.5, 0.5, 3]
    assert (costs.facts["least_cost"], costs.facts["raised_to_least_cost"]) == (0.5, 2)
    assert costs.facts["asymmetric_pairs"] == 1
    gap = Costs.from_matrix([[0, 0, math.nan], [0, 0, 2], [math.nan, 2, 0]], missing="path", least_cost=0.5)
    assert gap.between(0, 2) == 2.5
    for wrong in (-1, math.inf):
        with pytest.raises(InputError, match="a cost is a positive finite number"):
            Costs.from_matrix([[0, wrong], [wrong, 0]], least_cost=0.5)
    with pytest.raises(InputError, match="a cost is a positive finite number"):
        Costs.from_matrix([[0, 0], [0, 0]])


def test_places_are_found_by_position_in_a_file_without_header(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("7,b1,0,0\n8,b2,3,4\n")
    costs = Costs.coordinates(tmp_path / "p.csv", base=1, metric="euclidean", node=2, columns=(3, 4))
    assert of(costs, "b1", "b2") == 6
    with pytest.raises(InputError, match="has 4 columns, but column 5 is asked for"):
        Costs.coordinates(tmp_path / "p.csv", base=1, metric="euclidean", node=2, columns=(3, 5))
    (tmp_path / "s.tsv").write_text("b1\teu\nb2\tus\n")
    found = Costs.clusters(tmp_path / "s.tsv", inner=1, outer=9, node=1, cluster=2)
    assert found.site_names.to_pylist() == ["eu", "us"]
    table = pa.table({"x": [0.0, 3], "n": ["b1", "b2"], "y": [0.0, 4]})
    assert Costs.coordinates(table, base=1, metric="euclidean", node=2, columns=(1, 3)) == costs
    nodes = Interests.from_pairs([("b1", "t")])
    with pytest.raises(InputError, match="have no positions; give their names"):
        Costs.coordinates(nodes, base=1, node=1, columns=(2, 3))


def test_a_list_of_costs_may_have_other_columns_or_none(tmp_path: Path) -> None:
    wanted = Costs.from_matrix([[0, 5, 9], [5, 0, 2], [9, 2, 0]], ["b1", "b2", "b3"])
    rows = [("b1", "b2", 5), ("b1", "b3", 9), ("b2", "b3", 2)]
    frame = pd.DataFrame(rows, columns=["von", "nach, bis", "rtt"])[["rtt", "von", "nach, bis"]]
    frame.to_csv(tmp_path / "named.csv", index=False)
    frame.to_csv(tmp_path / "bare.csv", index=False, header=False)
    frame.to_parquet(tmp_path / "named.parquet")
    assert Costs.from_csv(tmp_path / "named.csv", columns=("von", "nach, bis", "rtt")) == wanted
    assert Costs.from_csv(tmp_path / "bare.csv", columns=(2, 3, 1)) == wanted
    assert Costs.from_csv(tmp_path / "named.csv", columns=(2, 3, 1), header=True) == wanted
    assert Costs.from_file(tmp_path / "named.parquet", columns=(2, 3, 1)) == wanted
    with pytest.raises(InputError, match=r"no column 'Von'; .*did you mean 'von'"):
        Costs.from_file(tmp_path / "named.csv", columns=("Von", "nach, bis", "rtt"))
    np.save(tmp_path / "m.npy", np.ones((2, 2)))
    with pytest.raises(InputError, match="an array, which has no columns"):
        Costs.from_file(tmp_path / "m.npy", columns=(1, 2, 3))


def test_a_unit_goes_along_and_is_forgotten_by_the_mean() -> None:
    cities = Costs.from_matrix([[0, 5], [5, 0]], ["x", "y"]).with_unit("ms")
    costs = Costs.sites(cities, {"a": "x", "b": "y"}, local=1)
    assert (costs.unit, repr(costs)) == ("ms", "Costs(2 nodes on 2 sites, in ms)")
    assert costs.of(Interests.from_pairs([("b", "t")])).unit == "ms"
    assert costs.description()["unit"] == "ms"
    assert "unit" not in costs.with_unit(None).description()
    assert costs.normalised().unit is None
    assert costs == costs.with_unit("km")


@pytest.mark.parametrize("unit", ["", " ms", "a b", "m\ns", "x" * 13, "\x1b[1m", 7, "\u202e"])
def test_a_unit_is_a_short_word_that_can_be_printed(unit) -> None:
    with pytest.raises(OptionError, match="give one short word, such as ms"):
        Costs.clusters({"a": "x"}, inner=1, outer=2).with_unit(unit)
