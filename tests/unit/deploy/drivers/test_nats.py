import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import meshwright as mw
from meshwright.deploy.configs import reader_of
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


def test_passwords_are_references_and_are_masked() -> None:
    plan = plan_of("a", "b", password="env:MESH")
    text = nats.render(plan, plan.links[0].opens)
    assert "mw0:@{env:MESH}@h.example:7423" in text
    filled = text.replace("@{env:MESH}", "geheim")
    assert "geheim" not in masked(filled)
    assert masked(filled) == masked(text)


@pytest.mark.parametrize(
    ("host", "says"), [({}, "has no password"), ({"password": "env:X", "user": "me"}, "leave it out")]
)
def test_servers_that_can_not_keep_topics_apart_are_refused(host: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        nats.check(plan_of("a", "b", **host))
    nats.check(replace(plan_of("a", "b"), loopback=True))
