import json
from collections.abc import Callable
from pathlib import Path

import pytest

from meshwright.deploy.inventory import read_inventory
from meshwright.deploy.lint.findings import Finding
from meshwright.deploy.lint.linting import Report, lint

Mesh = Callable[..., Report]


@pytest.fixture
def mesh(tmp_path: Path) -> Mesh:
    """Lint brokers a, b and c: by name, the links that each opens, as (to whom, lines)."""

    def run(inventory: object = None, /, **links: list[tuple[str, str]]) -> Report:
        ports = {"a": 20001, "b": 20002, "c": 20003}
        for name, port in ports.items():
            text = f"listener {port} 127.0.0.1\n"
            for at, (other, lines) in enumerate(links.get(name, [])):
                text += f"connection {other}{at}\naddress 127.0.0.1:{ports.get(other, 29999)}\n{lines}\n"
            (tmp_path / f"{name}.conf").write_text(text)
        entries = []
        if inventory is not None:
            file = tmp_path / "inventory.json"
            file.write_text(json.dumps({"brokers": inventory}))
            entries = read_inventory(file)
        return lint([tmp_path], entries)

    return run


def _rules(report: Report) -> list[str]:
    return sorted(finding.rule for finding in report.findings if finding.severity != "note")


def _only(report: Report) -> Finding:
    (found,) = report.findings
    return found


def test_a_triangle_loops_and_the_witness_goes_round(mesh: Mesh) -> None:
    found = _only(mesh(a=[("b", "topic # both")], b=[("c", "topic t/# both")], c=[("a", "topic # both")]))
    assert (found.rule, found.topic, len(found.path)) == ("loop", "t/x", 4)
    assert {stop.broker for stop in found.path} == {"a", "b", "c"}
    assert len(found.places) == 3


def test_a_triangle_whose_filters_never_meet_is_silent(mesh: Mesh) -> None:
    lines = ["topic t/+ both", "topic t/#  both", "topic +/+/x both"]
    assert mesh(a=[("b", lines[0])], b=[("c", lines[1])], c=[("a", lines[2])]).findings == []


def test_a_link_at_both_ends_is_told_once(mesh: Mesh) -> None:
    found = _only(mesh(a=[("b", "topic # both")], b=[("a", "topic # both")]))
    assert found.rule == "both-ends"
    assert "loops" in found.message


def test_one_direction_at_both_ends_crosses_twice(mesh: Mesh) -> None:
    found = _only(mesh(a=[("b", "topic # out")], b=[("a", "topic # in")]))
    assert found.rule == "both-ends"
    assert "twice" in found.message


def test_names_that_grow_are_a_rule_of_their_own(mesh: Mesh) -> None:
    found = _only(mesh(a=[("b", 'topic # out 0 "" up/')], b=[("a", "topic # out")]))
    assert found.rule == "growing-loop"
    assert [stop.name for stop in found.path] == ["x", "up/x", "up/x"]


def test_a_loop_behind_prefixes_is_found(mesh: Mesh) -> None:
    found = _only(
        mesh(
            a=[("b", "topic +/# out 0 t/ p/")],
            b=[("c", "topic +/# out 0 p/ q/")],
            c=[("a", "topic +/# out 0 q/ t/")],
        )
    )
    assert found.rule == "loop"
    assert [stop.name for stop in found.path] == ["t/x", "p/x", "q/x", "t/x"]


def test_two_paths_double_and_both_are_shown(mesh: Mesh) -> None:
    found = _only(mesh(a=[("b", "topic # out"), ("c", "topic # out")], b=[("c", "topic # out")]))
    assert found.rule == "doubled-delivery"
    assert [[stop.broker for stop in path] for path in (found.path, found.other_path)] == [
        ["a", "c"],
        ["a", "b", "c"],
    ]


def test_two_paths_under_two_names_are_silent(mesh: Mesh) -> None:
    links = [("b", "topic # out"), ("c", 'topic # out 0 "" direct/')]
    assert mesh(a=links, b=[("c", "topic # out")]).findings == []


