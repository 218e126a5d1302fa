import json
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
