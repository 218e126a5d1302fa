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
    finding = _only(lint([tmp_path]))
    assert finding.rule == "doubled-delivery"
    assert "a [A] -> a [B] and a [A] -> a [B];" in finding.message


@pytest.mark.parametrize(
    ("lines", "useless"),
    [
        ("topic a/# in\ntopic a/# both", {1}),
        ('bridge_attempt_unsubscribe false\ntopic a/# in\ntopic a/# both 0 p/ ""', {2}),
        ('topic a/+ both\ntopic a/+ both 0 p/ ""', set()),
        ('topic a/# both\ntopic a/# in 1 a/ ""', set()),
        ("topic a/# out 1\ntopic a/# out 0", set()),
        ('topic a/# out 0\ntopic a/b out 1 "" r/', set()),
    ],
)
def test_a_line_is_useless_only_if_nothing_changes_without_it(
    mesh: Mesh, lines: str, useless: set[int]
) -> None:
    report = mesh([{"name": "a", "version": "2.0.18"}, {"name": "b", "version": "2.0.18"}], a=[("b", lines)])
    found = {each.place.line - 3 for each in report.findings if each.rule == "useless-line"}
    assert found == useless


def test_lines_to_a_broker_that_no_file_describes_are_compared(mesh: Mesh) -> None:
    lines = "bridge_protocol_version mqttv50\ntopic t/# out\ntopic +/a out"
    assert _rules(mesh(a=[("elsewhere", lines)])) == ["overlapping-lines"]


def test_the_witness_of_a_growing_loop_goes_round_more_than_once(mesh: Mesh) -> None:
    report = mesh(a=[("b", "topic +/b/# in")], b=[("a", 'topic # in 0 b/ ""')])
    found = _only(report)
    assert (found.rule, found.topic) == ("growing-loop", "b/b/x")


def _nats(folder: Path, **texts: str) -> Report:
    """Lint NATS servers a, b and c, which take leaf nodes at ports 7001 to 7003."""
    for number, (name, text) in enumerate(texts.items(), 1):
        own = f"server_name: {name}\nlisten: 127.0.0.1:{4000 + number}\n{text}\n"
        (folder / f"{name}.conf").write_text(own)
    inventory = folder / "inventory.json"
    if not inventory.exists():
        return lint([folder])
    return lint(sorted(folder.glob("*.conf")), read_inventory(inventory))


_TWO_ACCOUNTS = """
accounts {
  X { users: [{user: x, password: "$2a$11$x"}], exports: [{stream: ">"}] }
  Y { imports: [{stream: {account: X, subject: ">"}}] }
}
"""
_AS_X = "{user: x, password: $word, account: X}"


def test_a_loop_over_links_of_which_nats_refuses_one_is_not_decided(tmp_path: Path) -> None:
    remotes = "{url: 'nats://127.0.0.1:7002', account: X}, {url: 'nats://127.0.0.1:7002', account: Y}"
    report = _nats(
        tmp_path,
        a=f"{_TWO_ACCOUNTS} leafnodes {{ listen: '127.0.0.1:7001', "
        f"authorization: {_AS_X}, remotes: [{remotes}] }}",
        b="leafnodes { listen: '127.0.0.1:7002', remotes: [{url: 'nats://127.0.0.1:7003'}] }",
        c="leafnodes { listen: '127.0.0.1:7003', remotes: [{url: 'nats://x@127.0.0.1:7001'}] }",
    )
    assert set(_rules(report)) == {"refused-link", "not-decided"}


def test_links_that_nats_refuses_or_keeps_by_the_order_of_starts_are_not_told_as_a_loop(
    tmp_path: Path,
) -> None:
    report = _nats(
        tmp_path,
        a=f"{_TWO_ACCOUNTS} leafnodes {{ listen: '127.0.0.1:7001', authorization: {_AS_X}, "
        f"remotes: [{{url: 'nats://127.0.0.1:7002', account: Y}}] }}",
        b="leafnodes { listen: '127.0.0.1:7002', remotes: [{url: 'nats://x@127.0.0.1:7001'}] }",
    )
    assert _rules(report) == ["not-decided"]


def test_subscribers_are_reached_over_what_a_cycle_of_leaf_nodes_keeps(tmp_path: Path) -> None:
    brokers = [
        {"name": "a", "publishes": ["t"], "subscribes": []},
        {"name": "b", "publishes": [], "subscribes": ["t"]},
        {"name": "c", "publishes": [], "subscribes": ["t"]},
    ]
    (tmp_path / "inventory.json").write_text(json.dumps({"brokers": brokers}))
    ring = {
        name: f"leafnodes {{ listen: '127.0.0.1:{port}', remotes: [{{url: 'nats://127.0.0.1:{to}'}}] }}"
        for name, port, to in [("a", 7001, 7002), ("b", 7002, 7003), ("c", 7003, 7001)]
    }
    assert _rules(_nats(tmp_path, **ring)) == ["refused-link"]


