"""Which format a file is of is told in short time, whatever its beginning."""

from pathlib import Path

import pytest

from meshwright.deploy.configs import kind_of

ROOM = 1 << 16


@pytest.mark.parametrize(
    "unit",
    [b"{", b"\n", b" ", b'"', b"connect:{//", b"//", b"{\n", b"mode ", b'{"a":', b"listen:{ //"],
)
def test_no_beginning_takes_long(unit: bytes) -> None:
    start = b"connect: {" if unit == b"//" else b""
    assert kind_of(Path("x.conf"), start + unit * (ROOM // len(unit))) in (None, "nats", "zenoh", "mosquitto")


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.conf", b"port 1883\nconnection x\naddress h:1\ntopic # both\n", "mosquitto"),
        ("a.conf", b"port: 4222\nleafnodes {\n}\n", "nats"),
        ("a.json", b'{"rabbit_version": "3", "policies": []}', "rabbitmq"),
        ("a.json", b'{"mode": "router", "plugins": {\n"mqtt": {}}}', "zenoh"),
        ("a.json5", b"{plugins: {\n  mqtt: {}\n}}", "zenoh"),
        ("a.txt", b"hello", None),
    ],
)
def test_a_file_is_of_the_format_that_it_begins_like(name: str, text: bytes, kind: str | None) -> None:
    assert kind_of(Path(name), text) == kind
