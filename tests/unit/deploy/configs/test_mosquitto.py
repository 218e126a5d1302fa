import re
import subprocess
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshwright.deploy.configs import mosquitto
from meshwright.deploy.configs.mosquitto import looks_like, parse
from meshwright.deploy.configs.mosquitto_directives import ONCE, SAME
from meshwright.deploy.mesh import Flow, Parsed
from tests.brokers.binaries import command


def _parsed(folder: Path, text: str) -> Parsed:
    file = folder / "a.conf"
    file.write_text(text)
    return parse(file)


def _bridge(folder: Path, *lines: str) -> Parsed:
    return _parsed(folder, "\n".join(["connection b", "address b.example", *lines, ""]))


def _changes(parsed: Parsed) -> list[tuple[str, str, str, bool]]:
    return [(flow.filter, flow.strip, flow.add, flow.pulls) for flow in parsed.flows]


def _rules(parsed: Parsed) -> list[str]:
    return [note.rule for note in parsed.notes]


def test_a_line_goes_out_unless_it_says_otherwise(tmp_path: Path) -> None:
    assert _changes(_bridge(tmp_path, "topic plant/#")) == [("plant/#", "", "", False)]


def test_both_is_a_flow_in_each_direction(tmp_path: Path) -> None:
    one, other = _bridge(tmp_path, "topic plant/# both 1").flows
    assert (one.target, other.source) == ("b.example:1883", "b.example:1883")
    assert (one.pulls, other.pulls, one.qos) == (False, True, 1)
    assert one.link == other.link


def test_prefixes_are_taken_at_the_end_from_which_names_come(tmp_path: Path) -> None:
    parsed = _bridge(tmp_path, "topic t/# both 0 l/ r/")
    assert _changes(parsed) == [("l/t/#", "l/", "r/", False), ("r/t/#", "r/", "l/", True)]


def test_the_bare_name_of_a_prefix_keeps_its_name(tmp_path: Path) -> None:
    parsed = _bridge(tmp_path, "topic # out 0 l/ r/")
    assert _changes(parsed) == [("l/#", "l/", "r/", False), ("l", "", "r/", False)]


def test_an_empty_pattern_renames_one_name(tmp_path: Path) -> None:
    assert _changes(_bridge(tmp_path, 'topic "" out 0 l/x r/y')) == [("l/x", "l/x", "r/y", False)]


def test_try_private_false_echoes_what_comes_in_except_with_mqtt_5(tmp_path: Path) -> None:
    def echoes(*lines: str) -> list[bool]:
        return [flow.echoes for flow in _bridge(tmp_path, *lines, "topic # both").flows]

    assert echoes() == [False, False]
    assert echoes("try_private false") == [False, True]
    assert echoes("try_private false", "bridge_protocol_version mqttv50") == [False, False]


def test_only_lines_of_mqtt_5_double_by_themselves(tmp_path: Path) -> None:
    assert not _bridge(tmp_path, "topic # out").flows[0].doubles
    assert _bridge(tmp_path, "topic # out", "bridge_protocol_version mqttv50").flows[0].doubles


def test_options_hold_for_the_whole_connection_wherever_they_stand(tmp_path: Path) -> None:
    parsed = _parsed(tmp_path, "connection b\ntopic # in\ntry_private false\naddress b:2 c\n")
    assert [(flow.source, flow.echoes) for flow in parsed.flows] == [("b:2 c:1883", True)]


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("", (":1883",)),
        ("listener 1884\n", (":1884",)),
        ("port 1885\nbind_address 10.0.0.1\nlistener 1886 ::1\n", ("10.0.0.1:1885", "[::1]:1886")),
        ("listener 0 /run/mosquitto.sock\nlistener 1887 Host.Example\n", ("host.example:1887",)),
    ],
)
def test_a_broker_is_found_at_its_listeners(tmp_path: Path, text: str, addresses: tuple[str, ...]) -> None:
    assert _parsed(tmp_path, text).brokers[0].addresses == addresses