def test_two_paths_that_rename_alike_double(mesh: Mesh) -> None:
    links = [("b", 'topic # out 0 "" up/'), ("c", 'topic # out 0 "" up/'), ("c", "topic other/# out")]
    found = _only(mesh(a=links, b=[("c", "topic up/# out")]))
    assert (found.rule, found.topic, found.other_path[-1].name) == ("doubled-delivery", "x", "up/x")


def test_the_first_line_with_a_prefix_renames_whatever_else_matches(mesh: Mesh) -> None:
    lines = 'topic t/# out\ntopic # out 0 "" up/\ntopic t/1 out 0 "" down/'
    found = mesh([{"name": "a", "version": "2.0.11"}], a=[("b", lines)], b=[("a", "topic t/# out")])
    assert [(one.rule, one.place.line) for one in found.findings] == [
        ("useless-line", 4),
        ("useless-line", 6),
    ]


def test_an_echo_comes_back(mesh: Mesh) -> None:
    found = _only(mesh(a=[("b", "try_private false\ntopic # both")]))
    assert (found.rule, [stop.broker for stop in found.path]) == ("doubled-delivery", ["a", "b", "a"])


@pytest.mark.parametrize(
    ("setting", "version", "rules"),
    [
        ("", "2.0.11", []),
        ("", "2.1.2", ["overlapping-lines"]),
        ("allow_duplicate_messages false\n", "2.1.2", []),
        ("allow_duplicate_messages true\n", "2.0.11", ["overlapping-lines"]),
        ("bridge_protocol_version mqttv50\n", "2.0.11", ["overlapping-lines"]),
    ],
)
def test_overlapping_lines_double_by_version_setting_and_protocol(
    mesh: Mesh, setting: str, version: str, rules: list[str]
) -> None:
    report = mesh([{"name": "a", "version": version}], a=[("b", f"{setting}topic a/# out\ntopic +/b out")])
    assert _rules(report) == rules
    assert not rules or report.findings[0].topic == "a/b"


def test_overlapping_lines_without_a_version_are_not_decided(mesh: Mesh) -> None:
    report = mesh(a=[("b", "topic a/# out\ntopic +/b out")])
    assert (_only(report).rule, _only(report).severity, report.is_clean) == ("not-decided", "note", True)


def test_a_covered_line_does_nothing_unless_its_qos_is_higher(mesh: Mesh) -> None:
    found = _only(mesh([{"name": "a", "version": "2.0.11"}], a=[("b", "topic a/# out 1\ntopic a/b out 1")]))
    assert (found.rule, found.place.line) == ("useless-line", 5)
    better = mesh([{"name": "a", "version": "2.0.11"}], a=[("b", "topic a/# out 0\ntopic a/b out 1")])
    assert better.findings == []


def test_half_of_a_line_may_do_nothing(mesh: Mesh) -> None:
    found = _only(
        mesh([{"name": "a", "version": "2.0.11"}], a=[("b", 'topic # out 0 "" p/\ntopic t/# both')])
    )
    assert (found.rule, found.place.line) == ("useless-line", 5)
    assert "nothing out" in found.message


def test_a_line_that_stops_another_one_is_not_useless_itself(mesh: Mesh) -> None:
    found = _only(mesh(a=[("b", "topic a/# both\ntopic a/# out")]))
    assert (found.rule, found.place.line) == ("useless-line", 4)


def test_a_subscriber_out_of_reach_is_told(mesh: Mesh) -> None:
    clients = [{"name": "a", "publishes": ["t/1"]}, {"name": "c", "subscribes": ["t/+"]}]
    found = _only(mesh(clients, a=[("b", "topic # out")]))
    assert (found.rule, found.topic) == ("unreachable", "t/1")
    assert mesh(clients, a=[("b", "topic # out")], b=[("c", "topic t/# out")]).findings == []


