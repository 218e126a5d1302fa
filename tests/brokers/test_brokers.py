"""What the corpus expects, against real brokers: all its meshes run as one fleet on loopback."""

from pathlib import Path

import pytest

from tests.brokers import fleet
from tests.brokers.corpus import CORPUS, Mesh
from tests.brokers.fleet import Outcome, run

WITH_USELESS_LINES = [mesh for mesh in CORPUS if mesh.useless]

every_mesh = pytest.mark.parametrize("mesh", CORPUS, ids=lambda mesh: mesh.name)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    shortened = [mesh.without_useless_line() for mesh in WITH_USELESS_LINES]
    return run([*CORPUS, *shortened], tmp_path_factory.mktemp("fleet"))


def expected_of(mesh: Mesh) -> list[dict[str, object]]:
    return [
        {at: sorted(copies) if isinstance(copies, list) else copies for at, copies in each.heard.items()}
        for each in mesh.publications
    ]


@every_mesh
def test_brokers_deliver_just_the_copies_that_a_mesh_expects(
    mesh: Mesh, outcomes: dict[str, Outcome]
) -> None:
    assert outcomes[mesh.name].heard == expected_of(mesh), mesh.about


@pytest.mark.parametrize("mesh", [mesh for mesh in CORPUS if mesh.says], ids=lambda mesh: mesh.name)
def test_brokers_say_what_a_mesh_expects(mesh: Mesh, outcomes: dict[str, Outcome]) -> None:
    assert mesh.says is not None
    assert mesh.says in outcomes[mesh.name].logs


@pytest.mark.parametrize("mesh", WITH_USELESS_LINES, ids=lambda mesh: mesh.name)
def test_brokers_do_the_same_without_a_useless_line(mesh: Mesh, outcomes: dict[str, Outcome]) -> None:
    assert outcomes[mesh.without_useless_line().name].heard == outcomes[mesh.name].heard


@pytest.mark.parametrize(
    ("name", "copies"), [("two-links-out", ["t/1", "t/1"]), ("loop-of-two-links", "endless")]
)
def test_a_wrong_expectation_is_noticed(
    name: str, copies: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet, "_IN_VAIN_SECONDS", 3.0)
    [mesh] = [mesh for mesh in CORPUS if mesh.name == name]
    once = mesh.publications[0]._replace(heard={"a": ["t/1"], "b": ["t/1"]})
    [outcome] = run([mesh._replace(publications=[once])], tmp_path).values()
    assert outcome.heard[0]["b"] == copies