@pytest.mark.parametrize(
    ("wanted", "at_opener", "rules"),
    [
        (["t.*"], [], ["unreachable"]),
        (["t.a"], [], []),
        (["t.a"], ["u.>"], ["not-decided"]),
        (["u.>"], [], []),
    ],
)
@pytest.mark.parametrize("by_user", [False, True])
def test_what_must_not_come_in_does_not_go_out_to_subscribers_with_wildcards(
    tmp_path: Path, wanted: list[str], at_opener: list[str], rules: list[str], by_user: bool
) -> None:
    brokers = [
        {"name": "a", "publishes": [], "subscribes": wanted},
        {"name": "b", "publishes": ["t.a", "u.a"], "subscribes": at_opener},
    ]
    (tmp_path / "inventory.json").write_text(json.dumps({"brokers": brokers}))
    user = "{user: x, password: $word, permissions: {subscribe: {deny: ['t.a']}}}"
    users = f"authorization: {{users: [{user}]}}\n" if by_user else ""
    remote = "url: 'nats://x@127.0.0.1:7001'" + ("" if by_user else ", deny_imports: ['t.a']")
    report = _nats(
        tmp_path,
        a=f"{users}leafnodes {{ listen: '127.0.0.1:7001' }}",
        b=f"leafnodes {{ remotes: [{{{remote}}}] }}",
    )
    assert _rules(report) == rules


def test_what_a_link_denies_of_a_wide_filter_does_not_get_there(tmp_path: Path) -> None:
    brokers = [
        {"name": "a", "publishes": [], "subscribes": [">"]},
        {"name": "b", "publishes": [">"], "subscribes": []},
    ]
    (tmp_path / "inventory.json").write_text(json.dumps({"brokers": brokers}))
    report = _nats(
        tmp_path,
        a="leafnodes { listen: '127.0.0.1:7001' }",
        b="leafnodes { remotes: [{url: 'nats://127.0.0.1:7001', deny_exports: ['p.>']}] }",
    )
    assert (_rules(report), report.findings[0].topic) == (["unreachable"], "p.x")


@pytest.mark.parametrize(
    ("between", "opens", "rules"),
    [([], "b", ["unreachable"]), (["t.*"], "b", []), ([], "c", [])],
    ids=["nobody between", "somebody between", "opened by the other end"],
)
def test_between_links_that_a_nats_server_opened_goes_only_what_its_clients_want(
    tmp_path: Path, between: list[str], opens: str, rules: list[str]
) -> None:
    brokers = [
        {"name": "a", "publishes": [], "subscribes": ["t.1"]},
        {"name": "b", "publishes": [], "subscribes": between},
        {"name": "c", "publishes": ["t.1"], "subscribes": []},
    ]
    (tmp_path / "inventory.json").write_text(json.dumps({"brokers": brokers}))
    more = ", {url: 'nats://127.0.0.1:7003'}" if opens == "b" else ""
    back = "" if opens == "b" else ", remotes: [{url: 'nats://127.0.0.1:7002'}]"
    own = f"remotes: [{{url: 'nats://127.0.0.1:7001'}}{more}]"
    report = _nats(
        tmp_path,
        a="leafnodes { listen: '127.0.0.1:7001' }",
        b=f"leafnodes {{ listen: '127.0.0.1:7002', {own} }}",
        c=f"leafnodes {{ listen: '127.0.0.1:7003'{back} }}",
    )
    assert _rules(report) == rules


def _rabbits(folder: Path, routes: list[tuple[str, str]], shovelled: list[str]) -> Report:
    """Lint a broker whose bindings, (queue, key), lead to queues from which shovels take messages to b."""
    bindings = [
        {"source": "t", "vhost": "/", "destination": queue, "destination_type": "queue", "routing_key": key}
        for queue, key in routes
    ]
    shovels = [
        {"src-uri": "amqp://", "src-queue": queue, "dest-uri": "amqp://b", "dest-exchange": "t"}
        for queue in shovelled
    ]
    parameters = [
        {"component": "shovel", "vhost": "/", "name": f"s{at}", "value": value}
        for at, value in enumerate(shovels)
    ]
    exchanges = [{"name": "t", "vhost": "/", "type": "topic"}]
    for name, own in (("a", {"bindings": bindings, "parameters": parameters}), ("b", {})):
        called = [{"name": "cluster_name", "value": name}]
        file = {"rabbit_version": "3.13.0", "global_parameters": called, "exchanges": exchanges, **own}
        (folder / f"{name}.json").write_text(json.dumps(file))
    return lint([folder])