@pytest.mark.parametrize(
    "line",
    [
        "topic",
        "topic # sideways",
        "topic # out 3",
        'topic # out 0 "" r',
        "topic # out 0 a/+/ b/",
        'topic "" out 0 a ""',
        "topic a#/b out",
        "address b.example:none",
        "try_private maybe",
        "bridge_protocol_version 5",
        "connection b",
        "address twice.example",
        "listener abc",
        "listener 0",
        "start_type manual",
        "max_qos 7",
        "log_type silly",
        " # an indented comment",
    ],
)
def test_a_line_that_mosquitto_refuses_is_an_error_at_that_line(tmp_path: Path, line: str) -> None:
    parsed = _bridge(tmp_path, "topic a out", line)
    refused = [note for note in parsed.notes if note.rule == "unreadable"]
    assert (refused[0].severity, refused[0].place.line) == ("error", 4)


@pytest.mark.parametrize(
    "text", ["topic # out\n", "connection b\ntopic # out\n", "connection b\naddress c\n"]
)
def test_half_a_connection_is_an_error(tmp_path: Path, text: str) -> None:
    assert _rules(_parsed(tmp_path, text)) == ["unreadable"]


def test_words_are_separated_by_blanks_alone_and_a_hash_ends_a_topic_line(tmp_path: Path) -> None:
    assert _changes(_bridge(tmp_path, "  topic   t/#  OUT  # as agreed")) == [("t/#", "", "", False)]
    assert _rules(_bridge(tmp_path, "\ttopic # out", "topic a")) == ["unreadable"]


def test_an_unknown_directive_is_reported_once(tmp_path: Path) -> None:
    parsed = _parsed(tmp_path, "listner 1883\nlistner 1884\n")
    assert _rules(parsed) == ["unknown-directive"]
    assert "listener" in parsed.notes[0].message


def test_secrets_are_reported_without_being_repeated_and_placeholders_are_none(tmp_path: Path) -> None:
    parsed = _bridge(tmp_path, "remote_password hunter2", "local_password ${PASSWORD}", "topic #")
    assert _rules(parsed) == ["secret"]
    assert "hunter2" not in parsed.notes[0].message


def test_a_line_out_unsubscribes_from_the_same_topic_that_came_in(tmp_path: Path) -> None:
    parsed = _bridge(tmp_path, "topic a/# in", "topic a/# out")
    assert [flow.pulls for flow in parsed.flows] == [False]
    assert [(note.rule, note.place.line) for note in parsed.notes] == [("useless-line", 3)]
    kept = _bridge(tmp_path, "topic a/# in", "topic a/# out", "bridge_attempt_unsubscribe false")
    assert [flow.pulls for flow in kept.flows] == [True, False]


def test_included_files_are_read_in_order_and_belong_to_the_broker(tmp_path: Path) -> None:
    folder = tmp_path / "conf.d"
    folder.mkdir()
    for name in ("b.conf", "A.conf", "notes.txt"):
        (folder / name).write_text(f"connection {name}\naddress {name}\ntopic #\n")
    parsed = _parsed(tmp_path, "include_dir /etc/mosquitto/conf.d\n")
    assert [flow.target for flow in parsed.flows] == ["a.conf:1883", "b.conf:1883"]
    assert {Path(flow.place.file).name for flow in parsed.flows} == {"A.conf", "b.conf"}
    assert len(parsed.included) == 2
    assert not parsed.notes


def test_a_file_that_includes_itself_is_an_error(tmp_path: Path) -> None:
    assert _rules(_parsed(tmp_path, f"include_dir {tmp_path}\n")) == ["unreadable"]
    assert _rules(_parsed(tmp_path, "include_dir .\n")) == ["unreadable"]


def test_the_root_folder_is_not_that_of_the_file(tmp_path: Path) -> None:
    assert "includes itself" not in str(_parsed(tmp_path, "include_dir /\n").notes)


