import json
import tempfile
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

import meshwright as mw
from meshwright.deploy.configs import reader_of
from meshwright.deploy.drivers import rabbitmq
from meshwright.deploy.hosts import Host
from meshwright.deploy.plan.plan import Plan
from meshwright.deploy.plan.planning import make_plan
from meshwright.deploy.plan_folder import write_plan
from meshwright.deploy.reaching import masked
from meshwright.runtime.errors import InputError

awkward = st.text(st.sampled_from("ab \t\n\r#\"'\\;{}:@/$%\x00\u2028é"), min_size=1, max_size=8)


def plan_of(one: str, other: str, topics: list[str], **host: object) -> Plan:
    known = {"user": "me", "password": "env:X", "admin": "http://h:15672", **host}
    hosts = {node: Host(node, "h.example", 5672 + at, **known) for at, node in enumerate((one, other))}  # type: ignore[arg-type]
    interests = mw.Interests.from_pairs([(node, topic) for node in (one, other) for topic in topics])
    return make_plan(mw.build(interests, "gm"), rabbitmq.DRIVER.engine, hosts)


@pytest.mark.filterwarnings("ignore:.*wildcard")
@given(awkward, awkward, st.lists(awkward, min_size=1, max_size=3, unique=True))
def test_no_name_changes_the_meaning_of_definitions(one: str, other: str, topics: list[str]) -> None:
    """Parsed by JSON and by the reader of definitions: one upstream, whatever the names are."""
    if one == other:
        return
    try:
        plan = plan_of(one, other, topics, user=other.strip() or "me")
    except InputError:
        return
    (link,) = plan.links
    for node in link.ends:
        text = rabbitmq.render(plan, node)
        assert dict(rabbitmq.read(text)) == {rabbitmq.link_name(*link.ends): ("mw0",)}
        found = json.loads(text)
        assert [each["name"] for each in found["exchanges"]] == ["mw0"]
        assert len(found["parameters"]) == 2
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "a.json"
            file.write_text(text, newline="")
            parsed = reader_of("rabbitmq").parse(file)
        assert not [note for note in parsed.notes if note.severity == "error" and note.rule != "secret"]
        assert len({flow.link for flow in parsed.flows}) == 1


@given(st.text(st.sampled_from("ab/ #\"'\\;{}:@$%?&=é"), min_size=1, max_size=8))
def test_no_user_or_path_of_the_inventory_changes_an_address(text: str) -> None:
    plan = plan_of("a", "b", ["t"], user=text, cafile=text)
    (upstream,) = (
        row["value"]
        for row in json.loads(rabbitmq.render(plan, "a"))["parameters"]
        if row["component"] == rabbitmq.UPSTREAM
    )
    found = urlsplit(upstream["uri"].replace("@{env:X}", "secret"))
    assert (found.scheme, unquote(found.username or ""), found.password) == ("amqps", text, "secret")
    assert (found.hostname, found.port, found.path) == ("h.example", 5673, "/%2F")
    assert parse_qs(found.query) == {"cacertfile": [text], "verify": ["verify_peer"]}


def test_passwords_are_references_and_are_masked() -> None:
    plan = plan_of("a", "b", ["t"])
    text = rabbitmq.render(plan, "a")
    assert "amqp://me:@{env:X}@h.example:5673/%2F" in text
    filled = text.replace("@{env:X}", "geheim")
    assert "geheim" not in masked(filled)
    assert masked(filled) == masked(text)


@pytest.mark.parametrize(
    ("host", "says"),
    [({"admin": ""}, "lacks admin"), ({"accepts": False}, "neither accepts|does not accept")],
)
def test_brokers_that_can_not_be_federated_are_refused(host: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        rabbitmq.check(plan_of("a", "b", ["t"], **host))


def test_lint_finds_nothing_in_a_plan(tmp_path: Path) -> None:
    pairs = [(node, topic) for node, topics in (("a", "tu"), ("b", "tv"), ("c", "uv")) for topic in topics]
    hosts = {
        node: Host(node, f"{node}.example", 5672, user="me", password="env:X", admin="http://h:15672")
        for node in "abc"
    }
    plan = make_plan(mw.build(mw.Interests.from_pairs(pairs), "gm"), rabbitmq.DRIVER.engine, hosts)
    write_plan(plan, tmp_path / "plan")
    assert (tmp_path / "plan/brokers/a/conf.d/meshwright.json").exists()
