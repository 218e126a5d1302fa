import os
import random
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from meshwright.deploy.applying import apply, status
from meshwright.deploy.drivers import rabbitmq
from meshwright.deploy.management import Management
from meshwright.runtime.errors import InputError, NetworkError
from tests.oracles_rabbitmq import FOREIGN, Broker, Mesh

NODES = "abcdef"


@pytest.fixture
def mesh(monkeypatch: pytest.MonkeyPatch) -> Iterator[Mesh]:
    monkeypatch.setitem(os.environ, "MESH_SECRET", "geheim")
    with ExitStack() as held:
        yield Mesh(held, NODES)


def random_pairs(numbers: random.Random) -> list[tuple[str, str]]:
    return sorted({(node, f"t{numbers.randrange(8)}") for node in NODES[:5] for _ in range(4)})


def test_plans_come_to_brokers_without_a_cycle_on_the_way_and_touch_nothing_else(
    mesh: Mesh, tmp_path: Path
) -> None:
    numbers, place, plan = random.Random(1), tmp_path / "state.json", None
    for _ in range(3):
        plan = mesh.plan(random_pairs(numbers), plan)
        assert apply(plan, place, Management()).steps
        wanted = {
            (rabbitmq.exchange_name(number), frozenset(link.ends))
            for link in plan.links
            for number in link.accounts
        }
        found = {(exchange, pair) for exchange, pairs in mesh.links().items() for pair in pairs}
        assert found == wanted
        writes = sum(broker.writes for broker in mesh.brokers.values())
        assert apply(plan, place, Management()).steps == 0
        assert sum(broker.writes for broker in mesh.brokers.values()) == writes
    for broker in mesh.brokers.values():
        assert broker.held.items() >= FOREIGN.items()
    assert "geheim" not in place.read_text()


def test_a_change_by_hand_shows_and_is_not_overwritten(mesh: Mesh, tmp_path: Path) -> None:
    place, plan = tmp_path / "state.json", mesh.plan([("a", "t"), ("b", "t")])
    apply(plan, place, Management())
    (upstream,) = (
        key for key in mesh.brokers["a"].held if key[1] == "federation-upstream" and key[3] != "mine"
    )
    mesh.brokers["a"].held[upstream]["value"]["max-hops"] = 1
    assert status(plan, place, Management())["drift"] == ["a"]
    with pytest.raises(InputError, match="edited by hand"):
        apply(plan, place, Management())
    assert apply(plan, place, Management(), overwrite=True).steps == 1
    assert not status(plan, place, Management())["drift"]


def test_a_broker_that_leaves_loses_all_that_is_ours_but_no_exchange_that_clients_use(
    mesh: Mesh, tmp_path: Path
) -> None:
    place = tmp_path / "state.json"
    apply(mesh.plan([(node, "t") for node in "abc"]), place, Management())
    mesh.brokers["c"].bound.add("mw0")
    smaller = mesh.plan([(node, "t") for node in "ab"])
    with pytest.raises(NetworkError, match="clients still have bindings"):
        apply(smaller, place, Management())
    mesh.brokers["c"].bound.clear()
    apply(smaller, place, Management())
    assert mesh.brokers["c"].held == Broker().held | FOREIGN


def test_a_wrong_password_and_a_broker_that_is_down_are_told(mesh: Mesh, tmp_path: Path) -> None:
    plan = mesh.plan([("a", "t"), ("b", "t")])
    mesh.brokers["a"].users["admin"] = "other"
    with pytest.raises(NetworkError, match="refused the user or password"):
        apply(plan, tmp_path / "state.json", Management())
    gone = plan.with_hosts(
        {node: host._replace(admin=f"http://127.0.0.1:1/{node}") for node, host in plan.host_of.items()},
        loopback=False,
    )
    with pytest.raises(NetworkError, match="check its admin"):
        apply(gone, tmp_path / "state.json", Management())
    assert not any(broker.writes for broker in mesh.brokers.values())


def test_a_broker_that_says_that_it_is_too_old_is_left_as_it_is(mesh: Mesh, tmp_path: Path) -> None:
    mesh.brokers["b"].version = "3.8.9"
    with pytest.raises(InputError, match=r"'b' has version 3\.8\.9, but the driver rabbitmq needs 3\.10"):
        apply(mesh.plan([("a", "t"), ("b", "t")]), tmp_path / "state.json", Management())
    assert not any(broker.writes for broker in mesh.brokers.values())


@pytest.mark.parametrize("writes", [1, 2, 4, 7])
def test_what_stops_in_the_middle_goes_on(writes: int, mesh: Mesh, tmp_path: Path) -> None:
    numbers, place = random.Random(2), tmp_path / "state.json"
    first = mesh.plan(random_pairs(numbers))
    apply(first, place, Management())
    plan = mesh.plan(random_pairs(numbers), first)
    broker = mesh.brokers["b"]
    broker.fails_at = broker.writes + writes
    with pytest.raises(NetworkError, match="goes on from here"):
        apply(plan, place, Management())
    assert apply(plan, place, Management()).steps
    assert apply(plan, place, Management()).steps == 0
    assert {pair for pairs in mesh.links().values() for pair in pairs} == {
        frozenset(link.ends) for link in plan.links
    }
