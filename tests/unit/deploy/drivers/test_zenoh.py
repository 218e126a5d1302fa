import json
import tempfile
from pathlib import Path

import pytest
import zenoh as library
from hypothesis import given
from hypothesis import strategies as st

import meshwright as mw
from meshwright.deploy.changing import steps_to
from meshwright.deploy.configs import reader_of
from meshwright.deploy.drivers import zenoh
from meshwright.deploy.hosts import Host
from meshwright.deploy.plan.plan import Plan
from meshwright.deploy.plan.planning import make_plan
from meshwright.deploy.reaching import masked
from meshwright.runtime.errors import InputError

awkward = st.text(st.sampled_from("ab \t\n\r#\"'\\;{}:@/$*\x00\u2028é"), min_size=1, max_size=8)


def plan_of(pairs: list[tuple[str, str]], edges: list[tuple[str, str]], **host: object) -> Plan:
    interests = mw.Interests.from_pairs(pairs)
    nodes = interests.nodes.to_pylist()
    hosts = {node: Host(node, f"h{at}.example", 7447 + at, **host) for at, node in enumerate(nodes)}  # type: ignore[arg-type]
    return make_plan(mw.Overlay.from_edges(interests, edges), zenoh.DRIVER.engine, hosts)


@pytest.mark.filterwarnings("ignore:.*wildcard")
@given(awkward, awkward, st.lists(awkward, min_size=1, max_size=3, unique=True))
def test_no_name_changes_the_meaning_of_a_file(one: str, other: str, topics: list[str]) -> None:
    """As Zenoh's own parser sees it, and the reader of configurations: one endpoint, and these denials."""
    if one == other:
        return
    pairs = [(one, "x"), (other, "x"), *((one, topic) for topic in topics)]
    try:
        plan = plan_of(pairs, [(one, other)])
    except InputError:
        return
    (link,) = plan.links
    text = zenoh.render(plan, link.opens)
    config = library.Config.from_json5(text)
    assert json.loads(config.get_json("metadata"))["name"] == link.opens
    to = plan.host_of[link.to]
    assert json.loads(config.get_json("connect/endpoints")) == [f"tcp/{to.host}:{to.port}"]
    rules = json.loads(config.get_json("access_control/rules")) or []
    assert [rule["key_exprs"] for rule in rules] == [sorted({*topics} - {"x"})][: len({*topics} - {"x"})]
    assert dict(zenoh.read(text)) == {zenoh.link_name(*link.ends): ("x",)}
    assert masked(text) == text
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.json5"
        file.write_text(text, newline="")
        parsed = reader_of("zenoh").parse(file)
    assert {note.rule for note in parsed.notes} <= {"not-decided"}
    assert len({flow.link for flow in parsed.flows}) == 1


def test_on_a_tree_each_link_denies_what_nobody_beyond_it_wants() -> None:
    pairs = [("a", "t"), ("b", "t"), ("b", "u"), ("c", "u"), ("c", "own")]
    plan = plan_of(pairs, [("a", "b"), ("b", "c")])
    denied = {frozenset(link.ends): zenoh.denials(plan, link) for link in plan.links}
    assert denied == {frozenset("ab"): ("own", "u"), frozenset("bc"): ("own", "t")}


def test_in_a_mesh_nothing_is_denied_and_a_new_topic_changes_no_file() -> None:
    pairs = [(node, "t") for node in "abc"]
    edges = [("a", "b"), ("b", "c"), ("a", "c")]
    old, new = plan_of(pairs, edges), plan_of([*pairs, ("a", "u"), ("b", "u"), ("c", "own")], edges)
    for node in "abc":
        assert zenoh.render(old, node) == zenoh.render(new, node)
        assert "access_control" not in zenoh.render(new, node)


def test_a_file_is_kept_while_it_denies_nothing_that_it_should_not() -> None:
    edges = [("a", "b"), ("b", "c")]
    pairs = [("a", "t"), ("b", "t"), ("b", "u"), ("c", "u")]
    now = {node: zenoh.render(plan_of(pairs, edges), node) for node in "abc"}
    more = plan_of([*pairs, ("a", "new"), ("b", "new"), ("c", "own")], edges)
    assert not steps_to(zenoh.DRIVER, more, now, more.host_of)
    crossing = plan_of([*pairs, ("a", "u")], edges)
    assert {step.node for step in steps_to(zenoh.DRIVER, crossing, now, crossing.host_of)} == {"a", "b"}


