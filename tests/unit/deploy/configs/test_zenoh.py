"""Zenoh configurations as brokers and flows."""

import json
from pathlib import Path

import pytest

from meshwright.deploy.configs.zenoh import looks_like, parse
from meshwright.deploy.mesh import Broker, Parsed


def parsed(folder: Path, text: str) -> Parsed:
    (folder / "router.json5").write_text(text)
    return parse(folder / "router.json5")


def router(folder: Path, text: str) -> Parsed:
    return parsed(folder, f'{{mode: "router", {text}}}')


def broker_of(found: Parsed) -> Broker:
    (broker,) = found.brokers
    return broker


def notes(found: Parsed) -> list[tuple[str, int]]:
    return [(note.rule, note.place.line) for note in found.notes]


def controlled(default: str, *rules: dict[str, object], subject: dict[str, object] | None = None) -> str:
    """Access control in which rules hold for one subject."""
    named = [{"id": str(number), "messages": ["put"], **rule} for number, rule in enumerate(rules)]
    control = {
        "enabled": True,
        "default_permission": default,
        "rules": named,
        "subjects": [{"id": "them", **(subject or {})}],
        "policies": [{"rules": [rule["id"] for rule in named], "subjects": ["them"]}],
    }
    return f'access_control: {json.dumps(control)}, connect: {{endpoints: ["tcp/h:1"]}}'


@pytest.mark.parametrize(
    ("listen", "addresses"),
    [
        ("", (":7447",)),
        ('listen: {endpoints: ["tcp/[::]:7000", "udp/Host:7001?rel=1#iface=lo"]}', (":7000", "host:7001")),
        ('listen: {endpoints: {router: ["tls/h:1"], peer: ["tcp/h:2"]}}', ("h:1",)),
        ('listen: {endpoints: ["unixsock-stream//run/z", "tcp/h:0"]}', ()),
    ],
)
def test_listeners_are_addresses(tmp_path: Path, listen: str, addresses: tuple[str, ...]) -> None:
    assert broker_of(router(tmp_path, listen)).addresses == addresses


def test_each_endpoint_of_a_router_is_a_link_that_delivers_once(tmp_path: Path) -> None:
    found = router(tmp_path, 'metadata: {name: "r"},\nconnect: {endpoints: ["tcp/a:1",\n"tls/b:2#x=y"]}')
    assert [(flow.source, flow.target, flow.place.line) for flow in found.flows] == [
        ("r", "a:1", 2),
        ("a:1", "r", 2),
        ("r", "b:2", 3),
        ("b:2", "r", 3),
    ]
    assert all(flow.once and flow.on_demand and flow.filter == "**" for flow in found.flows)
    assert [flow.pulls for flow in found.flows] == [False, True, False, True]
    assert len({flow.link for flow in found.flows}) == 2


def test_a_client_is_connected_to_one_of_its_endpoints(tmp_path: Path) -> None:
    found = parsed(tmp_path, '{mode: "client", connect: {endpoints: ["tcp/a:1", "tcp/b:1"]}}')
    assert [flow.target for flow in found.flows if not flow.pulls] == ["a:1 b:1"]


def test_of_a_group_of_locators_one_is_in_use(tmp_path: Path) -> None:
    text = 'connect: {endpoints: [{strategy: "any", locators: ["tcp/a:1", "tcp/b:1"]}]}'
    assert router(tmp_path, text).flows[0].target == "a:1 b:1"


@pytest.mark.parametrize(
    ("text", "relays"),
    [
        ('{mode: "router"}', True),
        ('{mode: "peer"}', False),
        ('{mode: "client"}', False),
        ("{}", False),
        ('{routing: {peer: {mode: "linkstate"}}}', False),
    ],
)
def test_routers_relay_and_peers_and_clients_do_not(tmp_path: Path, text: str, relays: bool) -> None:
    assert broker_of(parsed(tmp_path, text)).relays is relays


@pytest.mark.parametrize(
    ("text", "gossips"),
    [
        ("{}", True),
        ('{mode: "router"}', False),
        ('{mode: "client"}', False),
        ("{scouting: {gossip: {enabled: false}}}", False),
        ("{scouting: {gossip: {autoconnect: {peer: []}}}}", False),
        ('{scouting: {gossip: {autoconnect: {peer: ["router"]}}}}', False),
        ('{scouting: {gossip: {autoconnect: ["peer"]}}}', True),
    ],
)
def test_peers_gossip_unless_it_is_switched_off(tmp_path: Path, text: str, gossips: bool) -> None:
    assert broker_of(parsed(tmp_path, text)).gossips is gossips


def test_links_that_no_file_names_are_not_decided(tmp_path: Path) -> None:
    assert notes(parsed(tmp_path, "{}")) == [("not-decided", 1)]
    assert notes(parsed(tmp_path, "{scouting: {multicast: {enabled: false}}}")) == []
    assert notes(router(tmp_path, "")) == []
    assert notes(router(tmp_path, 'scouting: {multicast: {autoconnect: {router: ["router"]}}}')) == [
        ("not-decided", 1)
    ]


