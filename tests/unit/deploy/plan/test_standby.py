import json
from itertools import combinations
from pathlib import Path

import networkx as nx
import pytest
from typer.testing import CliRunner

import meshwright as mw
from meshwright.cli import app
from meshwright.deploy.drivers import driver_of
from meshwright.deploy.plan.plan import Standby, plan_of, read_plan
from meshwright.deploy.plan.planning import make_plan
from meshwright.deploy.plan.standby import with_standby, without
from meshwright.deploy.plan_folder import counts_of
from meshwright.runtime.errors import InputError

MOSQUITTO = driver_of("mosquitto").engine
WANTS = {"a": "t/# u", "b": "t/# u v", "c": "t/+ v", "d": "t/x u", "e": "t/# v u"}
FILTERS = [(node, text) for node, texts in WANTS.items() for text in texts.split()]


def resilient() -> mw.Overlay:
    return mw.build(mw.Interests.from_filters(FILTERS, dialect="mqtt"), "gm", resilience=2)


def test_open_and_standby_links_connect_every_topic_after_any_failure() -> None:
    overlay = resilient()
    plan = make_plan(overlay, MOSQUITTO)
    plan = with_standby(plan, overlay, MOSQUITTO, plan.host_of)
    assert plan.standby
    spare = {frozenset((each.opens, each.to)) for each in plan.standby}
    assert spare <= {frozenset(pair) for pair in plan.unused}
    for failed in plan.host_of:
        links = [link.ends for link in plan.links]
        links += [(each.opens, each.to) for each in plan.standby if failed in each.when]
        for topic in plan.topics:
            left = nx.Graph([pair for pair in links if {*pair} <= {*topic.nodes} - {failed}])
            left.add_nodes_from({*topic.nodes} - {failed})
            assert failed in plan.cuts or not left or nx.is_connected(left), (failed, topic)
    assert plan_of(json.loads(plan.text())) == plan


def test_a_failure_that_cuts_a_topic_is_named() -> None:
    """A star with a claim to resilience that it does not keep."""
    interests = mw.Interests.from_pairs([(node, "t") for node in "abcd"])
    star = mw.Overlay.from_edges(interests, [("a", node) for node in "bcd"])
    star = mw.Overlay(interests, star.edges, facts={"options": {"resilience": 2}})
    plan = make_plan(star, MOSQUITTO)
    plan = with_standby(plan, star, MOSQUITTO, plan.host_of)
    assert plan.cuts == ("a",)
    assert not plan.standby


@pytest.mark.parametrize(("engine", "resilience"), [("mosquitto", 1), ("zenoh", 2)])
def test_without_resilience_or_need_there_are_none(engine: str, resilience: int) -> None:
    interests = mw.Interests.from_pairs([(node, "t") for node in "abcd"])
    overlay = mw.build(interests, "gm", resilience=resilience)
    plan = make_plan(overlay, driver_of(engine).engine)
    assert with_standby(plan, overlay, driver_of(engine).engine, plan.host_of) is plan


def test_a_plan_without_a_failed_node_is_made_by_the_command(tmp_path: Path) -> None:
    overlay = resilient()
    overlay.write(tmp_path / "overlay")
    command = ["deploy", "plan", str(tmp_path / "overlay"), "--driver", "mosquitto", "--out"]
    made = CliRunner().invoke(app, [*command, str(tmp_path / "plan"), "--json"])
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["standby"] == len(read_plan(tmp_path / "plan").standby) > 0
    detour = CliRunner().invoke(app, [*command, str(tmp_path / "detour"), "--down", "a"])
    assert detour.exit_code == 0, detour.output
    assert "a" not in read_plan(tmp_path / "detour").host_of
    assert {*read_plan(tmp_path / "detour").host_of} == {*"bcde"}


def prices(overlay: mw.Overlay) -> dict[frozenset[str], float]:
    names = overlay.interests.nodes.to_pylist()
    assert overlay.costs is not None
    pairs = (frozenset((names[u], names[v])) for u, v in overlay.edges.tolist())
    return dict(zip(pairs, overlay.costs.tolist(), strict=True))


def test_an_overlay_without_nodes_keeps_links_and_costs_of_the_others() -> None:
    interests = mw.Interests.from_pairs([(node, "t") for node in "abcd"])
    overlay = mw.Overlay.from_edges(interests, list(combinations("abcd", 2)), costs=[1, 2, 3, 4, 5, 6])
    found = prices(without(overlay, {"a"}))
    assert found == {pair: cost for pair, cost in prices(overlay).items() if "a" not in pair}
    assert sorted(found.values()) == [4, 5, 6]
    with pytest.raises(InputError, match="has no node 'z'"):
        without(overlay, {"z"})


def test_a_standby_link_counts_once_whoever_opens_it() -> None:
    plan = make_plan(resilient(), MOSQUITTO)
    plan = plan.with_standby((Standby("a", "b", ("c",)), Standby("b", "a", ("d",))), ())
    assert counts_of(plan)["standby"] == 1
