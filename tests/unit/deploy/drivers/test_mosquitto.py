import json
import tempfile
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import meshwright as mw
from meshwright.deploy.configs import reader_of
from meshwright.deploy.drivers import driver_of, files, mosquitto
from meshwright.deploy.hosts import Host
from meshwright.deploy.plan.plan import Link, Plan, Settings
from meshwright.deploy.plan.planning import make_plan
from meshwright.deploy.reaching import masked, resolved
from meshwright.runtime.errors import InputError, OptionError

awkward = st.text(st.sampled_from("ab \t\n\r#\"'\\;{}:@+/$\x00\u2028é"), min_size=1, max_size=8)


def plan_of(link: Link, *hosts: Host, **settings: object) -> Plan:
    return Plan(
        driver="mosquitto",
        settings=Settings(**settings),  # type: ignore[arg-type]
        hosts=hosts or tuple(Host(node) for node in link.ends),
        wants={node: () for node in link.ends},
        links=(link,),
        topics=(),
    )


@given(awkward, awkward, st.lists(awkward, min_size=1, max_size=3, unique=True))
def test_no_name_changes_the_meaning_of_a_file(opens: str, to: str, lines: list[str]) -> None:
    """As the reader of configurations sees it: one bridge, with these lines and nothing else."""
    if opens == to or any({"+", "#"} & {*line} for line in lines):
        return
    try:
        interests = mw.Interests.from_pairs([(node, line) for node in (opens, to) for line in lines])
        plan = make_plan(mw.build(interests, "gm"), mosquitto.DRIVER.engine)
        mosquitto.check(plan)
    except InputError:
        return
    (link,) = plan.links
    text = mosquitto.render(plan, link.opens)
    assert dict(mosquitto.read(masked(text))) == {mosquitto.link_name(*link.ends): link.lines}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "a.conf"
        file.write_text(text, newline="")
        parsed = reader_of("mosquitto").parse(file)
    assert not [note for note in parsed.notes if note.severity == "error"]
    assert {flow.filter for flow in parsed.flows} == {*lines}
    assert len({flow.link for flow in parsed.flows}) == 1


@pytest.mark.parametrize("line", ["a b", '""', "$share/g/x", "$SYS/x", "a\u00a0b", "@{env:HOME}"])
def test_a_topic_that_a_bridge_can_not_hold_is_refused(line: str) -> None:
    with pytest.raises(InputError, match="can't"):
        mosquitto.check(plan_of(Link("a", "b", (line,))))


def test_a_password_is_a_reference_and_certificates_are_paths() -> None:
    to = Host("b", "b.example", 8883, user="mesh", password="env:MESH", cafile="/ca.pem", certfile="/c.pem")
    text = mosquitto.render(plan_of(Link("a", "b", ("x",)), Host("a"), to), "a")
    for line in (
        "address b.example:8883",
        "remote_username mesh",
        "remote_password @{env:MESH}",
        "bridge_cafile /ca.pem",
        "bridge_certfile /c.pem",
        "topic x both 1",
    ):
        assert f"\n{line}\n" in text


@pytest.mark.parametrize(
    ("settings", "lines"), [({"sessions": "clean"}, "cleansession true"), ({"qos": 2}, "topic x both 2")]
)
def test_settings_are_rendered(settings: dict[str, object], lines: str) -> None:
    assert f"\n{lines}\n" in mosquitto.render(plan_of(Link("a", "b", ("x",)), **settings), "a")


def test_the_client_of_a_bridge_changes_with_its_lines() -> None:
    one, other = (mosquitto.client_id(Link("a", "b", lines)) for lines in (("x",), ("x", "y")))
    assert one != other


def test_sessions_are_found_in_a_file() -> None:
    link = Link("a", "b", ("x",))
    plan = plan_of(link, Host("a"), Host("b", "b.example", 1884))
    (session,) = mosquitto.sessions_of(mosquitto.render(plan, "a"))
    assert session == (mosquitto.client_id(link), "b.example", 1884)
    assert not mosquitto.sessions_of(mosquitto.render(plan_of(link, sessions="clean"), "a"))


