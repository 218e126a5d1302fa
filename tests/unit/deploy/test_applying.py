import shlex
from pathlib import Path

import pytest

import meshwright as mw
from meshwright.deploy.applying import EDITED, FOREIGN, REMOVED, UNKNOWN, apply, status
from meshwright.deploy.drivers import mosquitto, nats
from meshwright.deploy.drivers.driver import Driver, Session
from meshwright.deploy.hosts import Host
from meshwright.deploy.places import check_places
from meshwright.deploy.plan.plan import Plan
from meshwright.deploy.plan.planning import Engine, make_plan
from meshwright.deploy.reaching import Commands, check_reachable, words_of_reach
from meshwright.runtime.errors import InputError, NetworkError
from tests.oracles_deploy import KilledError, MemoryBrokers, machine


class NotListening(Commands):
    """Brokers that don't run."""

    def listens(self, host: Host) -> bool | None:
        return False


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


def test_a_changed_password_comes_with_the_next_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESH", "geheim")
    plan = plan_in(tmp_path, password="env:MESH")
    applied(tmp_path, plan)
    monkeypatch.setenv("MESH", "anders")
    assert applied(tmp_path, plan) == 0
    own = tmp_path / f"{plan.links[0].opens} of us.conf"
    own.unlink()
    assert applied(tmp_path, plan, overwrite=True) == 1
    assert "\nremote_password anders\n" in own.read_text()


@pytest.mark.parametrize("value", ["", "two\nlines", " blank"])
def test_a_password_that_a_line_can_not_hold_is_refused(
    value: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESH", value)
    with pytest.raises(InputError, match="choose one of letters, digits"):
        applied(tmp_path, plan_in(tmp_path, password="env:MESH"))


def test_a_password_that_is_missing_is_told_before_anything_is_changed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the password env:NOT_SET can't be read"):
        applied(tmp_path, plan_in(tmp_path, password="env:NOT_SET"))
    assert not (tmp_path / "state.json").exists()
    assert not list(tmp_path.glob("*.conf"))


def test_a_certificate_that_is_not_here_is_told_before_sessions_have_to_be_dropped(tmp_path: Path) -> None:
    def secured(topics: str) -> Plan:
        plan = plan_in(tmp_path, topics=topics)
        hosts = {host.node: host._replace(cafile="/only/at/brokers.pem") for host in plan.hosts}
        return plan.with_hosts(hosts, loopback=False)

    applied(tmp_path, secured("xy"))
    before = {path: path.read_text() for path in tmp_path.iterdir()}
    with pytest.raises(InputError, match=r"/only/at/brokers\.pem can't be read on this machine"):
        apply(secured("xz"), tmp_path / "state.json", Commands())
    assert {path: path.read_text() for path in tmp_path.iterdir()} == before
    assert applied(tmp_path, secured("xz"))


def test_a_session_is_not_dropped_without_its_certificate() -> None:
    host = Host("a", cafile="/only/at/brokers.pem")
    with pytest.raises(NetworkError, match="can't be asked to drop it"):
        Commands().forget(host, Session("mw-1", host.host, 1))


def test_a_broker_that_can_not_start_without_its_file_gets_it_after_a_kill_before_the_first(
    tmp_path: Path,
) -> None:
    """The reload fails without a file, as that of a Zenoh router does, or with an empty one, as of NATS."""
    plan = plan_in(tmp_path)
    hosts = {host.node: host._replace(reload=f"test -s {shlex.quote(host.config)}") for host in plan.hosts}
    plan = plan.with_hosts(hosts, loopback=False)

    class Killed(NotListening):
        def write(self, host: Host, text: str | None) -> None:
            raise KilledError

    with pytest.raises(KilledError):
        apply(plan, tmp_path / "state.json", Killed(check=False))
    assert status(plan, tmp_path / "state.json", Commands())["interrupted_at"]
    assert apply(plan, tmp_path / "state.json", NotListening(check=False)).steps == 2


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
    with pytest.raises(NetworkError, match="'b' with exit code 3: no rights; correct that, and apply again"):
        applied(tmp_path, plan_in(tmp_path, reload="echo no rights >&2; exit 3"))
    assert status(plan_in(tmp_path), tmp_path / "state.json", Commands())["interrupted_at"] == ["b"]
    applied(tmp_path, plan_in(tmp_path, reload=f"echo >> '{tmp_path}/reloads'"))
    assert (tmp_path / "reloads").read_text() == "\n\n"


def test_who_opens_nothing_gets_its_file_first(tmp_path: Path) -> None:
    plan = plan_in(tmp_path)
    (link,) = plan.links
    steps = status(plan, tmp_path / "state.json", Commands(check=False))["steps"]
    assert [step["node"] for step in steps] == [link.to, link.opens]


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


def test_files_of_a_lost_state_are_taken_over_if_they_are_as_the_plan_has_them(tmp_path: Path) -> None:
    plan = plan_in(tmp_path)
    applied(tmp_path, plan)
    (tmp_path / "state.json").unlink()
    assert applied(tmp_path, plan, overwrite=True) == 0
    assert applied(tmp_path, plan) == 0


def test_brokers_that_would_share_a_file_are_refused() -> None:
    with pytest.raises(InputError, match="'a' and 'b' are both at '/x', reached in the same way"):
        check_places([Host("a", config="/x"), Host("b", "elsewhere", config="/x")])
    check_places([Host(node, node, config="/x", reach="ssh") for node in "ab"])
    check_places([Host(node, config="/x", reach="docker exec {node} {command}") for node in "ab"])


def test_a_file_that_is_not_text_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "a of us.conf").write_bytes(b"listener \xff\n")
    with pytest.raises(InputError, match="not ours"):
        applied(tmp_path, plan_in(tmp_path))