def test_what_access_control_denies_does_not_cross(tmp_path: Path) -> None:
    rules = controlled("allow", {"permission": "deny", "flows": ["egress"], "key_exprs": ["a/**", "b"]})
    found = router(tmp_path, rules)
    out, back = found.flows
    assert (out.filter, out.denies, back.denies) == ("**", ("a/**", "b"), ())
    (door,) = broker_of(found).doors
    assert (door.takes, door.gives, door.takes_not, door.gives_not) == (None, None, (), ("a/**", "b"))


def test_where_access_is_denied_only_what_rules_allow_crosses(tmp_path: Path) -> None:
    allow = {"permission": "allow", "flows": ["ingress"], "key_exprs": ["a/**", "b"]}
    found = router(tmp_path, controlled("deny", allow, {"permission": "deny", "key_exprs": ["a/x"]}))
    assert [(flow.filter, flow.denies) for flow in found.flows if flow.pulls] == [
        ("a/**", ("a/x",)),
        ("b", ("a/x",)),
    ]
    assert [flow for flow in found.flows if not flow.pulls] == []
    assert broker_of(found).doors[0].gives == ()


def test_rules_for_some_links_alone_are_not_decided_and_limit_nothing(tmp_path: Path) -> None:
    allow = {"permission": "allow", "key_exprs": ["a"]}
    found = router(tmp_path, controlled("deny", allow, subject={"interfaces": ["eth0"]}))
    assert notes(found) == [("not-decided", 1)]
    assert [flow.filter for flow in found.flows] == ["**", "**"]


@pytest.mark.parametrize("off", ["enabled: false", ""])
def test_access_control_that_is_off_limits_nothing(tmp_path: Path, off: str) -> None:
    assert broker_of(router(tmp_path, f"access_control: {{{off}}}")).doors == ()


def test_a_namespace_changes_nothing_for_a_router(tmp_path: Path) -> None:
    text = 'connect: {endpoints: ["tcp/a:1"]}'
    named = router(tmp_path, f'namespace: "ns", {text}').flows
    assert named == router(tmp_path, text).flows


def test_secrets_unknown_keys_and_suppressions_are_told(tmp_path: Path) -> None:
    text = """// meshwright: ignore secret: a test
    {
      mode: "router",
      frob: 1,
      connect: { endpoint: [] }, /* meshwright: ignore loop: two
         lines */
      transport: { auth: { usrpwd: { user: "u", password: "hunter2" } },
        link: { tls: { connect_private_key_base64: "hunter2" } } },
      plugins: { anything: { goes: 1, private: { password: "hunter2" } } },
    }"""
    found = parsed(tmp_path, text)
    expected = [
        ("secret", 7),
        ("secret", 8),
        ("secret", 9),
        ("unknown-directive", 4),
        ("unknown-directive", 5),
    ]
    assert sorted(notes(found)) == expected
    assert "hunter2" not in "".join(note.message for note in found.notes)
    file = str(tmp_path / "router.json5")
    assert found.suppressions == [((file, 1), "secret", "a test"), ((file, 5), "loop", "two lines")]


@pytest.mark.parametrize(
    ("text", "line"), [("{mode: 'router',\n connect: {", 2), ("[]", 1), ("{mode: 'rooter'}", 1), ("", 1)]
)
def test_what_zenoh_would_not_read_is_told_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    assert ("unreadable", line) in notes(parsed(tmp_path, text))


def test_an_endpoint_without_host_and_port_is_not_decided(tmp_path: Path) -> None:
    found = router(tmp_path, 'connect: {endpoints: ["unixsock-stream//run/z", "serial//dev/tty"]}')
    assert found.flows == []
    assert notes(found) == [("not-decided", 1), ("not-decided", 1)]


@pytest.mark.parametrize(
    ("name", "text", "answer"),
    [
        ("x.json5", b"", True),
        ("x.json", b'{"mode": "router"}', True),
        ("x.conf", b"{\n  connect: {\n // here\n endpoints: [] } }", True),
        ("x.conf", b"leafnodes { port: 1 }\nlisten: 0.0.0.0:4222\n", False),
        ("x.json", b'{"rabbit_version": "3", "vhosts": []}', False),
        ("x.conf", b"listener 1883\nconnection x\n", False),
    ],
)
def test_a_configuration_is_told_by_its_beginning(name: str, text: bytes, answer: bool) -> None:
    assert looks_like(Path(name), text) is answer


@pytest.mark.parametrize(
    "text",
    [
        'connect: "tcp/h:1"',
        "connect: {endpoints: 5}",
        'connect: {endpoints: "tcp/h:1"}',
        "connect: {endpoints: [5]}",
        'connect: {endpoints: {router: "tcp/h:1"}}',
        'connect: {endpoints: [{strategy: "one", locators: [5]}]}',
        'listen: {endpoints: ["h:1"]}',
        "scouting: {multicast: 1}",
        "access_control: {rules: {}}",
        "access_control: {rules: [1]}",
    ],
)
def test_a_value_of_another_type_than_zenoh_reads_is_an_error(tmp_path: Path, text: str) -> None:
    assert ("unreadable", 1) in notes(router(tmp_path, text))


def test_endpoints_by_mode_and_in_groups_are_of_the_right_type(tmp_path: Path) -> None:
    group = '{strategy: "any", locators: ["tcp/h:1", "tcp/h:2"]}'
    assert notes(router(tmp_path, f'connect: {{endpoints: {{router: [{group}, "tcp/h:3"]}}}}')) == []
