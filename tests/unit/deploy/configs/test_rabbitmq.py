"""RabbitMQ's definitions as a broker and flows."""

import json
from pathlib import Path
from typing import Any

import pytest

from meshwright.deploy.configs.rabbitmq import looks_like, parse
from meshwright.deploy.mesh import Flow, Parsed

TOPIC = "/ exchange amq.topic"


def parsed(folder: Path, **definitions: Any) -> Parsed:
    (folder / "d.json").write_text(json.dumps(definitions, indent=0))
    return parse(folder / "d.json")


def rules(found: Parsed) -> list[str]:
    return [note.rule for note in found.notes]


def parameter(component: str, name: str, value: object, vhost: str = "/") -> dict[str, object]:
    return {"component": component, "name": name, "vhost": vhost, "value": value}


def upstream(name: str, vhost: str = "/", **value: object) -> dict[str, object]:
    settings = {key.replace("_", "-"): each for key, each in value.items()}
    return parameter("federation-upstream", name, settings, vhost)


def shovel(**value: object) -> dict[str, object]:
    return parameter("shovel", "s", {key.replace("_", "-"): each for key, each in value.items()})


def policy(definition: dict[str, str], pattern: str = "^amq\\.topic$", **more: object) -> dict[str, object]:
    base = {"vhost": "/", "name": "p", "pattern": pattern, "apply-to": "exchanges", "priority": 0}
    return {**base, "definition": definition, **{key.replace("_", "-"): each for key, each in more.items()}}


ALL = {"federation-upstream-set": "all"}


def between(found: Parsed) -> list[Flow]:
    """The flows that are not bindings."""
    return [flow for flow in found.flows if not flow.link.endswith(" bindings")]


def test_a_broker_is_called_and_found_by_its_cluster_name(tmp_path: Path) -> None:
    named = [{"name": "cluster_name", "value": "rabbit@Host.example"}]
    (broker,) = parsed(tmp_path, global_parameters=named, rabbitmq_version="3.10.8").brokers
    assert (broker.name, broker.kind, broker.version) == ("rabbit@Host.example", "rabbitmq", "3.10.8")
    assert broker.addresses == ("host.example:5672", "host.example:5671")
    (broker,) = parsed(tmp_path, vhosts=[]).brokers
    assert (broker.name, broker.addresses) == (str(tmp_path / "d.json"), ())


def test_a_federated_exchange_takes_from_the_same_exchange_of_its_upstream(tmp_path: Path) -> None:
    found = parsed(tmp_path, parameters=[upstream("u", uri="amqp://up", max_hops=3)], policies=[policy(ALL)])
    (flow,) = found.flows
    assert (flow.source, flow.target) == ("up:5672", str(tmp_path / "d.json"))
    assert (flow.account, flow.target_account, flow.filter) == (TOPIC, TOPIC, "#")
    assert (flow.most_hops, flow.pulls, flow.on_demand, flow.echoes) == (3, True, True, False)
    assert rules(found) == []


def test_a_federation_link_is_one_hop_long_unless_it_says_more(tmp_path: Path) -> None:
    found = parsed(tmp_path, parameters=[upstream("u", uri="amqp://up")], policies=[policy(ALL)])
    assert found.flows[0].most_hops == 1


@pytest.mark.parametrize(
    ("uri", "source", "vhost"),
    [
        ("amqp://up", "up:5672", "mine"),
        ("amqps://u@up", "up:5671", "mine"),
        ("amqp://up:99/", "up:99", "mine"),
        ("amqp://up/%2f", "up:5672", "/"),
        ("amqp://up/a%20b", "up:5672", "a%20b"),
        (["amqp://one/x", "amqp://two/x"], "one:5672 two:5672", "x"),
        ("amqp:///other", None, "other"),
        ("amqp://localhost/other", None, "other"),
        ("amqp://localhost:99/other", "localhost:99", "other"),
    ],
)
def test_a_uri_names_broker_and_vhost_of_an_upstream(
    tmp_path: Path, uri: object, source: str | None, vhost: str
) -> None:
    found = parsed(
        tmp_path, parameters=[upstream("u", "mine", uri=uri)], policies=[policy(ALL, vhost="mine")]
    )
    (flow,) = found.flows
    assert flow.source == (source or str(tmp_path / "d.json"))
    assert flow.account == f"{vhost} exchange amq.topic"