def test_an_empty_file_is_a_place_for_ours(tmp_path: Path) -> None:
    (tmp_path / "a of us.conf").touch()
    assert applied(tmp_path, plan_in(tmp_path)) == 2


def test_plans_for_other_brokers_do_not_share_a_state(tmp_path: Path) -> None:
    applied(tmp_path, plan_in(tmp_path))
    other = in_memory("ab", nats.DRIVER.engine)
    with pytest.raises(InputError, match="of a plan for mosquitto, and this one is for nats; give another"):
        apply(other, tmp_path / "state.json", Commands(check=False))


def in_memory(nodes: str, engine: Engine = mosquitto.DRIVER.engine) -> Plan:
    """A plan in which all of some nodes share a topic."""
    hosts = {node: machine("abc".index(node))._replace(node=node) for node in nodes}
    return make_plan(mw.build(mw.Interests.from_pairs([(node, "x") for node in nodes]), "gm"), engine, hosts)


@pytest.mark.parametrize("driver", [mosquitto.DRIVER, nats.DRIVER])
def test_a_broker_that_has_left_and_is_down_loses_its_links_and_is_not_started(
    driver: Driver, tmp_path: Path
) -> None:
    brokers, place = MemoryBrokers(driver, ["x"]), tmp_path / "state.json"
    whole = in_memory("abc", driver.engine)
    apply(whole, place, brokers)
    left = whole.links[0].opens
    brokers.down.add(at := whole.host_of[left].config)
    assert apply(in_memory("abc".replace(left, ""), driver.engine), place, brokers).left_behind == ()
    assert not driver.read(brokers.files.get(at, ""))


