"""No input makes a reader of configurations fail: whatever is wrong with a file becomes a note."""

import json
import string
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshwright.deploy.configs import nats, rabbitmq, zenoh
from meshwright.deploy.configs.json5 import read_json5
from meshwright.deploy.configs.tree import Node
from meshwright.deploy.mesh import Parsed
from meshwright.deploy.settle import settle
from meshwright.filters.filter import Filter

READERS = {"nats": nats, "rabbitmq": rabbitmq, "zenoh": zenoh}
DIALECTS = {"nats": "nats", "rabbitmq": "amqp", "zenoh": "zenoh"}

odd = st.sampled_from(
    ["", "\n", '"', "'", "#", "$", "\\", "a b", "é", "\u2028", "😀", "\0", "$2a$", "//", "{", "*"]
)
names = st.one_of(odd, st.text(string.ascii_lowercase + ".*>#/@$", max_size=6))
urls = st.builds(
    "{}://{}{}{}".format,
    st.sampled_from(["nats", "amqp", "tcp"]),
    odd,
    names,
    st.sampled_from(["", ":1", ":x", "/v"]),
)
scalars = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), names, urls)

NATS_KEYS = """
port listen host server_name leafnodes remotes url urls account accounts users user password exports
imports stream service subject to prefix cluster routes gateway gateways name deny_exports
permissions publish allow deny authorization no_auth_user token mappings include A B
"""
ZENOH_KEYS = """
mode connect listen endpoints router peer metadata name access_control enabled default_permission
rules id messages flows permission key_exprs subjects policies put scouting multicast autoconnect
routing transport locators password
"""
RABBITMQ_KEYS = """
parameters policies component name vhost value uri pattern apply-to definition priority max-hops
federation-upstream federation-upstream-set bindings source destination destination_type routing_key
exchanges type internal src-uri src-queue src-exchange src-exchange-key dest-uri dest-exchange
dest-queue users global_parameters exchange queues
"""
KEYS = {"nats": NATS_KEYS, "zenoh": ZENOH_KEYS, "rabbitmq": RABBITMQ_KEYS}


def values(kind: str) -> st.SearchStrategy[Any]:
    """Nested values under the keys of a format, also where they make no sense."""
    keys = st.one_of(st.sampled_from(KEYS[kind].split()), odd)
    words = st.sampled_from(
        [*KEYS[kind].split(), "amq.topic", "all", "topic", "shovel", "client", "#", ">", "**"]
    )

    def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=5))

    return st.recursive(st.one_of(scalars, words), deeper, max_leaves=25)


def parsed(kind: str, content: bytes) -> Parsed:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "config")
        path.write_bytes(content)
        READERS[kind].looks_like(path, content)
        return READERS[kind].parse(path)


def check(kind: str, found: Parsed) -> None:
    """What the analysis relies on: filters that are some, places, and flows that can be settled."""
    assert found.brokers or any(note.rule == "unreadable" for note in found.notes)
    for flow in found.flows:
        for text in (flow.filter, *flow.denies):
            Filter(text, DIALECTS[kind])
        assert flow.place.line >= 1
    assert all("\n" not in note.message for note in found.notes)
    settle(found.brokers, found.flows)


@pytest.mark.parametrize("kind", READERS)
@given(
    content=st.one_of(
        st.binary(max_size=200), st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
    )
)
def test_no_bytes_make_a_reader_fail(kind: str, content: bytes) -> None:
    check(kind, parsed(kind, content))


@pytest.mark.parametrize("kind", READERS)
@given(data=st.data())
def test_no_values_make_a_reader_fail(kind: str, data: st.DataObject) -> None:
    root = data.draw(st.dictionaries(st.sampled_from(KEYS[kind].split()), values(kind), max_size=6))
    text = json.dumps(root, ensure_ascii=data.draw(st.booleans()))
    check(kind, parsed(kind, text.encode("utf-8", "surrogatepass")))


@pytest.mark.parametrize("kind", READERS)
@given(data=st.data())
def test_no_value_in_the_place_of_another_makes_a_reader_fail(kind: str, data: st.DataObject) -> None:
    changed = swapped(plain(read_json5(TREES[kind], "x").root), values(kind), data)
    check(kind, parsed(kind, json.dumps(changed).encode()))


def swapped(value: Any, new: st.SearchStrategy[Any], data: st.DataObject) -> Any:
    """A value with another one somewhere inside."""
    keys = (
        list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    )
    if not keys or data.draw(st.integers(0, 5)) == 0:
        return data.draw(new)
    chosen = data.draw(st.sampled_from(keys))
    pairs = {key: value[key] for key in keys} | {chosen: swapped(value[chosen], new, data)}
    return pairs if isinstance(value, dict) else list(pairs.values())