@pytest.mark.parametrize(
    ("routes", "shovelled", "rules"),
    [
        ([("q", "a.*"), ("q", "*.b")], ["q"], []),
        ([("q", "#")], ["q", "q"], []),
        ([("q", "a.*"), ("r", "*.b")], ["q", "r"], ["doubled-delivery"]),
    ],
    ids=["a queue bound twice", "shovels of one queue", "two queues"],
)
def test_a_queue_of_rabbitmq_gets_a_message_once_and_gives_it_once(
    tmp_path: Path, routes: list[tuple[str, str]], shovelled: list[str], rules: list[str]
) -> None:
    assert _rules(_rabbits(tmp_path, routes, shovelled)) == rules


@pytest.mark.parametrize("opens", ["b", "c"])
@pytest.mark.parametrize("kind", ["stream", "service"])
def test_an_import_carries_nothing_between_links_that_the_server_itself_opened(
    tmp_path: Path, kind: str, opens: str
) -> None:
    brokers = [
        {"name": "a", "publishes": [], "subscribes": ["t.1"]},
        {"name": "b", "publishes": [], "subscribes": []},
        {"name": "c", "publishes": ["t.1"], "subscribes": []},
    ]
    (tmp_path / "inventory.json").write_text(json.dumps({"brokers": brokers}))
    exporting, importing = ("X", "Y") if kind == "stream" else ("Y", "X")
    accounts = (
        f"accounts {{ {exporting} {{ exports: [{{{kind}: '>'}}] }}, "
        f"{importing} {{ imports: [{{{kind}: {{account: {exporting}, subject: '>'}}}}] }} }}"
    )
    own = f"authorization: {_AS_X}, remotes: [{{url: 'nats://127.0.0.1:7001', account: Y}}"
    more = ", {url: 'nats://127.0.0.1:7003', account: X}" if opens == "b" else ""
    back = "" if opens == "b" else ", remotes: [{url: 'nats://x@127.0.0.1:7002'}]"
    report = _nats(
        tmp_path,
        a="leafnodes { listen: '127.0.0.1:7001' }",
        b=f"{accounts}\nleafnodes {{ listen: '127.0.0.1:7002', {own}{more}] }}",
        c=f"leafnodes {{ listen: '127.0.0.1:7003'{back} }}",
    )
    assert _rules(report) == (["unreachable"] if opens == "b" else [])


_QUIET = "scouting: {multicast: {enabled: false}%s}"
_NO_GOSSIP = ", gossip: {enabled: false}"


@pytest.mark.parametrize(
    ("modes", "gossip", "reached"),
    [
        ("router router router", "", True),
        ("router peer router", "", False),
        ("peer peer peer", "", True),
        ("peer peer peer peer", "", True),
        ("peer peer peer", _NO_GOSSIP, False),
        ("peer router peer", _NO_GOSSIP, True),
        ("client peer client", _NO_GOSSIP, True),
        ("peer peer client", _NO_GOSSIP, True),
        ("router peer client", _NO_GOSSIP, True),
        ("peer peer router", "", False),
        ("peer peer peer client", _NO_GOSSIP, False),
    ],
)
def test_nodes_of_zenoh_pass_on_by_their_modes(
    tmp_path: Path, modes: str, gossip: str, reached: bool
) -> None:
    """A chain of nodes; each verdict was measured with Zenoh 1.10.2, with the first node as publisher."""
    assert _rules(_zenoh_chain(tmp_path, modes.split(), _QUIET % gossip)) == (
        [] if reached else ["unreachable"]
    )


def test_who_may_be_found_by_multicast_is_not_told_as_out_of_reach(tmp_path: Path) -> None:
    report = _zenoh_chain(tmp_path, ["peer", "peer", "router"], "scouting: {}")
    assert {found.rule for found in report.findings} == {"not-decided"}
    assert not report.is_clean


def _zenoh_chain(folder: Path, modes: list[str], settings: str) -> Report:
    """The nodes a, b, … in a chain; clients connect to their neighbour, others to the one before them."""
    names = "abcdefg"[: len(modes)]
    for name, mode, before, after in zip(names, modes, " " + names, names[1:] + " ", strict=False):
        other = after if mode == "client" and before == " " else before
        is_opener = other != " " and not (other == before and modes[names.index(other)] == "client")
        connect = f'connect: {{endpoints: ["tcp/{other}:7447"]}}, ' if is_opener else ""
        listen = "" if mode == "client" else f'listen: {{endpoints: ["tcp/{name}:7447"]}}, '
        (folder / f"{name}.json5").write_text(f'{{mode: "{mode}", {listen}{connect}{settings}}}')
    brokers = [{"name": name, "subscribes": ["t"] if name == names[-1] else []} for name in names]
    brokers[0] = {"name": "a", "publishes": ["t"]}
    (folder / "inventory.json").write_text(json.dumps({"brokers": brokers}))
    paths = [folder / f"{name}.json5" for name in names]
    return lint(paths, read_inventory(folder / "inventory.json"))


