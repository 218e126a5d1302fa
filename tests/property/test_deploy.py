"""Plans of random overlays: nested trees, files that lint is silent about, and steps without cycles."""

import tempfile
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

import networkx as nx
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import meshwright as mw
from meshwright.deploy.applying import apply, status
from meshwright.deploy.changing import common_lines
from meshwright.deploy.drivers import mosquitto, nats
from meshwright.deploy.drivers.driver import Driver
from meshwright.deploy.plan.nesting import nesting_of
from meshwright.deploy.plan.plan import Plan
from meshwright.deploy.plan.planning import Engine, make_plan
from meshwright.deploy.plan.trees import nested_trees
from meshwright.deploy.plan_folder import write_plan
from tests.oracles_deploy import KilledError, MemoryBrokers, machine

_NODES = ("n0", "n1", "n2", "n3", "n4")
_WORDS = st.sampled_from(("a", "b", "+"))
_filters = st.builds(
    lambda words, many: "/".join([*words, "#"] if many else words),
    st.lists(_WORDS, min_size=1, max_size=3),
    st.booleans(),
)
_pairs = st.lists(st.tuples(st.sampled_from(_NODES), _filters), min_size=2, max_size=6)
_MQTT = mosquitto.DRIVER.engine


def no_waiting_for_disks():
    """What survives a loss of power is not the question here."""
    return patch("os.fsync")


def overlay_of(pairs: list[tuple[str, str]]) -> mw.Overlay:
    return mw.build(mw.Interests.from_filters(pairs, dialect="mqtt"), "gm")


def carrying(plan: Plan, name: str) -> nx.Graph:
    """The links with a line that matches a name, as an independent matcher sees them."""
    return nx.Graph(
        link.ends for link in plan.links if any(mw.Filter(line).matches(name) for line in link.lines)
    )


@given(_pairs)
def test_the_links_that_carry_a_name_are_a_tree_on_its_subscribers_and_named_relays(pairs):
    plan = make_plan(overlay_of(pairs), _MQTT)
    for topic in plan.topics:
        graph = carrying(plan, topic.example)
        graph.add_nodes_from(topic.nodes)
        assert nx.is_tree(graph)
        assert {*graph} == {*topic.nodes, *topic.relays}


@given(_pairs)
def test_a_plan_for_the_same_overlay_changes_nothing(pairs):
    overlay = overlay_of(pairs)
    plan = make_plan(overlay, _MQTT)
    assert make_plan(overlay, _MQTT, before=plan) == plan


@given(_pairs)
def test_no_line_of_a_link_covers_another(pairs):
    for link in make_plan(overlay_of(pairs), _MQTT).links:
        lines = [mw.Filter(line) for line in link.lines]
        assert not any(one.covers(other) for one in lines for other in lines if one != other)


_prefixes = st.sampled_from(("a", "a/#", "a/b", "a/b/#", "#"))


@given(st.lists(st.tuples(st.sampled_from(_NODES), _prefixes), min_size=2))
def test_names_and_prefixes_need_no_relays(pairs):
    assert not any(topic.relays for topic in make_plan(overlay_of(pairs), _MQTT).topics)


@given(_pairs)
def test_lint_finds_nothing_wrong_with_rendered_files(pairs):
    with no_waiting_for_disks(), tempfile.TemporaryDirectory() as folder:
        write_plan(make_plan(overlay_of(pairs), _MQTT), Path(folder) / "plan")


@given(_pairs)
def test_topics_of_one_account_have_a_forest_of_links(pairs):
    interests = mw.Interests.from_pairs(
        [(node, text.replace("+", "x").replace("#", "y")) for node, text in pairs]
    )
    plan = make_plan(mw.build(interests, "gm"), Engine("nats", "nats", by_accounts=True))
    for account in {topic.account for topic in plan.topics}:
        graph = nx.Graph(link.ends for link in plan.links if account in link.accounts)
        assert not graph or nx.is_forest(graph)


@given(_pairs)
def test_topics_that_share_a_tree_stay_nested(pairs):
    overlay = overlay_of(pairs)
    nesting = nesting_of(overlay.interests, "mqtt")
    links = nested_trees(overlay, nesting, one_per_group=True).links
    for topic, around in enumerate(nesting.around):
        assert all(set(links[outer]) <= set(links[topic]) for outer in around)


_names = st.lists(st.sampled_from(("a", "b")), min_size=1, max_size=4)


@given(st.lists(_filters, max_size=4), st.lists(_filters, max_size=4), _names)
def test_common_lines_carry_just_what_both_do(one, other, words):
    one, other = ([mw.Filter(text).text for text in texts] for texts in (one, other))
    name = "/".join(words)

    def carries(lines):
        return any(mw.Filter(line).matches(name) for line in lines)

    assert carries(common_lines(one, other)) == (carries(one) and carries(other))


