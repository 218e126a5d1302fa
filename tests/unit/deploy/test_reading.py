import json
import os
import re
from pathlib import Path

import pytest

from meshwright.deploy.inventory import Entry, read_inventory
from meshwright.deploy.reading import read_mesh
from meshwright.runtime.errors import InputError


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _bridge(address: str) -> str:
    return f"connection x\naddress {address}\ntopic # out\n"


def _targets(*paths: Path, inventory: list[Entry] | None = None) -> list[str]:
    return [flow.target for flow in read_mesh(paths, inventory or []).flows]


def test_brokers_are_called_after_their_files_or_their_folders(tmp_path: Path) -> None:
    _write(tmp_path / "north.conf", "listener 1883\n")
    _write(tmp_path / "south/mosquitto.conf", "listener 1883\n")
    assert {broker.name for broker in read_mesh([tmp_path]).brokers} == {"north", "south"}


def test_brokers_of_one_name_are_told_apart(tmp_path: Path) -> None:
    files = [_write(tmp_path / place / "hub.conf", "listener 1883\n") for place in "xy"]
    assert {broker.name for broker in read_mesh([tmp_path]).brokers} == set(map(str, files))


@pytest.mark.parametrize("address", ["127.0.0.1:1884", "localhost:1884", "b", "B.example.org"])
def test_an_address_leads_to_a_broker_by_loopback_port_or_by_name(tmp_path: Path, address: str) -> None:
    _write(tmp_path / "a.conf", "listener 1885\n" + _bridge(address))
    _write(tmp_path / "b.conf", "listener 1884\nlistener 1883\n")
    assert _targets(tmp_path) == ["b"]


@pytest.mark.parametrize("address", ["cloud.example.org:1884", "10.0.0.7:1884", "127.0.0.1:1999"])
def test_an_address_that_only_shares_a_port_is_not_guessed(tmp_path: Path, address: str) -> None:
    _write(tmp_path / "a.conf", "listener 1885\n" + _bridge(address))
    _write(tmp_path / "b.conf", "listener 1884\n")
    mesh = read_mesh([tmp_path])
    assert mesh.flows[0].target == address
    assert [(note.rule, note.severity) for note in mesh.notes] == [("unknown-broker", "note")]


def _rabbit(host: str, uri: str) -> str:
    exchange = {"name": "x", "vhost": "/", "type": "topic", "durable": True}
    policy = {"name": "p", "vhost": "/", "pattern": "x", "definition": {"federation-upstream": "u"}}
    upstream = {"name": "u", "vhost": "/", "component": "federation-upstream", "value": {"uri": uri}}
    cluster = {"name": "cluster_name", "value": f"rabbit@{host}"}
    parts = {"exchanges": [exchange], "policies": [policy], "parameters": [upstream]}
    return json.dumps({"global_parameters": [cluster], "vhosts": [{"name": "/"}]} | parts)


@pytest.mark.parametrize(
    ("host", "address", "is_found"),
    [
        ("north", "north.example.org", True),
        ("north.example.org", "north", True),
        ("north.example.org", "north.example.com", False),
        ("north", "northern.example.org", False),
    ],
)
def test_a_host_is_found_with_and_without_its_domain(
    tmp_path: Path, host: str, address: str, is_found: bool
) -> None:
    _write(tmp_path / "n.json", _rabbit(host, "amqp://elsewhere.example.net"))
    _write(tmp_path / "s.json", _rabbit("south", f"amqp://{address}"))
    sources = {flow.source for flow in read_mesh([tmp_path]).flows if "south" in flow.target}
    assert (f"rabbit@{host}" in sources) is is_found


@pytest.mark.parametrize("again", ["10.0.0.2:1883", "10.0.0.2:1883 10.0.0.2:1883"])
def test_an_address_that_is_given_twice_is_one_address(tmp_path: Path, again: str) -> None:
    _write(tmp_path / "a.conf", "listener 1883\n" + _bridge("10.0.0.2"))
    _write(tmp_path / "b.conf", "listener 1883 10.0.0.2\n")
    entry = Entry("b", addresses=tuple(again.split()))
    assert [flow.target for flow in read_mesh([tmp_path], [entry]).flows if flow.source == "a"] == ["b"]


def test_a_link_that_leads_to_itself_is_told(tmp_path: Path) -> None:
    _write(tmp_path / "a.conf", "listener 1883\n")
    (tmp_path / "loop.conf").symlink_to("loop.conf")
    mesh = read_mesh([tmp_path])
    assert [broker.name for broker in mesh.brokers] == ["a"]
    assert [(note.rule, Path(note.place.file).name) for note in mesh.notes] == [("unreadable", "loop.conf")]