def test_a_folder_that_is_missing_is_told(tmp_path: Path) -> None:
    assert _rules(_parsed(tmp_path, "include_dir nowhere\n")) == ["unreadable"]


def test_suppressions_have_a_rule_and_a_reason(tmp_path: Path) -> None:
    parsed = _parsed(tmp_path, "# meshwright: ignore loop: on purpose\n# meshwright: ignore loop\n")
    assert [(place.line, rule, reason) for place, rule, reason in parsed.suppressions] == [
        (1, "loop", "on purpose")
    ]
    assert _rules(parsed) == ["useless-line"]


def test_an_unreadable_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "a.conf"
    file.write_bytes(b"listener \xff\xfe\n")
    assert _rules(parse(file)) == ["unreadable"]


def test_what_looks_like_mosquitto() -> None:
    assert looks_like(Path("a.conf"), b"# mine\nlistener 1883\n")
    assert looks_like(Path("mosquitto.conf"), b"")
    assert not looks_like(Path("a.conf"), b"port: 4222\nleafnodes {\n  remotes = []\n}\n")
    assert not looks_like(Path("notes.md"), b"listener 1883\n")


_WORDS = [
    *("connection", "topic", "address", "listener", "include_dir", "try_private", "port", "remote_password"),
    *("#", "+", '""', "both", "in", "a/", "x", "0", "9", "-1", "99999", "$SYS/#", ":", "[", "²", "é"),
]
_words = st.sampled_from([*_WORDS, "\x00", "\ttopic"])