def test_a_shared_line_beside_a_plain_one_loops_where_it_has_both_directions(mesh: Mesh) -> None:
    assert _rules(mesh(a=[("b", "topic # both\ntopic $share/g/# both")])) == ["loop"]
    assert _rules(mesh(a=[("b", "topic t/# both\ntopic $share/g/u/# both")])) == ["loop"]
    assert _rules(mesh(a=[("b", "topic # out\ntopic $share/g/# out")])) == []


def test_a_witness_has_a_name_that_can_be_published(mesh: Mesh) -> None:
    report = mesh(a=[("b", "try_private false\ntopic /#\ntopic #\ntopic # in")])
    assert {finding.topic for finding in report.findings if finding.severity != "note"} == {"/x", "x"}


def test_files_that_include_each_other_are_one_broker(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "a.conf").write_text("listener 1883\ninclude_dir d\n")
    (tmp_path / "d" / "x.conf").write_text("include_dir ..\n")
    report = lint([tmp_path])
    assert (report.brokers, _rules(report)) == (1, ["useless-line"])


def test_a_file_of_nats_that_includes_itself_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.conf").write_text('leafnodes{port:1}\ninclude "a.conf"\n')
    found = _only(lint([tmp_path]))
    assert (found.rule, found.place.line) == ("unreadable", 2)


def test_links_to_two_members_of_a_cluster_have_a_witness_that_they_carry(tmp_path: Path) -> None:
    hub = (
        "server_name: {0}\nleafnodes {{listen: '{0}:7422'}}\ncluster {{listen: '{0}:6222', routes: [{1}]}}\n"
    )
    (tmp_path / "a.conf").write_text(hub.format("a", "'nats://b:6222'"))
    (tmp_path / "b.conf").write_text(hub.format("b", ""))
    remotes = "{url: 'nats://a:7422', deny_imports: ['t.>']}, {url: 'nats://b:7422'}"
    (tmp_path / "c.conf").write_text(f"server_name: c\nleafnodes {{remotes: [{remotes}]}}\n")
    found = _only(lint([tmp_path]))
    assert (found.rule, found.topic) == ("doubled-delivery", "x")
    assert [stop.broker for stop in found.path] == ["a", "c"]
    assert [stop.broker for stop in found.other_path] == ["a", "b", "c"]


def test_a_member_passes_on_between_its_leaf_link_and_gateways_but_not_routes(tmp_path: Path) -> None:
    """Measured with nats-server 2.15: d hears what a sends, and c does not."""
    member = (
        "server_name: {0}\ncluster {{listen: '{0}:6222', routes: ['nats://{1}:6222']}}\n"
        "gateway {{name: main, listen: '{0}:7222', gateways: [{{name: far, url: 'nats://d:7222'}}]}}\n"
    )
    link = "leafnodes {remotes: [{url: 'nats://a:7422'}]}\n"
    (tmp_path / "a.conf").write_text("server_name: a\nleafnodes {listen: 'a:7422'}\n")
    (tmp_path / "b.conf").write_text(member.format("b", "c") + link)
    (tmp_path / "c.conf").write_text(member.format("c", "b"))
    (tmp_path / "d.conf").write_text("server_name: d\ngateway {name: far, listen: 'd:7222'}\n")
    wants = [{"name": name, "publishes": [], "subscribes": ["t"]} for name in "bcd"]
    inventory = tmp_path / "inventory.json"
    inventory.write_text(json.dumps({"brokers": [{"name": "a", "publishes": ["t"]}, *wants]}))
    report = lint([tmp_path], read_inventory(inventory))
    unreached = [found for found in report.findings if found.rule == "unreachable"]
    assert {stop.broker for found in unreached for stop in found.path[1:]} == {"c"}


def test_filters_of_one_broker_that_nothing_reaches_are_counted(mesh: Mesh) -> None:
    entries = [
        {"name": "a", "publishes": ["t/1", "t/2", "t/3"], "subscribes": []},
        {"name": "b", "publishes": [], "subscribes": ["t/1", "t/2", "t/3"]},
    ]
    found = [each for each in mesh(entries, a=[("b", "topic u out")]).findings if each.rule == "unreachable"]
    assert len(found) == 1
    assert found[0].message.endswith("(the same is true of 2 other filters there)")


def test_a_link_to_itself_brings_a_name_by_both_directions(mesh: Mesh) -> None:
    lines = 'topic # out 0 a/ b/\ntopic a/# in 0 b/ ""'
    assert "doubled-delivery" in _rules(mesh(a=[("a", lines)]))