def test_a_link_carries_what_nobody_behind_it_wants(mesh: Mesh) -> None:
    clients = [
        {"name": "a", "publishes": ["t/1", "u/1"]},
        {"name": "b", "subscribes": ["v/#"]},
        {"name": "c", "subscribes": ["t/#"]},
    ]
    links = {"a": [("b", "topic # out")], "b": [("c", "topic t/# out")]}
    found = _only(mesh(clients, **links))
    assert (found.rule, found.topic, found.place.line) == ("carries-unwanted", "u/1", 4)
    unknown_behind = [clients[0], clients[2]]
    assert mesh(unknown_behind, **links).findings == []


def test_a_broker_that_is_not_in_the_mesh_is_a_note(mesh: Mesh) -> None:
    report = mesh(a=[("elsewhere", "topic # both")])
    assert (_only(report).rule, report.is_clean) == ("unknown-broker", True)


def test_a_comment_with_a_reason_suppresses_the_line_below(mesh: Mesh) -> None:
    line = "# meshwright: ignore both-ends: until the move\n# (see the plan)\ntopic # both"
    report = mesh(a=[("b", line)], b=[("a", "topic # both")])
    assert report.findings == []
    assert [finding.reason for finding in report.suppressed] == ["until the move"]


def test_a_comment_that_suppresses_nothing_is_told(mesh: Mesh) -> None:
    report = mesh(a=[("b", "# meshwright: ignore loop: why not\ntopic # both")])
    assert (_only(report).rule, _only(report).severity) == ("useless-line", "note")
    report = mesh(a=[("b", "# meshwright: ignore lop: why not\ntopic # both")])
    assert (_only(report).rule, _only(report).severity) == ("useless-line", "warning")


def test_every_comment_at_a_line_of_the_witness_is_used(mesh: Mesh) -> None:
    line = "# meshwright: ignore both-ends: {}\ntopic # both"
    report = mesh(a=[("b", line.format("one"))], b=[("a", line.format("two"))])
    assert report.findings == []
    assert len(report.suppressed) == 1


def test_names_with_odd_letters_are_followed(mesh: Mesh) -> None:
    report = mesh(a=[("b", 'topic it\'s/"x"/é/# both')], b=[("a", 'topic it\'s/"x"/é/1 both')])
    assert _only(report).topic == 'it\'s/"x"/é/1'


@pytest.mark.parametrize(
    ("one", "other"),
    [("#", "$SYS/broker/connection/#"), ("#", "$foo/#"), ("+/x", "$foo/x"), ("+/#", "$foo/x/#")],
)
def test_a_wildcard_at_the_start_does_not_meet_a_dollar(mesh: Mesh, one: str, other: str) -> None:
    links = {"a": [("b", f"topic {one} both")], "b": [("a", f"topic {other} both")]}
    assert mesh(**links).findings == []


def test_a_triangle_of_all_names_and_of_a_dollar_is_silent(mesh: Mesh) -> None:
    everything, app = "topic # both", "topic $app/# both"
    assert mesh(a=[("b", everything)], b=[("c", everything)], c=[("a", app)]).findings == []


def test_a_dollar_that_a_prefix_hides_was_not_taken_before(mesh: Mesh) -> None:
    up, down = 'topic # out 0 "" up/', "topic $foo/# out 0 up/"
    assert mesh(a=[("b", up)], b=[("a", down)]).findings == []


def test_a_dollar_behind_a_prefix_that_is_removed_is_followed(mesh: Mesh) -> None:
    up, down = "topic # out 0 up/", 'topic $foo/# out 0 "" up/'
    assert _only(mesh(a=[("b", up)], b=[("a", down)])).topic in ("up/$foo/x", "$foo/x")


@pytest.mark.parametrize(
    ("line", "topic"),
    [("$SYS/#", "$SYS/broker/connection/x/state"), ("$foo/#", "$foo/x")],
)
def test_the_witness_of_a_loop_is_a_name_that_brokers_take(mesh: Mesh, line: str, topic: str) -> None:
    found = _only(mesh(a=[("b", f"topic {line} both")], b=[("a", f"topic {line} both")]))
    assert found.topic == topic