@given(st.lists(st.lists(_words, max_size=6).map(" ".join), max_size=8).map("\n".join) | st.text())
def test_no_text_makes_the_reader_fail(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    file = tmp_path_factory.getbasetemp() / "any.conf"
    file.write_text(text, encoding="utf-8", errors="surrogatepass")
    parsed = parse(file)
    assert len(parsed.brokers) == 1
    assert all(isinstance(flow, Flow) for flow in parsed.flows)


@pytest.mark.parametrize(
    "address",
    [
        "mqtts://user:HuNtEr9@b.example.org:8883",
        "user:HuNtEr9@b.example.org:8883",
        "user:HuNtEr9@b.example.org",
        "user:Hu@NtEr9@b.example.org",
        "user:HuNtEr9@b.example.org:port",
        "mqtts://user:HuNt/Er9@b.example.org:8883",
    ],
)
def test_a_password_in_an_address_is_told_and_never_shown(tmp_path: Path, address: str) -> None:
    parsed = _parsed(tmp_path, f"connection b\naddress {address}\ntopic # out\n")
    assert "secret" in _rules(parsed)
    assert "unreadable" in _rules(parsed)
    shown = " ".join([*(note.message for note in parsed.notes), *(flow.target for flow in parsed.flows)])
    assert not re.search("hu@?nt|er9|user:", shown, re.IGNORECASE)
    assert all(flow.target.partition(":")[0] == "b.example.org" for flow in parsed.flows)


@pytest.mark.parametrize("mark", ["\t", "=", ":"])
def test_a_secret_that_no_blank_separates_from_its_name_is_not_shown(tmp_path: Path, mark: str) -> None:
    parsed = _bridge(tmp_path, f"remote_password{mark}hunter2", "topic #")
    assert _rules(parsed) == ["unreadable", "secret"]
    assert not any("hunter2" in note.message for note in parsed.notes)


def test_a_filter_that_is_none_is_refused_by_the_other_end_unless_a_prefix_is_checked(tmp_path: Path) -> None:
    (alone,) = _bridge(tmp_path, "topic a/#/b both 0").notes
    assert (alone.rule, alone.severity) == ("unreadable", "error")
    assert "Mosquitto starts with it" in alone.message
    assert "prefix" not in alone.message
    (prefixed,) = _bridge(tmp_path, "topic a/#/b both 0 l/ r/").notes
    assert "does not start" in prefixed.message
    assert "correct the topic" in prefixed.message
    (joined,) = _bridge(tmp_path, 'topic # both 0 "" r').notes
    assert "end the prefix with /" in joined.message


def test_nothing_is_read_from_a_nul_byte_on(tmp_path: Path) -> None:
    parsed = _bridge(tmp_path, "topic a\0b both 0", "topic c")
    assert [(note.rule, note.severity, note.place.line) for note in parsed.notes] == [
        ("unreadable", "error", 3),
        ("unreadable", "error", 1),
    ]
    assert "NUL" in parsed.notes[0].message
    assert "has no topic line" in parsed.notes[1].message
    assert parsed.flows == []


@pytest.mark.parametrize(
    "line", ["topic a\0b both 0", "topic a/#/b both 0 l/ r/", 'topic # both 0 "" r', "remote_password\tx"]
)
def test_the_broker_does_not_start_with_what_lint_says_it_refuses(tmp_path: Path, line: str) -> None:
    parsed = _parsed(tmp_path, f"listener 0 {tmp_path}/s\nconnection b\naddress 127.0.0.1:9\n{line}\n")
    assert any(note.severity == "error" for note in parsed.notes)
    started = subprocess.run(command("mosquitto", tmp_path / "a.conf"), capture_output=True, check=False)
    assert started.returncode == 3


@pytest.mark.parametrize("name", sorted(ONCE))
def test_the_broker_does_not_start_with_a_directive_that_it_takes_once_given_twice(
    tmp_path: Path, name: str
) -> None:
    head = {"broker": "", "listener": f"listener 0 {tmp_path}/s\n", "bridge": "connection b\n"}[ONCE[name]]
    parsed = _parsed(tmp_path, f"{head}{name} 5\n{SAME.get(name, name)} 5\n")
    said = [note.message for note in parsed.notes if note.rule == "unreadable"]
    assert any("already, and Mosquitto does not start" in message for message in said)
    started = subprocess.run(command("mosquitto", tmp_path / "a.conf"), capture_output=True, check=False)
    assert started.returncode == 3
    assert b"uplicate" in started.stdout + started.stderr


def test_a_file_with_the_configurations_of_two_brokers_is_told(tmp_path: Path) -> None:
    one = "listener 1883\npid_file /run/m.pid\n"
    found = _parsed(tmp_path, f"{one}{one}port 1\nport 2\n").notes
    assert sorted((note.rule, note.place.line) for note in found) == [
        ("unreadable", 3),
        ("unreadable", 4),
        ("useless-line", 6),
    ]
    assert all("two brokers" in note.message for note in found if note.rule == "unreadable")


@pytest.mark.parametrize(
    "text",
    [
        "listener 1883 127.0.0.1\nlistener 1883 127.0.0.2\n",
        "listener 1883\nsocket_domain ipv4\nlistener 1883\nsocket_domain ipv6\n",
        "listener 1883\ncafile a\nlistener 1884\ncafile b\n",
        "per_listener_settings true\nlistener 1883\nacl_file a\nlistener 1884\nacl_file b\n",
        "connection x\naddress a\ntopic # out\nclientid i\n"
        "connection y\naddress b\ntopic # out\nclientid j\n",
    ],
)
def test_lines_about_different_listeners_and_connections_are_no_repeats(tmp_path: Path, text: str) -> None:
    assert _parsed(tmp_path, text).notes == []


def test_a_lazy_link_without_a_line_out_never_opens(tmp_path: Path) -> None:
    parsed = _bridge(tmp_path, "start_type lazy", "topic # in")
    assert ([(note.rule, note.place.line) for note in parsed.notes], parsed.flows) == (
        [("useless-line", 3)],
        [],
    )
    assert _rules(_bridge(tmp_path, "start_type lazy", "topic # both")) == ["not-decided"]
    assert _rules(_bridge(tmp_path, "start_type once", "topic # in")) == []


def test_bridges_reach_no_listener_for_websockets(tmp_path: Path) -> None:
    def addresses(text: str) -> tuple[str, ...]:
        return _parsed(tmp_path, text).brokers[0].addresses

    assert addresses("listener 1 h\nprotocol websockets\n") == ()
    assert addresses("listener 1 h\nlistener 2 h\nprotocol websockets\n") == ("h:1",)
    assert addresses("listener 1 h\nprotocol mqtt\n") == ("h:1",)


def test_a_shared_subscription_is_not_renamed_and_goes_back(tmp_path: Path) -> None:
    out, back = _bridge(tmp_path, "topic $share/g/t/# both 0 l/ r/", "topic u out").flows[:2]
    assert (out.filter, out.echoes, out.prefixed) == ("l/$share/g/t/#", False, True)
    out, back = _bridge(tmp_path, "topic t/# both 0 $share/g/ r/").flows
    assert (out.filter, out.echoes, out.strip, out.add) == ("$share/g/t/#", True, "", "")
    assert (back.filter, back.echoes, back.add) == ("r/t/#", False, "$share/g/")


def test_a_shared_subscription_beside_lines_with_prefixes_is_not_decided(tmp_path: Path) -> None:
    assert _rules(_bridge(tmp_path, "topic $share/g/t/# out", "topic # out 0 l/ r/")) == ["not-decided"]
    assert _rules(_bridge(tmp_path, "topic $share/g/t/# out", "topic # in 0 l/ r/")) == []
    assert _rules(_bridge(tmp_path, "topic $share/g/t/# out", "topic # out")) == []
    assert _rules(_bridge(tmp_path, "topic $share/g/t/# both 0 l/ r/", "topic u out")) == []


def test_a_line_is_looked_at_a_bounded_number_of_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = count()
    ends = mosquitto._Line.ends.fget
    assert ends is not None
    monkeypatch.setattr(mosquitto._Line, "ends", property(lambda line: (next(looks), ends(line))[1]))
    _bridge(tmp_path, *(f"topic {number} out 0 l/ r/" for number in range(200)))
    assert next(looks) <= 10 * 200


def test_a_byte_order_mark_is_told_as_mosquitto_does_not_start_with_it(tmp_path: Path) -> None:
    found = _parsed(tmp_path, "\ufefflistener 1883\n")
    assert [(note.rule, note.severity, note.place.line) for note in found.notes] == [
        ("unreadable", "error", 1)
    ]
    assert "byte order mark" in found.notes[0].message


@pytest.mark.parametrize(
    ("line", "rules"),
    [
        ("auth_opt_pg_password geheim", ["secret"]),
        ("auth_opt_jwt_sign_key geheim", ["secret"]),
        ("plugin_opt_mongo_uri mongodb://u:geheim@h/db", ["secret"]),
        ("auth_opt_jwt_key /etc/key.pem", []),
        ("auth_opt_http_uri http://h/auth", []),
    ],
)
def test_secrets_in_options_of_plugins_are_told(tmp_path: Path, line: str, rules: list[str]) -> None:
    parsed = _parsed(tmp_path, f"{line}\n")
    assert _rules(parsed) == rules
    assert not any("geheim" in note.message for note in parsed.notes)


@pytest.mark.parametrize("mark", ["\t", "\ufeff"])
def test_a_line_that_begins_with_no_blank_is_an_error_and_is_read_on(tmp_path: Path, mark: str) -> None:
    parsed = _parsed(
        tmp_path, f"listener 1\nconnection b\naddress h\ntopic t\n{mark}remote_password geheim\n"
    )
    assert _rules(parsed) == ["unreadable", "secret"]


def test_a_connection_without_a_name_is_told_once(tmp_path: Path) -> None:
    assert _rules(_parsed(tmp_path, "connection\n")) == ["unreadable"]


def test_a_flag_that_is_neither_true_nor_false_is_an_error(tmp_path: Path) -> None:
    assert _rules(_parsed(tmp_path, "allow_anonymous maybe\n")) == ["unreadable"]
    assert _rules(_parsed(tmp_path, "allow_anonymous 1\n")) == []
