from pathlib import Path

import pytest

import meshwright as mw
from meshwright.deploy.applying import EDITED, FOREIGN, REMOVED, UNKNOWN, apply, status
from meshwright.deploy.drivers import mosquitto
from meshwright.deploy.hosts import Host
from meshwright.deploy.plan.plan import Plan
from meshwright.deploy.plan.planning import make_plan
from meshwright.deploy.reaching import Commands, check_reachable, words_of_reach
from meshwright.runtime.errors import InputError, NetworkError


def plan_in(folder: Path, *, reload: str = "true", password: str = "", topics: str = "xy") -> Plan:
    """A plan for two brokers whose files are in a folder."""
    interests = mw.Interests.from_pairs([(node, topic) for node in "ab" for topic in topics])
    hosts = {
        node: Host(
            node, port=1883 + at, config=str(folder / f"{node} of us.conf"), reload=reload, password=password
        )
        for at, node in enumerate("ab")
    }
    return make_plan(mw.build(interests, "gm"), mosquitto.DRIVER.engine, hosts, settings=None)


def applied(folder: Path, plan: Plan, **options: bool) -> int:
    return apply(plan, folder / "state.json", Commands(check=False), **options).steps


def test_files_are_brought_once_and_reloaded_once_each(tmp_path: Path) -> None:
    plan = plan_in(tmp_path, reload=f"echo >> '{tmp_path}/reloads'")
    assert applied(tmp_path, plan) == 2
    assert (tmp_path / "a of us.conf").read_text() == mosquitto.render(plan, "a")
    assert applied(tmp_path, plan) == 0
    assert (tmp_path / "reloads").read_text() == "\n\n"


def test_passwords_are_filled_in_and_show_no_drift(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESH", "geheim")
    plan = plan_in(tmp_path, password="env:MESH")
    applied(tmp_path, plan)
    own = tmp_path / "a of us.conf"
    assert "\nremote_password geheim\n" in own.read_text()
    assert own.stat().st_mode & 0o077 == 0
    assert "geheim" not in (tmp_path / "state.json").read_text()
    assert applied(tmp_path, plan) == 0


@pytest.mark.parametrize("value", ["", "two\nlines", " blank"])
def test_a_password_that_a_line_can_not_hold_is_refused(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESH", value)
    with pytest.raises(InputError, match="choose one of letters, digits"):
        applied(tmp_path, plan_in(tmp_path, password="env:MESH"))


def test_a_file_that_is_not_ours_is_never_touched(tmp_path: Path) -> None:
    own = tmp_path / "b of us.conf"
    own.write_text("listener 1883\n")
    for overwrite in (False, True):
        with pytest.raises(InputError, match="not ours"):
            applied(tmp_path, plan_in(tmp_path), overwrite=overwrite)
    assert own.read_text() == "listener 1883\n"
    assert not (tmp_path / "a of us.conf").exists()


@pytest.mark.parametrize("condition", [EDITED, REMOVED, UNKNOWN])
def test_what_was_done_by_hand_shows_and_is_replaced_only_if_asked(condition: str, tmp_path: Path) -> None:
    plan = plan_in(tmp_path)
    applied(tmp_path, plan)
    own = tmp_path / "a of us.conf"
    if condition == EDITED:
        own.write_text(own.read_text() + "# by hand\n")
    elif condition == REMOVED:
        own.unlink()
    else:
        (tmp_path / "state.json").unlink()
        own.write_text(own.read_text() + "# by hand\n")
    told = status(plan, tmp_path / "state.json", Commands())
    assert told["brokers"]["a"] == condition
    with pytest.raises(InputError, match=f"'a' is {condition}; look at it"):
        applied(tmp_path, plan)
    assert applied(tmp_path, plan, overwrite=True) == 1
    assert own.read_text() == mosquitto.render(plan, "a")


def test_a_foreign_file_shows(tmp_path: Path) -> None:
    (tmp_path / "a of us.conf").write_text("listener 1\n")
    assert status(plan_in(tmp_path), tmp_path / "state.json", Commands())["brokers"]["a"] == FOREIGN


def test_a_reload_that_fails_is_told_and_done_again(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match="'a' with exit code 3: no rights; correct that, and apply again"):
        applied(tmp_path, plan_in(tmp_path, reload="echo no rights >&2; exit 3"))
    assert status(plan_in(tmp_path), tmp_path / "state.json", Commands())["interrupted_at"] == ["a"]
    applied(tmp_path, plan_in(tmp_path, reload=f"echo >> '{tmp_path}/reloads'"))
    assert (tmp_path / "reloads").read_text() == "\n\n"


def test_a_line_is_closed_before_another_is_opened(tmp_path: Path) -> None:
    applied(tmp_path, plan_in(tmp_path, topics="xy"))
    done = apply(plan_in(tmp_path, topics="yz"), tmp_path / "state.json", Commands(check=False))
    assert (done.steps, done.closed) == (2, 1)


@pytest.mark.parametrize(
    ("reach", "words"),
    [
        ("local", ["sh", "-c", "cat 'x y'"]),
        ("ssh", ["ssh", "-o", "BatchMode=yes", "--", "h", "cat 'x y'"]),
        ("docker exec -i {node} sh -c {command}", ["docker", "exec", "-i", "a; b", "sh", "-c", "cat 'x y'"]),
    ],
)
def test_commands_stay_one_word(reach: str, words: list[str]) -> None:
    assert words_of_reach(Host("a; b", "h", reach=reach), "cat 'x y'") == words


@pytest.mark.parametrize(("host", "says"), [(Host("a"), "no config"), (Host("a", config="/x"), "no reload")])
def test_an_inventory_that_says_too_little_to_apply_is_refused(host: Host, says: str) -> None:
    with pytest.raises(InputError, match=says):
        check_reachable(host)