_AMONG_THREE = [("n0", "a"), ("n1", "a"), ("n2", "a")]
_few_pairs = st.lists(st.tuples(st.sampled_from(_NODES[:4]), _filters), min_size=2, max_size=6)
_machines = st.permutations(range(5))
_SAME = list(range(5))


def plan_on(driver: Driver, pairs: list[tuple[str, str]], machines: list[int]) -> Plan:
    """A plan of names or filters, with each node on one of the machines."""
    if driver is nats.DRIVER:
        words = [(node, text.replace("+", "x").replace("#", "y").replace("/", ".")) for node, text in pairs]
        overlay = mw.build(mw.Interests.from_pairs(words), "gm")
    else:
        overlay = overlay_of(pairs)
    hosts = {node: machine(at)._replace(node=node) for node, at in zip(_NODES, machines, strict=True)}
    return make_plan(overlay, driver.engine, hosts)


def names_of(driver: Driver, plans: list[Plan]) -> list[str]:
    """What must never have a cycle: names that are published, or accounts."""
    if driver is nats.DRIVER:
        return sorted({nats.account_name(topic.account) for plan in plans for topic in plan.topics})
    return sorted({topic.example for plan in plans for topic in plan.topics})


def files_of(driver: Driver, plan: Plan) -> dict[str, str]:
    return {host.config: driver.render(plan, host.node) for host in plan.hosts}


def go_through(driver: Driver, plans: list[Plan], kills: list[int]) -> None:
    """Apply plans one after the other, each killed several times, until nothing is left to do."""
    brokers = MemoryBrokers(driver, names_of(driver, plans))
    with no_waiting_for_disks(), tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "state.json"
        for plan in plans:
            for kill in kills:
                brokers.actions_left = kill
                try:
                    apply(plan, place, brokers)
                except KilledError:
                    continue
            brokers.actions_left = 1 << 30
            apply(plan, place, brokers)
            wanted = files_of(driver, plan)
            assert {at: text for at, text in brokers.files.items() if at in wanted} == wanted
            others = {at: text for at, text in brokers.files.items() if at not in wanted}
            assert not any(driver.read(text) for text in others.values())
            assert {at: text for at, text in brokers.runs.items() if text} == brokers.files
            assert apply(plan, place, brokers).steps == 0
            told = status(plan, place, brokers)
            assert (told["drift"], told["steps"], told["interrupted_at"]) == ([], [], [])


@given(
    st.sampled_from([mosquitto.DRIVER, nats.DRIVER]),
    _few_pairs,
    _few_pairs,
    _machines,
    st.lists(st.integers(0, 25), max_size=2),
)
@example(mosquitto.DRIVER, _AMONG_THREE, [("n0", "a"), ("n0", "b")], _SAME, [10])
def test_apply_makes_no_cycle_and_goes_on_after_any_kill(driver, before, after, machines, kills):
    """Whatever machines the nodes are on in the second plan: some have moved, or changed their names."""
    go_through(driver, [plan_on(driver, before, _SAME), plan_on(driver, after, machines)], kills)


@pytest.mark.parametrize("driver", [mosquitto.DRIVER, nats.DRIVER])
@pytest.mark.parametrize("killed", range(0, 12, 4))
def test_after_a_kill_the_plan_before_can_be_applied_again(driver, killed, tmp_path):
    old = plan_on(driver, _AMONG_THREE, _SAME)
    new = plan_on(driver, [("n0", "a/#"), ("n1", "a/b"), ("n2", "a/b"), ("n3", "a")], _SAME)
    brokers = MemoryBrokers(driver, names_of(driver, [old, new]))
    apply(old, tmp_path / "state.json", brokers)
    kept = dict(brokers.files)
    brokers.actions_left = killed
    with suppress(KilledError):
        apply(new, tmp_path / "state.json", brokers)
    brokers.actions_left = 1 << 30
    apply(old, tmp_path / "state.json", brokers)
    assert {at: text for at, text in brokers.files.items() if driver.read(text) or at in kept} == kept


@given(_pairs)
def test_lint_finds_nothing_wrong_with_files_of_nats(pairs):
    words = [(node, text.replace("/", ".").replace("+", "*").replace("#", ">")) for node, text in pairs]
    overlay = mw.build(mw.Interests.from_filters(words, dialect="nats"), "gm")
    with no_waiting_for_disks(), tempfile.TemporaryDirectory() as folder:
        plan = make_plan(overlay, nats.DRIVER.engine)
        assume(not any(topic.relays for topic in plan.topics))
        write_plan(plan, Path(folder) / "plan")
