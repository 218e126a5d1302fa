"""Tokens: stored as hashes, shared between processes, and revoked at once."""

import json
import stat
from pathlib import Path

import pytest

from meshwright.runtime.errors import DatasetError, InputError, OptionError
from meshwright.serve import tokens
from meshwright.serve.tokens import Access, check_roles


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "access"


def test_only_hashes_are_stored_and_only_the_owner_can_read_them(folder: Path) -> None:
    token, secret = Access(folder).add("grafana", ["read"])
    text = (folder / "tokens.json").read_text()
    assert secret not in text
    assert tokens.hash_of(secret) == token.hash in text
    assert stat.S_IMODE((folder / "tokens.json").stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_token_is_known_and_revoked_in_other_processes_at_once(folder: Path) -> None:
    here, there = Access(folder), Access(folder)
    assert there.tokens() == ()
    token, secret = here.add("x", ["write", "read", "write"])
    assert there.who(secret) == token
    assert there.who(secret + "x") is None
    assert token.roles == ("read", "write")
    assert there.revoke(token.id) == token
    assert here.who(secret) is None
    with pytest.raises(InputError, match="no token with the id"):
        here.revoke(token.id)


def test_the_first_token_is_made_once(folder: Path) -> None:
    first = Access(folder).add_first()
    assert first is not None
    assert first[0].roles == tokens.ROLES
    assert Access(folder).add_first() is None


def test_secrets_have_256_random_bits(folder: Path) -> None:
    secrets = {Access(folder).add("x", ["read"])[1] for _ in range(5)}
    assert len(secrets) == 5
    assert all(len(secret) == len("mw_") + 43 for secret in secrets)


@pytest.mark.parametrize(
    ("given", "role", "may"),
    [
        ("read", "write", False),
        ("read", "apply", False),
        ("write", "read", True),
        ("write", "apply", False),
        ("apply", "read", True),
        ("apply", "write", False),
    ],
)
def test_write_and_apply_include_read_and_nothing_else(
    folder: Path, given: str, role: str, may: bool
) -> None:
    assert Access(folder).add("x", [given])[0].may(role) is may


def test_roles_and_names_are_checked(folder: Path) -> None:
    with pytest.raises(OptionError, match="read"):
        check_roles(["red"])
    with pytest.raises(OptionError, match="needs a role"):
        check_roles([])
    for name in ("", "a\nb", "x" * 201):
        with pytest.raises(InputError):
            Access(folder).add(name, ["read"])


@pytest.mark.parametrize("text", ["", "{}", '{"tokens": [{}]}', '{"tokens": [', "[]"])
def test_a_damaged_file_is_named_and_lets_nobody_in(folder: Path, text: str) -> None:
    access = Access(folder)
    _, secret = access.add("x", ["read"])
    (folder / "tokens.json").write_text(text)
    with pytest.raises(DatasetError, match=r"tokens\.json is damaged"):
        access.who(secret)


def test_sessions_end_by_time_and_are_bounded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    access = Access(folder)
    token, _ = access.add("x", ["read"])
    monkeypatch.setattr(tokens, "_MOST_SESSIONS", 3)
    sessions = [access.begin_session(token) for _ in range(4)]
    assert [access.who_in_session(session) == token for session in sessions] == [False, True, True, True]
    rows = json.loads((folder / "sessions.json").read_text())["tokens"]
    later = rows[-1]["expires"] + 1
    monkeypatch.setattr(tokens.time, "time", lambda: later)
    assert access.who_in_session(sessions[-1]) is None
