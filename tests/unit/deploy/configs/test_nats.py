"""NATS configurations as brokers and flows."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from meshwright.deploy.configs.nats import looks_like, parse
from meshwright.deploy.mesh import Door, Flow, Parsed

ACCOUNTS = """
accounts {
  A { users [{user: a, password: $PA}], exports [{stream: "x.>"}, {service: "q.*"}] }
  B { users [{user: b, password: $PB}], imports [%s] }
}
"""


def parsed(folder: Path, text: str) -> Parsed:
    (folder / "nats.conf").write_text(text)
    return parse(folder / "nats.conf")


def notes(found: Parsed) -> list[tuple[str, int]]:
    return [(note.rule, note.place.line) for note in found.notes]


def the_import(folder: Path, text: str) -> Flow:
    (flow,) = parsed(folder, ACCOUNTS % text).flows
    return flow


def test_a_server_without_a_name_is_called_after_its_file(tmp_path: Path) -> None:
    (broker,) = parsed(tmp_path, "port: 4222").brokers
    assert broker[:4] == (str(tmp_path / "nats.conf"), "nats", (str(tmp_path / "nats.conf"), 1), (":4222",))


def test_all_listeners_are_addresses_of_the_server(tmp_path: Path) -> None:
    text = """
    server_name: s
    listen: Example.com:4333
    leafnodes { host: 10.0.0.1, port: 7422, advertise: "pub.example:7000" }
    cluster { listen: "0.0.0.0:6222" }
    gateway { name: g, port: 7222 }
    websocket { port: 443 }
    mqtt { port: 1883 }
    """
    (broker,) = parsed(tmp_path, text).brokers
    expected = {"example.com:4333", "pub.example:7000", "10.0.0.1:7422", ":6222", ":7222", ":443", ":1883"}
    assert set(broker.addresses) == expected


def test_a_leaf_node_is_a_link_of_two_flows_that_refuses_loops(tmp_path: Path) -> None:
    text = """server_name: leaf
    leafnodes { remotes [ {
      urls: ["nats-leaf://u:$P@Hub:7000", "tls://hub2"], deny_exports: "e.>", deny_imports: [i, j] } ] }
    """
    out, back = parsed(tmp_path, text).flows
    assert (out.source, out.target, out.filter, out.denies) == ("leaf", "hub:7000 hub2:7422", ">", ("e.>",))
    assert (back.source, back.target, back.filter, back.denies) == (
        "hub:7000 hub2:7422",
        "leaf",
        ">",
        ("i", "j"),
    )
    assert out.link == back.link
    assert (out.account, out.target_account) == ("$G", None)
    assert (back.account, back.target_account) == (None, "$G")
    assert (out.pulls, back.pulls) == (False, True)
    for flow in (out, back):
        assert (flow.refuses_loops, flow.on_demand, flow.user, flow.place.line) == (True, True, "u", 2)


def test_remotes_are_links_of_their_own_in_the_accounts_they_name(tmp_path: Path) -> None:
    remotes = "{url: 'nats://h', account: X}, {url: 'nats://h', account: Y}"
    text = f"accounts {{X {{}}, Y {{}}}}\nleafnodes {{ remotes [{remotes}] }}"
    flows = parsed(tmp_path, text).flows
    assert [flow.account for flow in flows if not flow.pulls] == ["X", "Y"]
    assert len({flow.link for flow in flows}) == 2


def test_a_remote_that_is_disabled_or_for_no_account_carries_nothing(tmp_path: Path) -> None:
    text = "leafnodes { remotes [{url: 'nats://h', disabled: true}\n {url: 'nats://h', account: NONE}] }"
    found = parsed(tmp_path, text)
    assert found.flows == []
    assert notes(found) == [("useless-line", 2)]


def test_credentials_are_what_a_link_logs_in_as(tmp_path: Path) -> None:
    flows = parsed(tmp_path, "leafnodes { remotes [{url: 'nats://h', credentials: './x.creds'}] }").flows
    assert {flow.user for flow in flows} == {"./x.creds"}


@pytest.mark.parametrize(
    ("text", "ends", "names"),
    [
        ('{stream: {account: A, subject: "x.>"}}', ("A", "B"), ("x.>", "", "", None)),
        ('{stream: {account: A, subject: "x.>"}, prefix: p}', ("A", "B"), ("x.>", "x.", "p.x.", None)),
        ('{stream: {account: A, subject: "x.>"}, to: "y.z.>"}', ("A", "B"), ("x.>", "x.", "y.z.", None)),
        ('{stream: {account: A, subject: "x.*"}, to: "y.$1"}', ("A", "B"), ("x.*", "x.", "y.", None)),
        ('{stream: {account: A, subject: "x.1"}, to: "y"}', ("A", "B"), ("x.1", "", "", "y")),
        ('{service: {account: A, subject: "q.*"}}', ("B", "A"), ("q.*", "", "", None)),
        ('{service: {account: A, subject: "q.*"}, to: "r.s.*"}', ("B", "A"), ("r.s.*", "r.s.", "q.", None)),
        ('{service: {account: A, subject: "q.1"}, to: "r"}', ("B", "A"), ("r", "", "", "q.1")),
    ],
)
def test_imports_are_flows_inside_the_server(
    tmp_path: Path, text: str, ends: tuple[str, str], names: tuple[str, str, str, str | None]
) -> None:
    flow = the_import(tmp_path, text)
    assert flow.source == flow.target
    assert (flow.account, flow.target_account) == ends
    assert (flow.filter, flow.strip, flow.add, flow.becomes) == names


def test_services_come_before_routes_and_streams_after_them(tmp_path: Path) -> None:
    service = the_import(tmp_path, '{service: {account: A, subject: "q.*"}}')
    stream = the_import(tmp_path, '{stream: {account: A, subject: "x.>"}}')
    route = parsed(tmp_path, "cluster {port: 1, routes [nats://h:1]}").flows[0]
    assert service.stage < route.stage < stream.stage


@pytest.mark.parametrize(
    "text",
    [
        '{stream: {account: A, subject: "y.>"}}',
        '{stream: {account: A, subject: ">"}}',
        '{service: {account: A, subject: "x.1"}}',
        '{stream: {account: C, subject: "x.>"}}',
    ],
)
def test_an_import_of_what_is_not_exported_is_refused_as_by_the_server(tmp_path: Path, text: str) -> None:
    found = parsed(tmp_path, ACCOUNTS % text)
    assert found.flows == []
    assert notes(found) == [("useless-line", 4)]


def test_an_export_to_some_accounts_is_for_them_alone(tmp_path: Path) -> None:
    text = """accounts {
      A { exports [{stream: "x", accounts: [C]}] }
      B { imports [{stream: {account: A, subject: "x"}}] }
      C { imports [{stream: {account: A, subject: "x"}}] }
    }"""
    found = parsed(tmp_path, text)
    assert [flow.target_account for flow in found.flows] == ["C"]
    assert notes(found) == [("useless-line", 3)]


def test_an_import_that_moves_words_is_not_decided(tmp_path: Path) -> None:
    text = """accounts { A { exports [{stream: "x.*.*"}] }
    B { imports [{stream: {account: A, subject: "x.*.*"}, to: "y.$2.$1"}] } }"""
    found = parsed(tmp_path, text)
    assert found.flows == []
    assert notes(found) == [("not-decided", 2)]


@pytest.mark.parametrize(
    ("text", "doors"),
    [
        ("leafnodes {port: 1}", [Door(None, "$G")]),
        ("authorization {user: u, password: $P}", [Door("u", "$G")]),
        ("authorization {token: $T}", [Door(None, "$G")]),
        ("accounts {A {users [{user: a}, {nkey: UABC}]}}", [Door("a", "A"), Door("UABC", "A")]),
        ("accounts {A {users [{user: a}]}}\nno_auth_user: a", [Door("a", "A"), Door(None, "A")]),
        (
            "accounts {A {users [{user: a}]}}\n"
            "leafnodes {authorization {users [{user: l, account: A}, {user: m}]}}",
            [Door("l", "A"), Door("m", "$G")],
        ),
        ("accounts {A {}}\nleafnodes {authorization {user: l, account: A}}", [Door("l", "A")]),
        (
            "authorization {users [{user: u, permissions {"
            "publish: {allow: ['p.>'], deny: 'p.x'}, subscribe: 's'}}]}",
            [Door("u", "$G", ("p.>",), ("s",), ("p.x",), ())],
        ),
        (
            "authorization {default_permissions {publish: p}\n"
            "users [{user: u}, {user: v, permissions {pub: q}}]}",
            [Door("u", "$G", ("p",)), Door("v", "$G", ("q",))],
        ),
        ("accounts {S {users [{user: s}]}}\nsystem_account: S", [Door("s", "S"), Door(None, "$G")]),
        ("accounts {S {users [{user: s}]}, A {}}\nsystem_account: S", [Door("s", "S")]),
        ("operator: /x.jwt", []),
    ],
)
def test_users_are_the_doors_through_which_leaf_nodes_come(
    tmp_path: Path, text: str, doors: list[Door]
) -> None:
    (broker,) = parsed(tmp_path, text).brokers
    assert list(broker.doors) == doors


def test_routes_and_gateways_are_one_mesh(tmp_path: Path) -> None:
    text = """server_name: s
    cluster { name: c, routes [nats://u:$P@n2:6222, "nats://n3:6222"] }
    gateway { name: c, gateways [
      {name: c, url: "nats://me:7222"}, {name: d, urls: ["nats://d1:7222", "nats://d2:7222"]}] }
    """
    flows = parsed(tmp_path, text).flows
    assert [flow.target for flow in flows if not flow.pulls] == ["n2:6222", "n3:6222", "d1:7222 d2:7222"]
    assert [flow.source for flow in flows if flow.pulls] == ["n2:6222", "n3:6222", "d1:7222 d2:7222"]
    assert all(flow.meshed and flow.account is None for flow in flows)


def test_an_unknown_directive_is_told_once_and_a_variable_is_none(tmp_path: Path) -> None:
    text = "MY_PORT: 1\nport: $MY_PORT\nPort: 2\nfrob: 1\n"
    text += "leafnodes { frob: 1\n remotes [{url: a, x: 1}\n {url: b, x: 2}] }"
    found = parsed(tmp_path, text)
    assert notes(found) == [("unknown-directive", 4), ("unknown-directive", 5), ("unknown-directive", 6)]


def test_secrets_are_told_without_being_repeated(tmp_path: Path) -> None:
    text = """
    authorization { user: u, password: hunter2 }
    accounts { A { users [ {user: a, password: "$2a$11$hash"}
      {user: b, password: $FROM_OUTSIDE} ] } }
    leafnodes { remotes [ {url: "nats://u:hunter2@h"}
      {url: "nats://u@h", seed: SUAHUNTER2} ] }
    cluster { routes [
      nats://r:hunter2@h:1
    ] }
    """
    found = parsed(tmp_path, text)
    assert sorted(notes(found)) == [("secret", 2), ("secret", 5), ("secret", 6), ("secret", 8)]
    assert "hunter2" not in "".join(note.message for note in found.notes).lower()


@pytest.mark.parametrize(
    "text",
    [
        "mappings { a: b }",
        "accounts { A { mappings { a: b } } }",
        "leafnodes { port: 1, isolate: true }",
        "cluster { port: 1, permissions { import: x } }",
        "leafnodes { remotes [{url: $HUB}] }",
        "listen: $LISTEN",
    ],
)
def test_what_is_not_followed_is_told(tmp_path: Path, text: str) -> None:
    assert notes(parsed(tmp_path, text)) == [("not-decided", 1)]


def test_a_subject_that_is_none_is_told_and_left_out(tmp_path: Path) -> None:
    found = parsed(tmp_path, "leafnodes { remotes [{url: 'nats://h', deny_exports: ['a..b', 'a.*']}] }")
    assert found.flows[0].denies == ("a.*",)
    assert notes(found) == [("useless-line", 1)]
    assert "a word is empty" in found.notes[0].message


def test_unknown_directives_of_users_and_permissions_are_told(tmp_path: Path) -> None:
    text = """
    accounts { A { users [{user: a, password: $P, typo1: 1, permissions: {publish: {typo2: x}}}] } }
    authorization { typo3: 1, default_permissions: {typo4: x} }
    leafnodes { authorization { users: [{user: a, password: $P, account: A}, {typo5: 1}] } }
    """
    unknown = [note for note in parsed(tmp_path, text).notes if note.rule == "unknown-directive"]
    assert [next(w for w in note.message.split() if "typo" in w)[1:6] for note in unknown] == [
        f"typo{number}" for number in (5, 3, 4, 1, 2)
    ]


def test_a_remote_that_acts_as_hub_is_not_decided(tmp_path: Path) -> None:
    found = parsed(tmp_path, 'leafnodes { remotes: [{url: "nats://b:7422", hub: true}] }')
    assert (found.flows, notes(found)) == ([], [("not-decided", 1)])


def test_suppressions_are_comments_with_a_reason(tmp_path: Path) -> None:
    text = "port: 1 # meshwright: ignore loop: by hand\n// meshwright: ignore secret: a test\n"
    text += "# meshwright: ignore loop\n"
    found = parsed(tmp_path, text)
    file = str(tmp_path / "nats.conf")
    assert found.suppressions == [((file, 1), "loop", "by hand"), ((file, 2), "secret", "a test")]
    assert notes(found) == [("useless-line", 3)]


def test_a_file_that_can_not_be_read_is_one_note(tmp_path: Path) -> None:
    found = parsed(tmp_path, "leafnodes {")
    assert found.brokers == []
    assert notes(found) == [("unreadable", 1)]
    assert notes(parse(tmp_path / "none.conf")) == [("unreadable", 0)]


def test_included_files_belong_to_the_server(tmp_path: Path) -> None:
    (tmp_path / "leaf.conf").write_text("leafnodes { port: 7422 }\n")
    found = parsed(tmp_path, "include leaf.conf\n")
    assert found.included == (str(tmp_path / "leaf.conf"),)
    assert ":7422" in found.brokers[0].addresses


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (b"# hub\nserver_name: hub\n", True),
        (b'{"leafnodes": {"port": 1}}', True),
        (b"leafnodes {\n", True),
        (b"port: 4222\n", True),
        (b"port 1883\nallow_anonymous true\n", False),
        (b"connection b\naddress h:1883\ntopic # both\n", False),
        (b"", False),
    ],
)
def test_a_configuration_is_told_by_its_beginning(text: bytes, answer: bool) -> None:
    assert looks_like(Path("x.conf"), text) is answer


def _importing(kind: str, *imports: tuple[str, str, str]) -> str:
    """Accounts that export `x.>` and import a subject from each other, one a line."""
    rows = "\n".join(
        f'  {name} {{ exports [{{{kind}: "x.>"}}], imports [{{{kind}: {{account: {other}, {more}}}}}] }}'
        for name, other, more in imports
    )
    return f"accounts {{\n{rows}\n}}\n"


CYCLES = {
    "two": [("A", "B", 'subject: "x.>"'), ("B", "A", 'subject: "x.>"')],
    "three": [("A", "B", 'subject: "x.>"'), ("B", "C", 'subject: "x.>"'), ("C", "A", 'subject: "x.a"')],
}
NO_CYCLES = {
    "apart": [("A", "B", 'subject: "x.a"'), ("B", "A", 'subject: "x.b"')],
    "a tree": [("A", "B", 'subject: "x.>"'), ("B", "C", 'subject: "x.>"'), ("C", "D", 'subject: "x.>"')],
    "itself": [("A", "A", 'subject: "x.>"')],
}


def _starts(file: Path) -> bool:
    server = shutil.which("nats-server", path=os.path.dirname(sys.executable))
    assert server is not None
    return subprocess.run([server, "-t", "-c", file], capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("kind", ["stream", "service"])
@pytest.mark.parametrize("case", CYCLES)
def test_a_cycle_of_imports_is_one_error_since_the_server_does_not_start(
    tmp_path: Path, kind: str, case: str
) -> None:
    found = parsed(tmp_path, _importing(kind, *CYCLES[case]))
    (note,) = found.notes
    assert (note.rule, note.severity, note.place.line) == ("unreadable", "error", 2)
    assert "nats-server does not start" in note.message
    for line, (name, other, _) in enumerate(CYCLES[case], 2):
        assert f"'{name}' imports from '{other}' (line {line})" in note.message
    assert found.flows == []
    assert not _starts(tmp_path / "nats.conf")


@pytest.mark.parametrize("kind", ["stream", "service"])
@pytest.mark.parametrize("case", NO_CYCLES)
def test_imports_that_do_not_lead_back_are_no_cycle(tmp_path: Path, kind: str, case: str) -> None:
    text = _importing(kind, *NO_CYCLES[case]).replace(
        "\n}\n", f'\n  D {{ exports [{{{kind}: "x.>"}}] }}\n}}\n'
    )
    found = parsed(tmp_path, text)
    assert found.notes == []
    assert len(found.flows) == len(NO_CYCLES[case])
    assert _starts(tmp_path / "nats.conf")


def test_a_cycle_under_new_names_is_a_warning_since_the_server_starts_at_times(tmp_path: Path) -> None:
    imports = [("A", "B", 'subject: "x.a"'), ("B", "A", 'subject: "x.>"}, prefix: "x"')]
    text = _importing("stream", *imports).replace('"x"}}', '"x"}')
    found = parsed(tmp_path, text)
    (note,) = found.notes
    assert (note.rule, note.severity) == ("unreadable", "warning")
    assert "may not start" in note.message
    assert len(found.flows) == 2


def test_imports_in_number_are_looked_at_in_short_time(tmp_path: Path) -> None:
    names = [f"A{number}" for number in range(40)]
    accounts = [
        f"{name} {{ exports [{{stream: '>'}}], imports ["
        + ", ".join(
            f"{{stream: {{account: {other}, subject: '{name}.{other}'}}}}" for other in names if other != name
        )
        + "] }"
        for name in names
    ]
    begin = time.process_time()
    assert parsed(tmp_path, "accounts {\n" + "\n".join(accounts) + "\n}\n").notes == []
    assert time.process_time() - begin < 15


@pytest.mark.parametrize(
    "text",
    [
        "leafnodes { remotes [{url: 'nats://b:bad'}] }",
        "leafnodes { remotes [{urls: []}] }",
        "leafnodes { remotes [{account: A}] }, accounts {A {}}",
        "leafnodes { remotes [{urls: ['nats://a b:7422', 'nats://c:1']}] }",
        "cluster { port: 1, routes: ['nats://c2:xx'] }",
    ],
)
def test_a_link_without_a_url_that_can_be_read_is_told(tmp_path: Path, text: str) -> None:
    found = parsed(tmp_path, text)
    assert notes(found) == [("unreadable", 1)]
    assert "nats-server does not start" in found.notes[0].message


@pytest.mark.parametrize(
    "text",
    [
        'jetstream { key: "geheim" }',
        'jetstream { store_dir: "/x", prev_encryption_key: "geheim" }',
        "resolver: URL(http://u:geheim@h:9090/jwt/)",
        'remote_syslog: "udp://u:geheim@h:514"',
    ],
)
def test_keys_of_stores_and_passwords_in_any_url_are_told(tmp_path: Path, text: str) -> None:
    found = parsed(tmp_path, text)
    assert [note.rule for note in found.notes] == ["secret"]
    assert "geheim" not in found.notes[0].message


@pytest.mark.parametrize(
    "text",
    [
        "cluster: 5",
        'gateway: "x"',
        "leafnodes: []",
        "authorization: 7",
        'port: "4222"',
        'leafnodes { remotes: { url: "nats://h:1" } }',
        'leafnodes { remotes: [ { url: "nats://h:1" }, { urls: ["nats://h:1"] } ] }',
        "leafnodes { port: 1 }\ngateway { name: a, port: 2 }",
    ],
)
def test_what_the_server_does_not_start_with_is_an_error(tmp_path: Path, text: str) -> None:
    assert ("unreadable", "error") in [(note.rule, note.severity) for note in parsed(tmp_path, text).notes]


def test_accounts_may_be_a_list_and_remotes_may_share_addresses(tmp_path: Path) -> None:
    remotes = '{ urls: ["nats://a:1", "nats://b:1"] }, { url: "nats://b:1" }'
    text = f"accounts: []\nleafnodes {{ remotes: [ {remotes} ] }}"
    assert "unreadable" not in [note.rule for note in parsed(tmp_path, text).notes]


_EXPORTING = 'A { exports: [ { stream: "y.>" }, { service: "q" } ] }'


@pytest.mark.parametrize(
    "imports",
    [
        '{ stream: { account: A, subject: "y.>" } }, { stream: { account: A, subject: "y.>" }, prefix: p }',
        '{ service: { account: A, subject: "q" } }, { service: { account: A, subject: "q" } }',
    ],
)
def test_an_import_that_stands_twice_is_an_error(tmp_path: Path, imports: str) -> None:
    found = parsed(tmp_path, f"accounts {{\n{_EXPORTING}\nB {{ imports: [ {imports} ] }}\n}}")
    assert [note.rule for note in found.notes] == ["unreadable"]
    assert "twice" in found.notes[0].message


def test_an_unclosed_include_shows_its_first_line_alone(tmp_path: Path) -> None:
    text = 'include "users.conf\nauthorization { password: geheim }\nlisten: "h:1"\n'
    assert not any("geheim" in note.message for note in parsed(tmp_path, text).notes)


def test_a_key_that_stands_twice_is_told_where_it_does_not_count(tmp_path: Path) -> None:
    found = parsed(tmp_path, "server_name: a\nport: 4222\nserver_name: b\nleafnodes {port: 1\nport: 2}\n")
    assert notes(found) == [("useless-line", 1), ("useless-line", 4)]
    assert found.brokers[0].name == "b"


def test_a_variable_or_an_included_key_may_stand_again(tmp_path: Path) -> None:
    (tmp_path / "more.conf").write_text("port: 4222\n")
    text = "include more.conf\nport: 4223\nP: 1\nleafnodes {port: $P}\nP: 2\nmax_payload: $P\n"
    assert notes(parsed(tmp_path, text)) == []