@pytest.mark.parametrize(
    ("definition", "used"),
    [
        ({"federation-upstream": "a"}, {"a"}),
        ({"federation-upstream-pattern": "^b"}, {"b", "b2"}),
        ({"federation-upstream-set": "all"}, {"a", "b", "b2"}),
        ({"federation-upstream-set": "some"}, {"a", "b"}),
        ({"federation-upstream-set": "none"}, set()),
    ],
)
def test_a_policy_chooses_upstreams(tmp_path: Path, definition: dict[str, str], used: set[str]) -> None:
    members = [{"upstream": "a"}, {"upstream": "b", "exchange": "x"}, {"upstream": "gone"}]
    parameters = [upstream(name, uri=f"amqp://{name}") for name in ("a", "b", "b2")]
    parameters.append(parameter("federation-upstream-set", "some", members))
    found = parsed(tmp_path, parameters=parameters, policies=[policy(definition)])
    assert {flow.source.partition(":")[0] for flow in found.flows} == used
    assert rules(found) == ["useless-line"] * (3 - len(used))
    if definition == {"federation-upstream-set": "some"}:
        assert [flow.account for flow in found.flows] == [TOPIC, "/ exchange x"]


def test_the_policy_of_the_highest_priority_alone_is_in_force(tmp_path: Path) -> None:
    first = policy({"max-length": "1"}, ".*", name="first", priority=9)
    found = parsed(tmp_path, parameters=[upstream("u", uri="amqp://u")], policies=[policy(ALL), first])
    assert found.flows == []
    assert rules(found) == ["useless-line", "useless-line"]
    assert "raise its priority" in found.notes[0].message


def test_internal_exchanges_and_those_of_other_vhosts_are_not_federated(tmp_path: Path) -> None:
    exchanges = [
        {"name": "x", "vhost": "/", "type": "topic", "internal": True},
        {"name": "x", "vhost": "other", "type": "topic"},
    ]
    parameters = [upstream("u", uri="amqp://u")]
    found = parsed(tmp_path, exchanges=exchanges, parameters=parameters, policies=[policy(ALL, "^x$")])
    assert found.flows == []


def test_a_policy_that_matches_no_exchange_is_a_useless_line(tmp_path: Path) -> None:
    found = parsed(tmp_path, parameters=[upstream("u", uri="amqp://u")], policies=[policy(ALL, "^nothing$")])
    assert rules(found) == ["useless-line", "useless-line"]


def test_an_exchange_that_is_its_own_upstream_gets_everything_twice(tmp_path: Path) -> None:
    found = parsed(tmp_path, parameters=[upstream("u", uri="amqp://")], policies=[policy(ALL)])
    assert found.flows == []
    assert rules(found) == ["doubled-delivery"]


def test_federated_queues_are_not_decided(tmp_path: Path) -> None:
    found = parsed(
        tmp_path,
        queues=[{"name": "q", "vhost": "/"}],
        parameters=[upstream("u", uri="amqp://u")],
        policies=[policy(ALL, "^q$", apply_to="queues")],
    )
    assert found.flows == []
    assert rules(found) == ["not-decided"]


@pytest.mark.parametrize("pattern", ["(a+)+$", "(", "(?P<x", "a*a*a*a*a*a*"])
def test_a_pattern_that_is_none_or_may_take_for_ever_is_not_decided(tmp_path: Path, pattern: str) -> None:
    exchanges = [{"name": "a" * 200 + "b", "vhost": "/", "type": "topic"}]
    known = [upstream("u", uri="amqp://b")]
    found = parsed(tmp_path, exchanges=exchanges, policies=[policy(ALL, pattern)], parameters=known)
    assert rules(found) == ["not-decided"]


def test_a_shovel_carries_what_its_key_selects_again_and_again(tmp_path: Path) -> None:
    found = parsed(
        tmp_path,
        parameters=[
            shovel(
                src_uri="amqp:///a",
                src_exchange="amq.topic",
                src_exchange_key="k.#",
                dest_uri="amqp://far/b",
                dest_exchange="x",
            )
        ],
    )
    (flow,) = found.flows
    assert (flow.source, flow.target) == (str(tmp_path / "d.json"), "far:5672")
    assert (flow.account, flow.target_account) == ("a exchange amq.topic", "b exchange x")
    assert (flow.filter, flow.becomes, flow.echoes, flow.pulls) == ("k.#", None, True, False)


@pytest.mark.parametrize(
    ("destination", "target", "becomes"),
    [
        ({"dest_exchange": "x"}, "/ exchange x", None),
        ({"dest_exchange": "x", "dest_exchange_key": "k"}, "/ exchange x", "k"),
        ({"dest_queue": "q"}, "/ queue q", "q"),
        ({}, TOPIC, None),
    ],
)
def test_where_a_shovel_puts_messages(
    tmp_path: Path, destination: dict[str, str], target: str, becomes: str | None
) -> None:
    source = {"src_uri": "amqp://far", "src_exchange": "amq.topic", "src_exchange_key": "#"}
    found = parsed(tmp_path, parameters=[shovel(**source, dest_uri="amqp://", **destination)])
    (flow,) = found.flows
    assert (flow.source, flow.pulls) == ("far:5672", True)
    assert (flow.target_account, flow.becomes) == (target, becomes)


