import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.runtime.errors import DatasetError
from tests.helpers import reseal

CITIES = Costs.from_matrix([[0, 10, 40], [11, 0, 30], [40, 30, 0]], ["Oslo", "東京", "Lima"])
NODES = {"b1": "東京", "b2": "Oslo", "b3": "東京"}
FORMS = {
    "matrix": CITIES,
    "sites": Costs.sites(CITIES, NODES, local=0.1).normalised(),
    "clusters": Costs.clusters(NODES, inner=1, outer=10),
    "euclidean": Costs.coordinates({"a": (0.1, 0.2), "b": (7, 1e-9)}, base=1, metric="euclidean"),
    "great-circle": Costs.coordinates({"a": (0.1, 0.2), "b": (7, 1e-9)}, base=1, factor=1 / 3),
    "manhattan": Costs.coordinates({"a": (1, 2), "b": (1, 2)}, least_cost=0.1, metric="manhattan"),
    "unit": CITIES.with_unit("ms"),
    "none": Costs.from_matrix([]),
}


@pytest.mark.parametrize("form", FORMS)
def test_written_costs_are_read_again_with_their_facts(tmp_path: Path, form: str) -> None:
    FORMS[form].write(tmp_path / "costs", made_by={"command": "test"})
    read = Costs.read(tmp_path / "costs")
    assert read == FORMS[form]
    assert (read.facts, read.unit) == (FORMS[form].facts, FORMS[form].unit)
    assert Costs.from_file(tmp_path / "costs") == read
    assert json.loads((tmp_path / "costs" / "manifest.json").read_text())["command"] == "test"


@pytest.mark.parametrize("form", ["sites", "clusters", "great-circle"])
def test_an_overlay_can_say_what_its_costs_were(tmp_path: Path, form: str) -> None:
    costs = FORMS[form]
    names = costs.nodes.to_pylist()
    overlay = Overlay.from_arrays(
        Interests.from_pairs([(name, "t") for name in names]),
        [[0, 1]],
        costs.between([0], [1]),
        facts={"costs": costs.description()},
        tables=costs.tables(),
    )
    overlay.write(tmp_path / "overlay")
    assert Overlay.read(tmp_path / "overlay") == overlay
    assert Costs.read(tmp_path / "overlay") == costs


def test_nothing_is_overwritten_without_force(tmp_path: Path) -> None:
    CITIES.write(tmp_path / "costs")
    with pytest.raises(DatasetError, match="overwrite with force"):
        CITIES.write(tmp_path / "costs")
    FORMS["clusters"].write(tmp_path / "costs", force=True)
    assert Costs.read(tmp_path / "costs") == FORMS["clusters"]


def test_datasets_without_costs_are_refused(tmp_path: Path) -> None:
    interests = Interests.from_pairs([("a", "t")])
    interests.write(tmp_path / "interests")
    with pytest.raises(DatasetError, match="contains interests, not costs or an overlay; give"):
        Costs.read(tmp_path / "interests")
    Overlay.from_edges(interests, []).write(tmp_path / "overlay")
    with pytest.raises(DatasetError, match="does not contain the costs of its links"):
        Costs.read(tmp_path / "overlay")
    with pytest.raises(DatasetError, match="no such folder"):
        Costs.read(tmp_path / "nowhere")


def edit_manifest(path: Path, **changes: object) -> None:
    reseal(path, lambda manifest: manifest["facts"]["costs"].update(changes))


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"kind": "telepathy"}, "'telepathy'"),
        ({"inner": None}, "the description of its costs"),
        ({"inner": -1}, "two positive costs"),
        ({"facts": 5}, "the description of its costs"),
    ],
)
def test_a_garbled_description_is_refused(tmp_path: Path, changes: dict[str, object], rule: str) -> None:
    path = tmp_path / "costs"
    FORMS["clusters"].write(path)
    edit_manifest(path, **changes)
    with pytest.raises(DatasetError, match=rule):
        Costs.read(path)


@pytest.mark.parametrize(
    ("table", "columns", "rule"),
    [
        ("cost_nodes", {"node": ["b1", "b2"], "site_id": pa.array([0, 1], pa.int32())}, "2 nodes.*says 3"),
        ("cost_nodes", {"node": ["b1"] * 3, "site_id": pa.array([0, 1, 0], pa.int32())}, "appears 3 times"),
        ("cost_nodes", {"node": ["b1", "b2", "b3"], "site_id": pa.array([0, 1, 2], pa.int32())}, "on site 2"),
        ("cost_nodes", {"node": ["b1", "b2", "b3"]}, "no column 'site_id'"),
        ("cost_sites", {"site": ["x", "y"], "costs": [[0.0, 1.0], [1.0]]}, "2 rows and 3 costs, but needs 4"),
        (
            "cost_sites",
            {"site": ["x", "y"], "costs": [[0.0, 1.0], [2.0, 1.0]]},
            "the same in both directions",
        ),
        ("cost_sites", {"site": ["x", "y"], "costs": [[0.0, -1.0], [-1.0, 1.0]]}, "has -1 from 'x' to 'y'"),
        ("cost_sites", {"site": ["x", "y"], "costs": [[1.0, 1.0], [1.0, 0.0]]}, "on site 'y'"),
    ],
)
def test_tables_that_make_no_costs_are_refused(
    tmp_path: Path, table: str, columns: dict[str, object], rule: str
) -> None:
    path = tmp_path / "costs"
    Costs.sites(CITIES, NODES, local=1).write(path)
    pq.write_table(pa.table(columns), path / table / "part-00000.parquet")
    reseal(path)
    with pytest.raises(DatasetError, match=rule):
        Costs.read(path)