def test_a_filter_around_what_may_cross_is_not_denied() -> None:
    interests = mw.Interests.from_filters(
        [("a", "t/**"), ("a", "t/u"), ("b", "t/u"), ("b", "v/*")], dialect="zenoh"
    )
    plan = make_plan(mw.Overlay.from_edges(interests, [("a", "b")]), zenoh.DRIVER.engine)
    assert zenoh.denials(plan, plan.links[0]) == ("v/*",)


def test_links_are_opened_before_others_are_closed() -> None:
    everybody = [(node, "t") for node in "abc"]
    old, new = plan_of(everybody, [("a", "b"), ("b", "c")]), plan_of(everybody, [("a", "b"), ("a", "c")])
    now = {node: zenoh.render(old, node) for node in "abc"}

    def opened() -> set[str]:
        return {address for text in now.values() for address in zenoh._config(text)["connect"]["endpoints"]}

    wanted = {f"tcp/h{'abc'.index(link.to)}.example:{7447 + 'abc'.index(link.to)}" for link in new.links}
    steps = steps_to(zenoh.DRIVER, new, now, old.host_of)
    for step in steps:
        assert step.text is not None
        if step.closes:
            assert opened() >= wanted
        now[step.node] = step.text
    assert all(zenoh.will_do(now[node], zenoh.render(new, node)) for node in "abc")
    assert opened() == wanted
    assert [step.closes for step in steps] == sorted(step.closes for step in steps)
    assert not steps_to(zenoh.DRIVER, new, now, old.host_of)


def test_a_router_that_alone_opens_and_closes_restarts_once() -> None:
    everybody = [(node, "t") for node in "abc"]
    old, new = plan_of(everybody, [("a", "b"), ("b", "c")]), plan_of(everybody, [("b", "c"), ("a", "c")])
    now = {node: zenoh.render(old, node) for node in "abc"}
    (step,) = steps_to(zenoh.DRIVER, new, now, old.host_of)
    assert (step.node, step.text) == ("a", zenoh.render(new, "a"))


def test_a_broker_that_has_left_keeps_running_without_links() -> None:
    old = plan_of([(node, "t") for node in "abc"], [("a", "b"), ("b", "c")])
    new = plan_of([(node, "t") for node in "ab"], [("a", "b")])
    now = {node: zenoh.render(old, node) for node in "abc"}
    (left,) = (step for step in steps_to(zenoh.DRIVER, new, now, old.host_of) if step.node == "c")
    assert left.closes
    assert left.text is not None
    assert json.loads(library.Config.from_json5(left.text).get_json("connect/endpoints")) == []
    assert not zenoh.read(left.text)
    now |= {step.node: step.text for step in steps_to(zenoh.DRIVER, new, now, old.host_of) if step.text}
    assert not steps_to(zenoh.DRIVER, new, now, old.host_of)


@pytest.mark.parametrize("host", [{"user": "me"}, {"password": "env:X"}])
def test_users_are_refused(host: dict[str, object]) -> None:
    with pytest.raises(InputError, match="use certificates"):
        zenoh.check(plan_of([("a", "t"), ("b", "t")], [("a", "b")], **host))


@given(st.text(st.sampled_from("ab/ #\"'\\;{}:@$*é"), min_size=1, max_size=8))
def test_certificates_are_paths(path: str) -> None:
    plan = plan_of([("a", "t"), ("b", "t")], [("a", "b")], cafile=path, certfile="/c", keyfile="/k")
    (link,) = plan.links
    config = library.Config.from_json5(zenoh.render(plan, link.opens))
    assert json.loads(config.get_json("transport/link/tls"))["root_ca_certificate"] == path
    assert json.loads(config.get_json("connect/endpoints"))[0].startswith("tls/")
    assert json.loads(config.get_json("listen/endpoints"))[0].startswith("tls/")