def test_names_that_mosquitto_refuses_from_others_do_not_loop(mesh: Mesh) -> None:
    line = "topic $SYS/broker/load/# both"
    found = mesh(a=[("b", line)], b=[("a", line)]).findings
    assert [each.rule for each in found] == ["useless-line", "useless-line"]
    assert all("nothing crosses" in each.message for each in found)


def test_a_line_whose_names_mosquitto_refuses_on_one_side_is_useless_in_that_direction(mesh: Mesh) -> None:
    found = _only(mesh(a=[("b", "topic load both 0 load/ $SYS/broker/")], b=[]))
    assert found.rule == "useless-line"
    assert "nothing goes out" in found.message


def test_overlapping_lines_show_how_the_message_crosses_by_each(mesh: Mesh) -> None:
    twice = "bridge_protocol_version mqttv50\ntopic t/# out\ntopic t/+ out"
    found = _only(mesh(a=[("b", twice)], b=[]))
    assert found.rule == "overlapping-lines"
    assert [[stop.broker for stop in way] for way in (found.path, found.other_path)] == [["a", "b"]] * 2
    assert found.path[1].place != found.other_path[1].place


def test_the_witness_is_a_name_that_brokers_publish(mesh: Mesh) -> None:
    up = 'topic $SYS/# out 0 "" up/'
    assert _only(mesh(a=[("b", up), ("b", up)])).topic == "$SYS/broker/uptime"


def test_more_lines_that_may_meet_than_are_compared_are_not_decided(mesh: Mesh) -> None:
    crossed = "\n".join(f"topic +/t{number}/# both\ntopic t{number}/+/# out" for number in range(1000))
    report = mesh(a=[("b", crossed)], b=[("a", "topic q/# both")])
    assert _rules(report) == ["not-decided"]


def test_many_lines_that_do_not_meet_are_decided(mesh: Mesh) -> None:
    lines = "\n".join(f"topic t/{number}/# both" for number in range(1000))
    report = mesh(a=[("b", lines)], b=[("a", "topic t/7/# both")])
    assert _only(report).topic == "t/7/x"


CLIENTS = [
    {"name": "a", "publishes": ["plant/+/t", "cmd/#"]},
    {"name": "b", "subscribes": ["plant/#", "cmd/1"]},
]


@pytest.mark.parametrize("back", ["topic # both", "topic # out", "topic plant/# out"])
def test_what_goes_round_is_not_out_of_reach(mesh: Mesh, back: str) -> None:
    report = mesh(CLIENTS, a=[("b", "topic # both")], b=[("a", back)])
    assert "both-ends" in _rules(report)
    assert "unreachable" not in _rules(report)


def test_beside_a_loop_what_is_not_carried_is_still_out_of_reach(mesh: Mesh) -> None:
    report = mesh(CLIENTS, a=[("b", "topic plant/# both")], b=[("a", "topic plant/# both")])
    assert _rules(report) == ["both-ends", "unreachable"]


def test_a_name_that_keeps_its_prefix_crosses_by_the_first_line_that_has_one(mesh: Mesh) -> None:
    lines = 'topic # out 0 a/ ""\ntopic a/# out 0 "" b/'
    report = mesh(None, a=[("b", lines)], b=[("a", "topic # out")])
    assert _rules(report) == ["both-ends", "useless-line"]
    assert {finding.topic for finding in report.findings if finding.rule == "both-ends"} == {"a"}


def test_overlapping_imports_of_one_account_deliver_twice(tmp_path: Path) -> None:
    exporting = 'A { exports: [ { stream: "y.>" } ] }'
    imports = ", ".join(f'{{ stream: {{ account: A, subject: "{subject}" }} }}' for subject in ("y.>", "y.1"))
    (tmp_path / "a.conf").write_text(
        f"port: 4222\naccounts {{\n{exporting}\nB {{ imports: [ {imports} ] }}\n}}\n"
    )
    assert [finding.rule for finding in lint([tmp_path]).findings] == ["doubled-delivery"]