def test_a_broker_that_has_left_and_can_not_be_reached_stops_nobody_until_it_is_gone(tmp_path: Path) -> None:
    brokers, place = MemoryBrokers(mosquitto.DRIVER, ["x"]), tmp_path / "state.json"
    apply(in_memory("abc"), place, brokers)
    brokers.down.add("/m2")
    brokers.unreachable.add("/m2")
    smaller = in_memory("ab")
    for _ in range(2):
        assert apply(smaller, place, brokers).left_behind == ("c",)
    with pytest.raises(InputError, match="is in the plan, so it can't be gone"):
        apply(smaller, place, brokers, gone=["a"])
    with pytest.raises(InputError, match=r"has no node 'd' \(--gone\); it has 'c'"):
        apply(smaller, place, brokers, gone=["d"])
    assert apply(smaller, place, brokers, gone=["c"]).left_behind == ()
    assert apply(smaller, place, brokers).left_behind == ()


def test_nothing_is_changed_if_one_folder_is_missing(tmp_path: Path) -> None:
    plan = plan_in(tmp_path)
    elsewhere = plan.host_of["b"]._replace(config=str(tmp_path / "none" / "b.conf"))
    plan = plan.with_hosts({**plan.host_of, "b": elsewhere}, loopback=False)
    with pytest.raises(NetworkError, match=r"'b' is missing, or can't be written to.*nothing was changed"):
        applied(tmp_path, plan)
    assert not list(tmp_path.iterdir())


def test_a_broker_that_has_left_and_runs_but_can_not_be_reached_stops_apply(tmp_path: Path) -> None:
    """Its links may be open, and would close cycles with new ones."""
    brokers, place = MemoryBrokers(mosquitto.DRIVER, ["x"]), tmp_path / "state.json"
    apply(in_memory("abc"), place, brokers)
    brokers.unreachable.add("/m2")
    with pytest.raises(NetworkError, match="/m2 can't be reached"):
        apply(in_memory("ab"), place, brokers)
    brokers.down.add("/m2")
    assert apply(in_memory("ab"), place, brokers).left_behind == ("c",)


def test_a_server_that_has_left_without_links_may_be_switched_off(tmp_path: Path) -> None:
    brokers, place = MemoryBrokers(nats.DRIVER, ["MW0"]), tmp_path / "state.json"
    apply(in_memory("abc", nats.DRIVER.engine), place, brokers)
    assert apply(in_memory("ab", nats.DRIVER.engine), place, brokers).left_behind == ()
    brokers.unreachable.add("/m2")
    brokers.down.add("/m2")
    assert apply(in_memory("ab", nats.DRIVER.engine), place, brokers).left_behind == ()


def test_nothing_is_changed_while_a_broker_is_down_that_is_needed(tmp_path: Path) -> None:
    brokers, place = MemoryBrokers(mosquitto.DRIVER, ["x", "y"]), tmp_path / "state.json"
    apply(in_memory("ab"), place, brokers)
    brokers.down |= {"/m0", "/m1"}
    before = dict(brokers.files)
    with pytest.raises(NetworkError, match=r"is down.*start it, or plan without it"):
        apply(in_memory("abc"), place, brokers)
    assert brokers.files == before


def test_a_file_that_a_hand_removed_at_a_broker_that_has_left_is_no_trouble(tmp_path: Path) -> None:
    brokers, place = MemoryBrokers(mosquitto.DRIVER, ["x"]), tmp_path / "state.json"
    apply(in_memory("abc"), place, brokers)
    del brokers.files["/m2"]
    apply(in_memory("ab"), place, brokers)
    assert brokers.runs["/m2"] == ""
    assert status(in_memory("ab"), place, brokers)["brokers"].keys() == {"a", "b"}


def test_a_server_that_says_that_it_is_too_old_is_left_as_it_is(tmp_path: Path) -> None:
    brokers = MemoryBrokers(nats.DRIVER, ["MW0"])
    brokers.versions["/m1"] = "2.9.10"
    with pytest.raises(InputError, match=r"'b' has version 2\.9\.10, but the driver nats needs 2\.14"):
        apply(in_memory("abc", nats.DRIVER.engine), tmp_path / "state.json", brokers)
    assert not brokers.files
