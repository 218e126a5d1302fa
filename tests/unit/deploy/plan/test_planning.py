import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import meshwright as mw
from meshwright.deploy.drivers import mosquitto
from meshwright.deploy.hosts import Host
from meshwright.deploy.plan.plan import FILE, Plan, Settings, plan_of, read_plan
from meshwright.deploy.plan.planning import make_plan
from meshwright.deploy.plan_folder import write_plan
from meshwright.runtime.errors import DatasetError, InputError, OptionError

MQTT = mosquitto.DRIVER.engine
TRIANGLE = [("a", "x"), ("b", "x"), ("c", "x"), ("a", "y"), ("b", "y")]


def overlay_of(pairs: list[tuple[str, str]], edges: list[tuple[str, str]]) -> mw.Overlay:
    return mw.Overlay.from_edges(mw.Interests.from_pairs(pairs), edges)


def hosts_of(*nodes: str, **more: object) -> dict[str, Host]:
    return {node: Host(node, f"{node}.example", 1883, **more) for node in nodes}  # type: ignore[arg-type]


def test_a_cycle_of_links_is_left_open_for_each_topic() -> None:
    plan = make_plan(overlay_of(TRIANGLE, [("a", "b"), ("b", "c"), ("a", "c")]), MQTT)
    assert {frozenset(link.ends): link.lines for link in plan.links} == {
        frozenset("ab"): ("x", "y"),
        frozenset("ac"): ("x",),
    }
    assert plan.unused == (("b", "c"),)


def test_the_cheapest_tree_takes_the_cheapest_links() -> None:
    overlay = mw.Overlay.from_edges(
        mw.Interests.from_pairs(TRIANGLE), [("a", "b"), ("a", "c"), ("b", "c")], [5.0, 1.0, 1.0]
    )
    plan = make_plan(overlay, MQTT, settings=Settings(tree="cheapest"))
    carried = {frozenset(link.ends) for link in plan.links if "x" in link.lines}
    assert carried == {frozenset("ac"), frozenset("bc")}


def test_the_cheapest_tree_needs_costs() -> None:
    with pytest.raises(OptionError, match="needs the costs of links"):
        make_plan(overlay_of(TRIANGLE, [("a", "b"), ("b", "c")]), MQTT, settings=Settings(tree="cheapest"))


def test_rates_of_topics_add_up_on_links() -> None:
    given = mw.Interests.from_pairs(TRIANGLE)
    rated = replace(given, topic_attributes=pa.table({"rate": np.array([3.0, 0.5])}))
    plan = make_plan(mw.Overlay.from_edges(rated, [("a", "b"), ("b", "c")]), MQTT)
    assert {frozenset(link.ends): link.rate for link in plan.links} == {
        frozenset("ab"): 3.5,
        frozenset("bc"): 3.0,
    }


def test_a_rate_that_is_not_said_counts_nothing_and_one_below_0_is_refused() -> None:
    given = mw.Interests.from_pairs(TRIANGLE)
    links = [("a", "b"), ("b", "c")]
    some = replace(given, topic_attributes=pa.table({"rate": pa.array([None, 0.5])}))
    plan = make_plan(mw.Overlay.from_edges(some, links), MQTT)
    assert sorted(link.rate or 0 for link in plan.links) == [0, 0.5]
    below = replace(given, topic_attributes=pa.table({"rate": np.array([3.0, -1])}))
    with pytest.raises(mw.InputError, match="give a number of at least 0"):
        make_plan(mw.Overlay.from_edges(below, links), MQTT)


def test_a_broker_that_accepts_no_links_opens_them() -> None:
    hosts = hosts_of("a", "c") | hosts_of("b", accepts=False)
    plan = make_plan(overlay_of(TRIANGLE, [("a", "b"), ("b", "c")]), MQTT, hosts)
    assert [link.ends for link in plan.links] == [("b", "a"), ("b", "c")]


def test_a_link_keeps_the_end_that_opens_it() -> None:
    overlay = overlay_of(TRIANGLE, [("a", "b"), ("b", "c")])
    first = make_plan(overlay, MQTT, hosts_of("a", "c") | hosts_of("b", accepts=False))
    second = make_plan(overlay, MQTT, hosts_of("a", "b", "c"), before=first)
    assert second.links == first.links


def edges_of_refusals() -> list[tuple[dict[str, object], str]]:
    return [
        ({"hosts": hosts_of("a", "b")}, "lacks the node 'c'; add a row"),
        ({"hosts": hosts_of("a", "b", "c", accepts=False)}, "neither accepts links"),
        (
            {"hosts": hosts_of("a", "b", "c", max_links=1)},
            r"'b' would have 2 links, but may have 1 \(max_links\)",
        ),
        ({"most_lines": 1}, "would have 2 lines, but may have 1"),
    ]


@pytest.mark.parametrize(("given", "says"), edges_of_refusals())
def test_what_the_inventory_does_not_allow_is_refused(given: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        make_plan(overlay_of(TRIANGLE, [("a", "b"), ("b", "c")]), MQTT, **given)  # type: ignore[arg-type]


def test_an_overlay_that_cuts_a_topic_is_refused() -> None:
    with pytest.raises(InputError, match="not topic-connected"):
        make_plan(overlay_of(TRIANGLE, [("a", "b")]), MQTT)


def test_filters_of_another_dialect_are_refused() -> None:
    interests = mw.Interests.from_filters([("a", "x.>"), ("b", "x.>")], dialect="nats")
    with pytest.raises(InputError, match=r"filters of nats, but the driver's brokers speak mqtt"):
        make_plan(mw.build(interests, "gm"), MQTT)


def plan_with_all() -> Plan:
    interests = mw.Interests.from_filters(
        [("a", "x/#"), ("b", "x/+"), ("c", "x/1"), ("c", "y")], dialect="mqtt"
    )
    return make_plan(mw.build(interests, "gm"), MQTT, source="overlay")


def test_a_plan_is_the_same_after_it_was_written(tmp_path: Path) -> None:
    plan = plan_with_all()
    write_plan(plan, tmp_path / "plan")
    assert read_plan(tmp_path / "plan") == plan == plan_of(plan.as_json())
    assert json.loads((tmp_path / "plan" / FILE).read_text())["checksum"] == plan.hash


def test_a_plan_that_was_edited_is_refused(tmp_path: Path) -> None:
    write_plan(plan_with_all(), tmp_path / "plan")
    file = tmp_path / "plan" / FILE
    file.write_text(file.read_text().replace("x/#", "z/#"))
    with pytest.raises(DatasetError, match="its checksum differs; make the plan again"):
        read_plan(tmp_path / "plan")
