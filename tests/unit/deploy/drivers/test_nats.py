import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import meshwright as mw
from meshwright.deploy.configs import reader_of
from meshwright.deploy.configs.nats_syntax import read_nats
from meshwright.deploy.drivers import nats
from meshwright.deploy.hosts import Host
from meshwright.deploy.plan.plan import Plan
from meshwright.deploy.plan.planning import make_plan
from meshwright.deploy.reaching import masked
from meshwright.runtime.errors import InputError

awkward = st.text(st.sampled_from("ab \t\n\r#\"'\\;{}$\x00\u2028é"), min_size=1, max_size=8)


def plan_of(one: str, other: str, **host: object) -> Plan:
    interests = mw.Interests.from_pairs([(one, "x"), (other, "x")])
    hosts = {node: Host(node, "h.example", 7422 + at, **host) for at, node in enumerate((one, other))}  # type: ignore[arg-type]
    return make_plan(mw.build(interests, "gm"), nats.DRIVER.engine, hosts)


@given(awkward, awkward)
def test_no_name_changes_the_meaning_of_a_file(one: str, other: str) -> None:
    """As the reader of configurations sees it: one leaf node, and what a plain name gives."""
    if one == other:
        return
    plan = plan_of(one, other, password="env:X")
    (link,) = plan.links
    assert dict(nats.read(nats.render(plan, link.opens))) == {nats.link_name(*link.ends): ("MW0",)}
    seen = []
    for made, node in (
        (plan, link.opens),
        (plain := plan_of("a", "b", password="env:X"), plain.links[0].opens),
    ):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "a.conf"
            file.write_text(nats.render(made, node), newline="")
            parsed = reader_of("nats").parse(file)
        assert {note.rule for note in parsed.notes} <= {"secret"}
        seen.append((len(parsed.flows), [(broker.kind, len(broker.doors)) for broker in parsed.brokers]))
    assert seen[0] == seen[1]


paths = st.text(st.sampled_from("ab/ #\"'\\;{}:$=%[]é"), min_size=1, max_size=8)


@given(paths, paths)
def test_no_path_of_the_inventory_changes_the_meaning_of_a_file(cafile: str, certfile: str) -> None:
    plan = plan_of("a", "b", password="env:X", cafile=cafile, certfile=certfile, keyfile=certfile)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.conf"
        file.write_text(nats.render(plan, plan.links[0].opens), newline="")
        found = read_nats(file).root
    leaf = found.at("leafnodes")
    assert leaf.at("tls").at("cert_file").text == leaf.at("tls").at("key_file").text == certfile
    (remote,) = leaf.at("remotes").elements
    assert remote.at("tls").at("ca_file").text == cafile
    assert found.at("accounts").at("MW0").entries.keys() == {"users"}


def test_passwords_are_references_and_are_masked() -> None:
    plan = plan_of("a", "b", password="env:MESH")
    text = nats.render(plan, plan.links[0].opens)
    assert "mw0:@{env:MESH}@h.example:7423" in text
    filled = text.replace("@{env:MESH}", "geheim")
    assert "geheim" not in masked(filled)
    assert masked(filled) == masked(text)


@pytest.mark.parametrize(
    ("host", "says"),
    [
        ({}, "has no password"),
        ({"password": "env:X", "user": "me"}, "leave it out"),
        ({"password": "env:X", "version": "2.9.10"}, "needs 2.14 or newer; update the broker"),
    ],
)
def test_servers_that_can_not_keep_topics_apart_are_refused(host: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        nats.check(plan_of("a", "b", **host))
    nats.check(replace(plan_of("a", "b"), loopback=True))


def test_addresses_of_ipv6_are_in_brackets() -> None:
    """Without them, servers never connect: "too many colons in address"."""
    plan = plan_of("a", "b", password="env:MESH")
    hosts = {host.node: host._replace(host="fd00::1") for host in plan.hosts}
    plan = plan.with_hosts(hosts, loopback=False)
    (link,) = plan.links
    text = nats.render(plan, link.opens)
    assert f"@[fd00::1]:{plan.host_of[link.to].port}" in text
    assert f'listen: "[::]:{plan.host_of[link.opens].port}"' in text
    assert list(nats.addresses(text).values()) == [f"[fd00::1]:{plan.host_of[link.to].port}"]


def test_a_server_that_has_left_keeps_its_users_and_loses_its_links() -> None:
    plan = plan_of("a", "b", password="env:MESH")
    (link,) = plan.links
    host = plan.host_of[link.opens]
    text = nats.render(plan, link.opens)
    left = nats.alone(masked(text), host)
    assert not nats.read(left)
    assert left == nats.render(plan.with_links([]), link.opens)
    assert nats.alone(masked(left), host) == left


def test_users_of_leaf_nodes_are_those_of_accounts_so_that_a_reload_takes_others() -> None:
    """A server refuses a reload with other users in `leafnodes`, and one without users lets everybody in."""
    overlay = mw.Overlay.from_edges(mw.Interests.from_pairs([("a", "x"), ("b", "x")]), [("a", "b")])
    idle = make_plan(overlay, nats.DRIVER.engine)
    idle = replace(idle, wants={node: () for node in "ab"}, links=(), topics=())
    text = nats.render(idle, "a")
    assert "authorization" not in text
    assert "listen: " in text
    assert 'MW0 { users: [ { user: "mw0"' in text