def test_a_folder_that_can_not_be_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As root, every folder can be read: so the system says no in another way."""
    _write(tmp_path / "a.conf", "listener 1883\n")
    _write(tmp_path / "closed" / "b.conf", "listener 1884\n")
    scandir = os.scandir

    def refusing(path: str) -> object:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    mesh = read_mesh([tmp_path])
    assert [(note.rule, Path(note.place.file).name) for note in mesh.notes] == [("unreadable", "closed")]


def test_access_control_lists_are_no_brokers(tmp_path: Path) -> None:
    _write(tmp_path / "a.conf", "listener 1883\nacl_file acl.conf\n")
    _write(tmp_path / "acl.conf", "# who may what\nuser kitchen\ntopic read plant/#\npattern write $SYS/%c\n")
    mesh = read_mesh([tmp_path])
    assert ([broker.name for broker in mesh.brokers], mesh.notes) == (["a"], [])


def test_a_loopback_port_that_is_its_own_is_the_broker_itself(tmp_path: Path) -> None:
    for name in "ab":
        _write(tmp_path / f"{name}.conf", "listener 1883\n" + _bridge("127.0.0.1"))
    assert sorted(_targets(tmp_path)) == ["a", "b"]


def test_of_several_addresses_the_first_that_is_known_counts(tmp_path: Path) -> None:
    _write(tmp_path / "a.conf", "listener 1885\n" + _bridge("elsewhere b:1884 c:1884"))
    for name in "bc":
        _write(tmp_path / f"{name}.conf", "listener 1884\n")
    assert _targets(tmp_path) == ["b"]


def test_the_inventory_names_files_addresses_and_brokers_without_files(tmp_path: Path) -> None:
    _write(tmp_path / "one.conf", "listener 1885\n" + _bridge("10.0.0.7:8883"))
    rows = [{"name": "north", "files": ["one.conf"]}, {"name": "cloud", "addresses": ["10.0.0.7:8883"]}]
    entries = read_inventory(_write(tmp_path / "inventory.json", json.dumps({"brokers": rows})))
    assert _targets(tmp_path / "one.conf", inventory=entries) == ["cloud"]
    assert {broker.name for broker in read_mesh([tmp_path], entries).brokers} == {"north", "cloud"}


def test_an_included_file_is_no_broker_of_its_own(tmp_path: Path) -> None:
    _write(tmp_path / "a.conf", "include_dir conf.d\n")
    _write(tmp_path / "conf.d/bridge.conf", _bridge("elsewhere"))
    assert [broker.name for broker in read_mesh([tmp_path]).brokers] == ["a"]


def test_a_path_that_does_not_exist_and_a_folder_without_configurations_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_mesh([tmp_path / "nowhere"])
    _write(tmp_path / "notes.txt", "hello\n")
    with pytest.raises(InputError, match="no configuration"):
        read_mesh([tmp_path])


def test_a_named_file_of_no_known_format_is_told(tmp_path: Path) -> None:
    known = _write(tmp_path / "a.conf", "listener 1883\n")
    other = _write(tmp_path / "notes.txt", "hello\n")
    assert [note.rule for note in read_mesh([known, other]).notes] == ["unreadable"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "can't be read"),
        ("[]", "no list of brokers"),
        ('{"brokers": [{}]}', "no name"),
        ('{"brokers": [{"name": "a", "file": []}]}', "files"),
        ('{"brokers": [{"name": "a", "files": "a.conf"}]}', "a list of texts"),
        ('{"brokers": [{"name": "a", "version": 2}]}', "a text"),
        ('{"brokers": [{"name": "a", "kind": "kafka"}]}', "mosquitto"),
        ('{"brokers": [{"name": "a"}, {"name": "a"}]}', "two brokers"),
    ],
)
def test_an_inventory_of_another_form_is_refused_with_what_to_write(
    tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(InputError, match=words):
        read_inventory(_write(tmp_path / "inventory.json", text))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (_bridge("a").encode("utf-16"), "byte 1 is not UTF-8"),
        (bytes(range(128, 256)), "byte 1 is not UTF-8"),
        (b"listner 1884\n", "no configuration that lint knows"),
        (b"", "empty"),
        (b" \n\n", "empty"),
    ],
)
@pytest.mark.parametrize("name", ["b.conf", "b.cfg", "b.JSON"])
def test_a_file_of_a_folder_that_ends_like_a_configuration_and_is_none_is_told(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    _write(tmp_path / "a.conf", "listener 1883\n")
    (tmp_path / name).write_bytes(content)
    (note,) = read_mesh([tmp_path]).notes
    assert (note.rule, note.severity, note.place) == ("unreadable", "warning", (str(tmp_path / name), 0))
    assert words in note.message


def test_other_files_of_a_folder_are_passed_over(tmp_path: Path) -> None:
    _write(tmp_path / "a.conf", "listener 1883\n")
    _write(tmp_path / "inventory.json", '{\n "brokers": []}')
    for name in ("README.md", "ca.pem", "values.yaml", "passwords", "empty.txt"):
        (tmp_path / name).write_bytes(b"\xff\xfe hello")
    assert read_mesh([tmp_path]).notes == []


def test_an_included_file_that_says_nothing_alone_is_not_told(tmp_path: Path) -> None:
    _write(tmp_path / "a.conf", "listener 1883\ninclude_dir conf.d\n")
    _write(tmp_path / "conf.d/empty.conf", "")
    assert read_mesh([tmp_path]).notes == []


def test_comments_alone_are_a_default_broker_among_those_of_mosquitto(tmp_path: Path) -> None:
    _write(tmp_path / "b.conf", "# nothing yet\n\n# more\n")
    _write(tmp_path / "a.conf", "listener 1885\n" + _bridge("b"))
    mesh = read_mesh([tmp_path])
    assert {broker.name: broker.addresses for broker in mesh.brokers} == {"a": (":1885",), "b": (":1883",)}
    assert mesh.notes == []
    _write(tmp_path / "c.conf", "server_name: c\nport: 4222\n")
    told = [note for note in read_mesh([tmp_path]).notes if note.rule == "unreadable"]
    assert [note.place.file for note in told] == [str(tmp_path / "b.conf")]


def test_where_nothing_can_be_read_the_first_file_that_might_be_meant_is_named(tmp_path: Path) -> None:
    (tmp_path / "b.conf").write_bytes(_bridge("a").encode("utf-16"))
    with pytest.raises(InputError, match=r"b\.conf: byte 1 is not UTF-8"):
        read_mesh([tmp_path])


def test_an_unknown_address_names_who_listens_at_its_port(tmp_path: Path) -> None:
    _write(tmp_path / "a.conf", "listener 1885\n" + _bridge("10.0.0.7:1884"))
    _write(tmp_path / "b.conf", "listener 1884\n")
    assert "('b' listens at this port)" in read_mesh([tmp_path]).notes[0].message
    _write(tmp_path / "c.conf", "listener 1884\n")
    assert "('b', 'c' listen at this port)" in read_mesh([tmp_path]).notes[0].message


_SHOVEL = (
    '{"vhosts": [], "parameters": [{"component": "shovel", "name": "s", "vhost": "/", "value": '
    '{"src-uri": "amqp://%s:5672", "src-queue": "q", "dest-uri": "amqp://", "dest-queue": "r"}}]}'
)
_LINKS = {
    "a.conf": "listener 1885\nconnection x\naddress %s:1884\ntopic # out\n",
    "b.conf": "listener 1885\nconnection x\naddress mqtts://%s\ntopic # out\n",
    "nats.conf": 'server_name: n\nleafnodes { remotes [{url: "nats://%s:7422"}] }\n',
    "route.conf": 'server_name: n\ncluster { routes ["nats://%s:6222"] }\n',
    "d.json": _SHOVEL,
    "z.json5": '{mode: "router", connect: {endpoints: ["tcp/%s:7447"]}}',
    "y.json5": '{mode: "router", connect: {endpoints: {router: [{locators: ["tcp/%s:7447"]}]}}}',
}


@pytest.mark.parametrize("password", ["HUNTER", "HUN/TER", "HUN#TER", "HUN?TER", "HUN@TER", "HUN:TER"])
@pytest.mark.parametrize("name", _LINKS)
def test_a_password_in_the_address_of_a_link_is_told_and_never_shown(
    tmp_path: Path, name: str, password: str
) -> None:
    mesh = read_mesh([_write(tmp_path / name, _LINKS[name] % f"us:{password}@far.example")])
    shown = " ".join(
        [*(note.message for note in mesh.notes), *(f"{f.source} {f.target}" for f in mesh.flows)]
    )
    assert "secret" in {note.rule for note in mesh.notes}
    assert not re.search("hun|ter[@:]|us:", shown.replace(str(tmp_path), ""), re.IGNORECASE)


def test_a_link_to_a_configuration_is_no_broker_of_its_own_unless_the_inventory_names_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.conf").write_text("listener 1\n")
    link = tmp_path / "current.conf"
    link.symlink_to("a.conf")
    assert [broker.name for broker in read_mesh([tmp_path]).brokers] == ["a"]
    inventory = [Entry("b", files=(link,)), Entry("c", files=(tmp_path / "a.conf",))]
    assert [broker.name for broker in read_mesh([tmp_path], inventory[:1]).brokers] == ["b"]
    assert [broker.name for broker in read_mesh([tmp_path], inventory).brokers] == ["c", "b"]


def test_two_files_that_give_their_brokers_one_name_are_told(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.conf").write_text("server_name: n\nport: 4222\n")
    mesh = read_mesh([tmp_path])
    assert len(mesh.brokers) == 2
    assert [note.rule for note in mesh.notes] == ["not-decided"]
