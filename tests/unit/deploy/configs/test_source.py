"""What readers of configurations share."""

import os
from pathlib import Path

import pytest

from meshwright.deploy.configs.source import (
    Findings,
    UnreadableError,
    alternatives,
    holds_password,
    listener,
    read_text,
    suppression,
    url_of,
    without_secret,
)
from meshwright.deploy.mesh import Place

HERE = Place("x", 1)


def test_text_is_read_without_its_byte_order_mark(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"\xef\xbb\xbfport: 1")
    assert read_text(file) == "port: 1"


def test_what_is_no_text_is_refused_with_the_byte(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"port: \xff")
    with pytest.raises(UnreadableError, match="byte 7 is not UTF-8"):
        read_text(file)


def test_only_regular_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(UnreadableError, match="not a regular file"):
            read_text(path)


@pytest.mark.parametrize("name", ["missing", "a\0b", "x" * 5000])
def test_a_file_that_can_not_be_opened_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnreadableError, match="can't be read"):
        read_text(tmp_path / name)


@pytest.mark.parametrize(
    ("comment", "found"),
    [
        (" meshwright: ignore loop: we count hops", ("loop", "we count hops")),
        ("meshwright:ignore both-ends : a\n  b", ("both-ends", "a b")),
        ("meshwright: ignore loop", ("loop", "")),
        ("meshwright: ignored loop", None),
        ("see meshwright: ignore loop: x", None),
        ("loop", None),
    ],
)
def test_a_suppression_has_a_rule_and_a_reason(comment: str, found: tuple[str, str] | None) -> None:
    assert suppression(comment) == found


def test_a_suppression_without_a_reason_is_a_useless_line() -> None:
    findings = Findings()
    findings.suppress("meshwright: ignore loop", HERE)
    findings.suppress("meshwright: ignore loop: for a reason", HERE)
    assert [note.rule for note in findings.parsed.notes] == ["useless-line"]
    assert findings.parsed.suppressions == [(HERE, "loop", "for a reason")]


def test_an_unknown_key_is_told_once_with_what_may_be_meant() -> None:
    findings = Findings()
    for _ in range(3):
        findings.unknown("remtes", "leafnodes", ["remotes", "port"], HERE)
    (note,) = findings.parsed.notes
    assert note.rule == "unknown-directive"
    assert "'remtes'" in note.message
    assert "did you mean remotes?" in note.message


@pytest.mark.parametrize(
    ("text", "port", "address", "user"),
    [
        ("nats://U:pw@Host.Example:1", None, "host.example:1", "U"),
        ("nats://host", 7422, "host:7422", None),
        ("host:5", 7422, "host:5", None),
        ("tls://[2001:DB8::1]:5", None, "[2001:db8::1]:5", None),
        ("amqp://u%40x@h", 5672, "h:5672", "u@x"),
        ("amqp:///vhost", 5672, "", None),
    ],
)
def test_a_url_names_an_address_and_a_user(
    text: str, port: int | None, address: str, user: str | None
) -> None:
    url = url_of(text, port)
    assert url is not None
    assert (url.address, url.user) == (address, user)


@pytest.mark.parametrize("text", ["a://h:x", "a://h:99999", "a://[::1", "a://t?k@h:1", "a://t#k@h:1"])
def test_what_is_no_url_is_none(text: str) -> None:
    assert url_of(text) is None


@pytest.mark.parametrize(
    ("text", "port", "address"),
    [
        ("4222", None, ":4222"),
        ("0.0.0.0:4222", None, ":4222"),
        (":4222", None, ":4222"),
        ("[::]:7447", None, ":7447"),
        ("Host", 5, "host:5"),
        ("host", None, None),
        ("a:b", None, None),
    ],
)
def test_a_listener_on_all_addresses_is_its_port(text: str, port: int | None, address: str | None) -> None:
    assert listener(text, port) == address


def test_alternatives_of_a_link_are_one_end_without_repeats() -> None:
    assert alternatives(["a:1", "", "b:1", "a:1"]) == "a:1 b:1"


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("nats://U:pw@h:1", True),
        ("u:pw@h:1", True),
        ("nats://u:p/w@h:1", True),
        ("nats://u:p#w@h", True),
        ("nats://u:p@w@h", True),
        ("nats://u:pw@h:port", True),
        ("nats://u@h:1", False),
        ("nats://h:1", False),
        ("[::1]:1883", False),
        ("h:1", False),
        ("", False),
    ],
)
def test_a_password_is_what_stands_between_a_colon_and_the_host(text: str, holds: bool) -> None:
    assert holds_password(text) == holds


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("remote_passwordSEKRET", "remote_password…"),
        ("passwordsekret2", "password…"),
        ("SEKRET@b", "…@b"),
        ("listner", "listner"),
        ("password", "password"),
    ],
)
def test_a_value_that_sticks_to_a_name_is_not_shown(name: str, shown: str) -> None:
    assert without_secret(name) == shown


def test_a_host_with_a_blank_is_no_url() -> None:
    assert url_of("nats://a b:7422") is None


def test_a_text_that_is_no_word_is_not_shown_whole() -> None:
    assert without_secret("hunter22") == "hu…"
    assert without_secret("allow_anonymos") == "allow_anonymos"


def test_bytes_that_are_no_text_are_told_with_their_line(tmp_path: Path) -> None:
    (tmp_path / "a.conf").write_bytes(b"listener 1\n\xff\n")
    with pytest.raises(UnreadableError) as error:
        read_text(tmp_path / "a.conf")
    assert error.value.place.line == 2