def test_a_shovel_from_a_topic_exchange_without_a_key_is_a_useless_line(tmp_path: Path) -> None:
    found = parsed(
        tmp_path, parameters=[shovel(src_uri="amqp://", src_exchange="amq.topic", dest_uri="amqp://far")]
    )
    assert found.flows == []
    assert rules(found) == ["useless-line"]
    found = parsed(
        tmp_path, parameters=[shovel(src_uri="amqp://", src_exchange="amq.fanout", dest_uri="amqp://far")]
    )
    assert [flow.filter for flow in found.flows] == ["#"]


def test_a_shovel_from_a_queue_without_a_destination_keeps_exchange_and_key(tmp_path: Path) -> None:
    found = parsed(
        tmp_path,
        bindings=[bound("amq.topic", "q", "k.*"), bound("amq.direct", "q", "d")],
        parameters=[shovel(src_uri="amqp://", src_queue="q", dest_uri="amqp://far/v")],
    )
    assert [(flow.account, flow.filter, flow.target_account) for flow in between(found)] == [
        (TOPIC, "k.*", "v exchange amq.topic"),
        ("/ exchange amq.direct", "d", "v exchange amq.direct"),
    ]


def bound(source: str, target: str, key: str, kind: str = "queue") -> dict[str, object]:
    return {
        "source": source,
        "vhost": "/",
        "destination": target,
        "destination_type": kind,
        "routing_key": key,
    }


def routed(found: Parsed) -> set[tuple[str, str, str]]:
    return {
        (flow.account or "", flow.target_account or "", flow.filter)
        for flow in found.flows
        if flow.link.endswith(" bindings")
    }


def test_bindings_lead_on_from_exchange_to_exchange_in_one_step(tmp_path: Path) -> None:
    exchanges = [{"name": name, "vhost": "/", "type": "topic"} for name in "xyz"]
    bindings = [
        bound("x", "y", "a.#", "exchange"),
        bound("x", "y", "a.b", "exchange"),
        bound("y", "z", "*.b", "exchange"),
        bound("z", "x", "#", "exchange"),
        bound("z", "q", "#"),
    ]
    x, y, z, q = "/ exchange x", "/ exchange y", "/ exchange z", "/ queue q"
    found = parsed(tmp_path, exchanges=exchanges, bindings=bindings)
    assert routed(found) == {
        *((x, y, "a.#"), (x, z, "a.b"), (x, q, "a.b")),
        *((y, z, "*.b"), (y, x, "*.b"), (y, q, "*.b")),
        *((z, x, "#"), (z, q, "#"), (z, y, "a.#")),
    }
    assert len({flow.link for flow in found.flows}) == 1


def test_bindings_of_direct_and_fanout_exchanges_select_by_their_rules(tmp_path: Path) -> None:
    bindings = [
        bound("amq.direct", "q", "a.b"),
        bound("amq.direct", "q", "a.#"),
        bound("amq.fanout", "q", "x"),
    ]
    found = parsed(tmp_path, bindings=[*bindings, bound("amq.headers", "q", "")])
    assert routed(found) == {
        ("/ exchange amq.direct", "/ queue q", "a.b"),
        ("/ exchange amq.fanout", "/ queue q", "#"),
    }
    assert rules(found) == ["not-decided", "not-decided"]


def test_of_many_queues_only_those_of_shovels_are_followed(tmp_path: Path) -> None:
    bindings = [bound("amq.topic", f"q{number}", "#") for number in range(300)]
    taken = shovel(src_uri="amqp://", src_queue="q7", dest_uri="amqp://far", dest_queue="x")
    found = parsed(tmp_path, bindings=bindings, parameters=[taken])
    assert routed(found) == {(TOPIC, "/ queue q7", "#")}


def test_definitions_of_one_vhost_name_none(tmp_path: Path) -> None:
    found = parsed(tmp_path, bindings=[{"source": "amq.topic", "destination": "q", "routing_key": "a"}])
    assert routed(found) == {(TOPIC, "/ queue q", "a")}