def test_lines_that_may_overlap_deliver_once_at_both_ends() -> None:
    plan = plan_of(Link("a", "b", ("+/x", "y/+")))
    for node in "ab":
        assert "\nallow_duplicate_messages false\n" in mosquitto.render(plan, node)
    assert "allow" not in mosquitto.render(plan_of(Link("a", "b", ("x", "y"))), "a")


def test_files_for_other_tools_hold_what_the_broker_gets() -> None:
    plan = plan_of(Link("north 1", "south", ("x\u00e9",)))
    bundle = files.bundle(plan)
    maps = list(yaml.safe_load_all(bundle["kubernetes.yaml"]))
    assert [each["data"]["meshwright.conf"] for each in maps] == [
        mosquitto.render(plan, node) for node in ("north 1", "south")
    ]
    services = yaml.safe_load(bundle["compose.yaml"])["services"]
    assert len(services) == 2
    assert all(name.replace("-", "").isalnum() for name in services)
    assert len(json.loads(bundle["ansible/inventory.yaml"])["all"]["children"]["brokers"]["hosts"]) == 2


paths = st.text(st.sampled_from("ab/ #\"'\\;{}:@$=%é"), min_size=1, max_size=8).filter(
    lambda text: text == text.strip() and "@{" not in text
)


@given(paths, paths)
def test_no_user_or_path_of_the_inventory_adds_a_line(user: str, path: str) -> None:
    to = Host("b", user=user, cafile=path, password="env:X")
    plan = plan_of(Link("a", "b", ("x",)), Host("a"), to)
    plain = plan_of(Link("a", "b", ("x",)), Host("a"), to._replace(user="u", cafile="/p"))
    ours, usual = (mosquitto.render(each, "a").splitlines() for each in (plan, plain))
    changed = [(one, other) for one, other in zip(ours, usual, strict=True) if one != other]
    assert changed == [
        pair
        for pair in (
            (f"remote_username {user}", "remote_username u"),
            (f"bridge_cafile {path}", "bridge_cafile /p"),
        )
        if pair[0] != pair[1]
    ]


def test_no_name_is_taken_for_a_reference_to_a_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESH", "geheim")
    plan = plan_of(Link("@{env:MESH}", "b", ("x",)))
    assert "geheim" not in resolved(mosquitto.render(plan, "@{env:MESH}"))


@given(awkward, awkward)
def test_no_name_changes_the_meaning_of_files_for_other_tools(one: str, other: str) -> None:
    if one == other:
        return
    plan = plan_of(Link(one, other, ("x",)))
    bundle = files.bundle(plan)
    maps = list(yaml.safe_load_all(bundle["kubernetes.yaml"]))
    assert [each["data"]["meshwright.conf"] for each in maps] == [
        mosquitto.render(plan, node) for node in (one, other)
    ]
    assert len({each["metadata"]["name"] for each in maps}) == 2
    compose = yaml.safe_load(bundle["compose.yaml"])
    assert len(compose["services"]) == 2
    assert {key for each in compose["services"].values() for key in each} == {"image", "volumes", "networks"}
    assert len(yaml.safe_load(bundle["ansible/inventory.yaml"])["all"]["children"]["brokers"]["hosts"]) == 2


def test_files_can_not_refer_to_passwords() -> None:
    plan = plan_of(Link("a", "b", ("x",)), Host("a"), Host("b", password="env:X"))
    with pytest.raises(InputError, match="use certificates"):
        files.check(plan)


def test_an_unknown_driver_is_refused() -> None:
    with pytest.raises(OptionError, match="did you mean mosquitto"):
        driver_of("mosquito")


def test_brokers_that_read_files_otherwise_are_refused() -> None:
    link = Link("a", "b", ("x",))
    with pytest.raises(InputError, match=r"'b' has version 1\.4, but .* needs 2\.0 or newer"):
        mosquitto.check(plan_of(link, Host("a", version="2.1.2"), Host("b", version="1.4")))


def test_files_for_other_tools_need_addresses_that_others_reach() -> None:
    interests = mw.Interests.from_pairs([("a", "x"), ("b", "x")])
    with pytest.raises(InputError, match="the driver files needs --inventory"):
        files.check(make_plan(mw.build(interests, "gm"), files.DRIVER.engine))
