"""The commands around a control plane: `token`, `churn --to`, and wrong calls of `serve`."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from meshwright.cli import main
from meshwright.model.events import Event, write_events
from meshwright.model.overlay import Overlay
from meshwright.serve.state_folder import StateFolder, leased
from meshwright.serve.tokens import Access
from tests.unit.serve.conftest import Running

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["meshwright", *map(str, words)])
        code = main()
        return code, *capsys.readouterr()

    return call


def test_tokens_are_added_listed_and_revoked(run: Run, tmp_path: Path) -> None:
    code, out, _ = run("token", "add", tmp_path, "--name", "grafana", "--role", "read")
    assert code == 0
    secret, key = (line.partition(": ")[2] for line in out.splitlines())
    access = Access(StateFolder(tmp_path).access)
    token = access.who(secret)
    assert token is not None
    assert (token.id, token.name, token.roles) == (key, "grafana", ("read",))
    code, out, _ = run("token", "list", tmp_path, "--json")
    assert [(row["id"], row["name"], row["roles"]) for row in json.loads(out)] == [(key, "grafana", ["read"])]
    assert secret not in out
    assert token.hash not in out
    assert run("token", "revoke", tmp_path, key)[0] == 0
    assert access.who(secret) is None
    assert run("token", "revoke", tmp_path, key)[0] == 2
    assert "no tokens" in run("token", "list", tmp_path)[1]
    audit = StateFolder(tmp_path).audit.read_text()
    assert [json.loads(line)["did"] for line in audit.splitlines()] == [
        f"added token {key} for grafana: read",
        f"revoked token {key} of grafana",
    ]
    assert secret not in audit


def test_churn_sends_a_file_of_events_once(
    run: Run, running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESHWRIGHT_TOKEN", running.access.add("churn", ["write"])[1])
    events = [Event(at, "join", f"new {at}", ("t/0",)) for at in range(5)]
    write_events([*events, Event(9, "leave", "nobody")], tmp_path / "events.jsonl")
    command = ("churn", "--to", running.url, "--events", tmp_path / "events.jsonl", "--at-once", 2, "--json")
    told = json.loads(run(*command)[1])
    assert (told["events"], told["repeated"], told["opened"]) == (5, 0, 5)
    assert [row["event"]["node"] for row in told["refused"]] == ["nobody"]
    code, out, _ = run(*command[:-1])
    assert code == 0
    assert "0 events applied, 5 known already" in out
    assert running.plane.revision == 5


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("churn", "--events", "x.jsonl", "--out", "o"), "churn needs the argument DIR"),
        (("churn", "d", "--events", "x.jsonl"), "churn needs the option --out"),
        (("churn", "--to", "http://127.0.0.1:1", "--rounds", "3"), "give DIR as well"),
        (("churn", "--to", "http://127.0.0.1:1", "--events", "x.jsonl", "--out", "o"), "--out can't be used"),
        (("churn", "d", "--events", "x", "--out", "o", "--token-file", "t"), "--token-file can't be used"),
        (("serve", "s", "--host", "0.0.0.0"), "in the clear"),
        (("serve", "s", "--host", "example.org"), "in the clear"),
        (("serve", "s", "--tls-cert", "c.pem"), "belong together"),
        (("serve", "s", "--tls-cert", "c.pem", "--tls-key", "k.pem"), "can't be used for TLS"),
        (("serve", "s", "--port", "0"), "holds no journal"),
        (("serve", "s", "--set", "nope=1"), "there is no option 'nope'"),
        (("token", "add", "s", "--name", "x", "--role", "root"), "read"),
    ],
)
def test_wrong_calls_are_told_in_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run(*words)
    assert code == 2
    assert told in err
    assert len(err.splitlines()) == 1
    assert out == ""


def test_a_state_that_is_in_use_is_refused(run: Run, tmp_path: Path, overlay: Overlay) -> None:
    overlay.write(tmp_path / "overlay")
    with leased(StateFolder(tmp_path / "state")):
        code, out, err = run("serve", tmp_path / "state", "--overlay", tmp_path / "overlay", "--port", 0)
    assert (code, out) == (2, "")
    assert "one owner" in err
    assert not (tmp_path / "state" / "journal").exists()


def test_serve_says_how_to_install_what_it_needs(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [*sys.modules]:
        if name.startswith("meshwright.serve.server"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    code, _, err = run("serve", tmp_path / "state")
    assert code == 2
    assert "meshwright[serve]" in err
