import json
from pathlib import Path

import pytest

from meshwright.deploy.hosts import Host, read_hosts
from meshwright.runtime.errors import InputError

NORTH = Host("north", "10.0.0.1", 1884, accepts=False, config="/etc/m.conf", password="env:SECRET")
WRITTEN = {
    "csv": (
        "node,host,port,accepts,config,password,max_links\nnorth,10.0.0.1,1884,no,/etc/m.conf,env:SECRET,\n"
    ),
    "json": json.dumps(
        {
            "defaults": {"config": "/etc/m.conf", "password": "env:SECRET"},
            "brokers": [{"node": "north", "host": "10.0.0.1", "port": 1884, "accepts": False}],
        }
    ),
    "yaml": (
        "defaults: {config: /etc/m.conf, password: 'env:SECRET'}\n"
        "brokers:\n- {node: north, host: 10.0.0.1, port: 1884, accepts: no}\n"
    ),
}


@pytest.mark.parametrize("suffix", WRITTEN)
def test_all_forms_of_an_inventory_say_the_same(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"brokers.{suffix}"
    file.write_text(WRITTEN[suffix])
    assert read_hosts(file) == {"north": NORTH}


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({}, "has no node"),
        ({"node": "a", "hots": "x"}, "did you mean host"),
        ({"node": "a", "port": 0}, "give one from 1 to 65,535"),
        ({"node": "a", "port": "x"}, "give one from 1 to 65,535"),
        ({"node": "a", "host": "x\nlistener 1"}, r"has '\\n' in host"),
        ({"node": "a", "cafile": "/x@{env:HOME}"}, "in cafile; remove it"),
        ({"node": "a", "reach": "sh -c '{command}"}, "all quotes closed"),
        ({"node": "a", "host": "x y"}, "write a name or an address"),
        ({"node": "a", "host": "-oProxyCommand=x"}, "write a name or an address"),
        ({"node": "a", "password": "geheim"}, "has the password that is no reference"),
        ({"node": "a", "reach": "rsh"}, "write local, ssh, or a command"),
        ({"node": "a", "accepts": "maybe"}, "write yes or no"),
        ({"node": "a", "version": "newest"}, r"write numbers, as in 2\.0\.18"),
        ({"node": "a", "config": "/x\ny"}, "in config; remove it"),
    ],
)
def test_a_row_that_can_not_be_meant_is_refused(row: dict[str, object], says: str, tmp_path: Path) -> None:
    file = tmp_path / "brokers.json"
    file.write_text(json.dumps({"brokers": [row]}))
    with pytest.raises(InputError, match=says) as raised:
        read_hosts(file)
    assert "geheim" not in str(raised.value)


@pytest.mark.parametrize("text", ["", "[]", '{"brokers": 3}', '{"brokers": [3]}', "{"])
def test_what_is_no_inventory_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "brokers.json"
    file.write_text(text)
    with pytest.raises(InputError, match="can't be read"):
        read_hosts(file)


@pytest.mark.parametrize(
    ("node", "says"), [("a", "the node 'a' twice"), ("b", r"gives 127\.0\.0\.1:1883 to 'a' and 'b'")]
)
def test_two_rows_can_not_be_one_broker(node: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "brokers.csv"
    file.write_text(f"node\na\n{node}\n")
    with pytest.raises(InputError, match=says):
        read_hosts(file)
