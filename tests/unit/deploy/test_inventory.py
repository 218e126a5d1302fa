import json
import os
from pathlib import Path

import pytest

from meshwright.deploy.inventory import read_inventory
from meshwright.deploy.lint.linting import lint
from meshwright.deploy.reading import read_mesh
from meshwright.runtime.errors import InputError


def _inventory(folder: Path, *brokers: dict[str, object]) -> Path:
    file = folder / "inventory.json"
    file.write_text(json.dumps({"brokers": brokers}))
    return file


@pytest.mark.parametrize("address", ["b", "b:8883", "b.example.org"])
def test_a_broker_of_which_only_the_name_is_known_is_found_by_it(tmp_path: Path, address: str) -> None:
    (tmp_path / "a.conf").write_text(f"connection x\naddress {address}\ntopic # out\n")
    mesh = read_mesh([tmp_path / "a.conf"], read_inventory(_inventory(tmp_path, {"name": "b"})))
    assert [flow.target for flow in mesh.flows] == ["b"]
    assert mesh.notes == []


@pytest.mark.parametrize("same", [{"files": ["x.conf"]}, {"addresses": ["x:1883"]}])
def test_what_two_brokers_cannot_share_is_refused(tmp_path: Path, same: dict[str, object]) -> None:
    with pytest.raises(InputError, match="to two brokers; leave it with the one that has it"):
        read_inventory(_inventory(tmp_path, {"name": "a", **same}, {"name": "b", **same}))


def test_one_broker_may_have_an_address_twice(tmp_path: Path) -> None:
    (entry,) = read_inventory(_inventory(tmp_path, {"name": "a", "addresses": ["x:1", "X:1"]}))
    assert entry.addresses == ("x:1", "X:1")


@pytest.mark.parametrize("version", ["", "new", "v2.0", "2.", "2.0 18"])
def test_a_version_that_is_none_is_refused(tmp_path: Path, version: str) -> None:
    with pytest.raises(InputError, match=r"write numbers, as in 2\.0\.18"):
        read_inventory(_inventory(tmp_path, {"name": "a", "version": version}))


@pytest.mark.parametrize("address", ["", "north", "mqtt://north:1883", "a b:1883", "a:b", "a:1:2", ":1883"])
def test_an_address_that_is_none_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(InputError, match="write HOST:PORT"):
        read_inventory(_inventory(tmp_path, {"name": "a", "addresses": [address]}))


@pytest.mark.parametrize("port", [0, 65_536, 99_999])
def test_a_port_that_is_none_is_refused(tmp_path: Path, port: int) -> None:
    with pytest.raises(InputError, match="give a port from 1 to 65,535"):
        read_inventory(_inventory(tmp_path, {"name": "a", "addresses": [f"a:{port}"]}))


@pytest.mark.parametrize("address", ["10.0.0.1:1883", "[fe80::1]:8883", "north.example.org:65535"])
def test_addresses_and_versions_as_people_write_them_are_read(tmp_path: Path, address: str) -> None:
    row: dict[str, object] = {"name": "a", "addresses": [address], "version": "2.1.0-rc1"}
    (entry,) = read_inventory(_inventory(tmp_path, row))
    assert (entry.addresses, entry.version) == ((address,), "2.1.0-rc1")


@pytest.mark.parametrize("key", ["subscribes", "publishes"])
def test_a_filter_that_its_dialect_forbids_is_told(tmp_path: Path, key: str) -> None:
    (tmp_path / "a.conf").write_text("listener 1883\n")
    entries = read_inventory(_inventory(tmp_path, {"name": "a", key: ["plant/#/x", "plant/#"]}))
    (found,) = lint([tmp_path / "a.conf"], entries).findings
    assert (found.rule, found.severity) == ("unreadable", "error")
    assert f"'plant/#/x' in {key} of 'a' is no topic filter" in found.message


def test_an_inventory_that_is_no_regular_file_is_refused_and_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(InputError, match="not a regular file"):
            read_inventory(path)


def test_an_inventory_that_is_nested_too_deep_says_so(tmp_path: Path) -> None:
    (tmp_path / "deep.json").write_text("[" * 100_000)
    with pytest.raises(InputError, match="nested too deep"):
        read_inventory(tmp_path / "deep.json")


@pytest.mark.parametrize("text", ["\ud800", "a\0.conf"])
@pytest.mark.parametrize("key", ["name", "files"])
def test_texts_that_no_file_or_name_can_be_are_refused(tmp_path: Path, key: str, text: str) -> None:
    row = {"name": "a", key: [text] if key == "files" else text}
    (tmp_path / "inventory.json").write_text(json.dumps({"brokers": [row]}))
    with pytest.raises(InputError, match="correct the text"):
        read_inventory(tmp_path / "inventory.json")


def test_a_password_in_an_address_is_not_shown(tmp_path: Path) -> None:
    row = {"name": "a", "addresses": ["mqtts://user:geheim@north:8883"]}
    (tmp_path / "inventory.json").write_text(json.dumps({"brokers": [row]}))
    with pytest.raises(InputError) as error:
        read_inventory(tmp_path / "inventory.json")
    assert "geheim" not in str(error.value)