def test_secrets_and_unknown_keys_are_told(tmp_path: Path) -> None:
    found = parsed(
        tmp_path,
        frob=1,
        users=[{"name": "u", "password": "hunter2"}, {"name": "v", "password_hash": "x"}],
        parameters=[
            upstream("u", uri=["amqp://u:hunter2@h", "amqp://h"], frob=1),
            upstream("v", uri="amqp://h", frob=2),
            shovel(src_uri="amqp://u:hunter2@h", src_queue="q", dest_uri="amqp://", dest_queue="r", frob=1),
            parameter("frob", "x", {}),
        ],
        policies=[policy(ALL)],
    )
    assert sorted(rules(found)) == ["secret"] * 3 + ["unknown-directive"] * 4
    assert "hunter2" not in "".join(note.message for note in found.notes)


def test_suppressions_hold_for_the_file_as_json_has_no_comments(tmp_path: Path) -> None:
    found = parsed(tmp_path, **{"meshwright-ignore": ["secret: a test", "loop"]})
    assert found.suppressions == [((str(tmp_path / "d.json"), 0), "secret", "a test")]
    assert rules(found) == ["useless-line"]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('{"vhosts": [', 1, "not JSON"),
        ('{\n"vhosts": [],\n}', 3, "not JSON"),
        ("// x\n{}", 1, "not JSON"),
        ("[]", 1, "definitions are a map"),
        ("[" * 100_000, 0, "nested too deep"),
    ],
)
def test_what_is_not_json_is_refused_with_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    (tmp_path / "d.json").write_text(text)
    found = parse(tmp_path / "d.json")
    assert [(note.rule, note.place.line) for note in found.notes] == [("unreadable", line)]
    assert words in found.notes[0].message


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (b'{"rabbit_version": "3.10.8"}', True),
        (b'\n{"bindings": [], "exchanges": []}', True),
        (b'{"mode": "router"}', False),
        (b'{"leafnodes": {}}', False),
        (b"listener 1883", False),
    ],
)
def test_definitions_are_told_by_their_beginning(text: bytes, answer: bool) -> None:
    assert looks_like(Path("x.json"), text) is answer


def test_the_settings_that_rabbitmq_takes_are_known(tmp_path: Path) -> None:
    settings = {
        **{"src-prefetch-count": 1, "src-delete-after": "never", "dest-add-timestamp-header": True},
        **{"dest-publish-properties": {}, "ack-mode": "on-confirm", "reconnect-delay": 1, "src-queue": "q"},
        **{"dest-queue": "r", "dest-add-forward-headers": True, "src-uri": "amqp://", "dest-uri": "amqp://x"},
    }
    known = {
        "prefetch_count": 1,
        "ack_mode": "no-ack",
        "trust_user_id": False,
        "expires": 1,
        "message_ttl": 1,
    }
    parameters = [parameter("shovel", "s", settings), upstream("u", uri="amqp://u", queue="q", **known)]
    assert rules(parsed(tmp_path, parameters=parameters, policies=[policy(ALL)])) == []


@pytest.mark.parametrize(
    ("definitions", "words"),
    [
        ({"vhosts": 5}, "vhosts is a number"),
        ({"parameters": {"a": 1}}, "parameters is a map"),
        ({"bindings": None}, "bindings is null"),
        ({"exchanges": [{"name": "x"}, "y"]}, "an entry of exchanges is a text"),
        ({"parameters": [parameter("shovel", "s", None)]}, "the value of the shovel 's' is null"),
        (
            {"parameters": [parameter("federation-upstream", "u", [])]},
            "the federation upstream 'u' is a list",
        ),
        ({"parameters": [parameter("federation-upstream-set", "u", {})]}, "give a list"),
        ({"parameters": [shovel(src_queue="q")]}, "has no src-uri"),
        (
            {"parameters": [shovel(src_uri="amqp://", src_queue="q", dest_uri=5)]},
            "the dest-uri of the shovel 's' is no",
        ),
        ({"policies": [{"name": "p", "pattern": "", "definition": 3}]}, "the definition of the policy 'p'"),
    ],
)
def test_definitions_of_wrong_types_are_told(tmp_path: Path, definitions: dict[str, Any], words: str) -> None:
    errors = [note for note in parsed(tmp_path, **definitions).notes if note.severity == "error"]
    assert {note.rule for note in errors} == {"unreadable"}
    assert any(words in note.message for note in errors)


def test_a_uri_that_is_none_is_told_without_its_password(tmp_path: Path) -> None:
    uri = "amqp://u:hunter2@h:port"
    found = parsed(tmp_path, parameters=[shovel(src_uri=uri, src_queue="q", dest_uri="amqp://")])
    assert {"secret", "unreadable"} <= set(rules(found))
    assert not any("hunter2" in note.message for note in found.notes)