@pytest.mark.parametrize("kind", READERS)
@given(data=st.data())
def test_no_part_of_a_configuration_makes_a_reader_fail(kind: str, data: st.DataObject) -> None:
    whole = EXAMPLES[kind]
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, len(whole)))
    new = data.draw(st.one_of(odd, st.sampled_from(["}", "]", ",", ":", "\n}"])))
    for text in (whole[:start], whole[:start] + new + whole[start:], whole[:start] + whole[end:]):
        check(kind, parsed(kind, text.encode("utf-8", "surrogatepass")))


EXAMPLES = {
    "nats": """
server_name: s # meshwright: ignore loop: x
P: "x"
accounts {
  A { users: [{user: a, password: $P, permissions: {publish: {allow: "p.>"}}}], exports: [{stream: "x.>"}] }
  B: { imports = [{stream: {account: A, subject: "x.>"}, to: 'y.>'}] }
}
leafnodes { listen: 0.0.0.0:7422; remotes [
  {urls: [nats://a:b@h:1, "tls://[::1]:2"], account: A, deny_exports: e}
  {url: $U} ] }
cluster { name: c, routes = [ nats://n:6222 ] } // end
include "more.conf"
""",
    "zenoh": """
{ // meshwright: ignore loop: x
  mode: "router", id: 'a', connect: { endpoints: { router: ["tcp/h:1#x=y", {locators: ["udp/[::1]:2"]}], } },
  listen: { endpoints: ["tcp/0.0.0.0:7447"] },
  access_control: { enabled: true, default_permission: "deny",
    rules: [{id: "r", messages: ["put"], flows: ["egress"], permission: "allow", key_exprs: ["a/**", "b$*"]}],
    subjects: [{id: "s"}], policies: [{rules: ["r"], subjects: ["s"]}] }, n: [0x1F, -.5e3, Infinity],
}
""",
    "rabbitmq": json.dumps(
        {
            "rabbit_version": "3.10.8",
            "vhosts": [{"name": "/"}],
            "global_parameters": [{"name": "cluster_name", "value": "rabbit@h"}],
            "parameters": [
                {
                    "component": "federation-upstream",
                    "vhost": "/",
                    "name": "u",
                    "value": {"uri": "amqp://u:p@h/v"},
                },
                {
                    **{"component": "shovel", "vhost": "/", "name": "s"},
                    "value": {
                        "src-uri": "amqp://",
                        "src-queue": "q",
                        "dest-uri": "amqps://h",
                        "dest-queue": "r",
                    },
                },
            ],
            "policies": [
                {
                    **{
                        "vhost": "/",
                        "name": "p",
                        "pattern": "^amq\\.",
                        "apply-to": "exchanges",
                        "priority": 0,
                    },
                    "definition": {"federation-upstream-set": "all"},
                }
            ],
            "bindings": [
                {
                    **{"source": "amq.topic", "vhost": "/", "destination": "q", "destination_type": "queue"},
                    "routing_key": "a.#",
                }
            ],
        },
        indent=1,
    ),
}

TREES = {
    **EXAMPLES,
    "nats": """{
  "server_name": "s", "port": 4222, "no_auth_user": "a", "mappings": {"a": "b"},
  "accounts": {
    "A": {"users": [{"user": "a", "password": "b", "permissions": {"publish": {"allow": ["p"]}}}],
          "exports": [{"stream": "x.>", "accounts": ["B"]}, {"service": "q"}]},
    "B": {"imports": [{"stream": {"account": "A", "subject": "x.*"}, "to": "y.$1"},
                      {"service": {"account": "A", "subject": "q"}, "prefix": "p"}]}},
  "leafnodes": {"port": 7422, "authorization": {"users": [{"user": "l", "account": "A"}]},
                "remotes": [{"urls": ["nats://u:p@h:1"], "account": "A", "deny_imports": ["i"]}]},
  "cluster": {"listen": "h:6222", "routes": ["nats://n:6222"]},
  "gateway": {"name": "g", "gateways": [{"name": "h", "url": "nats://g:7222"}]}
}""",
}

plain_json = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(), inner, max_size=4)),
    max_leaves=20,
)


def plain(node: Node) -> object:
    if isinstance(node.value, dict):
        return {key: plain(value) for key, value in node.value.items()}
    return [plain(each) for each in node.value] if isinstance(node.value, list) else node.value


@given(value=plain_json, ascii_only=st.booleans(), indent=st.sampled_from([None, 1]))
def test_json_is_read_as_by_pythons_own_reader(value: object, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assert plain(read_json5(text, "x").root) == json.loads(text)
