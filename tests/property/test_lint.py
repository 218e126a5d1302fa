"""Lint against the simulation of Mosquitto: whatever the mesh, both find the same kinds of trouble."""

import tempfile
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from meshwright.deploy.lint.findings import Finding
from meshwright.deploy.lint.linting import lint
from tests.oracles_lint import Connection, Line, crossing, simulate, write

_PATTERNS = ("#", "a/#", "+/b", "a", "+", "a/b", "+/#", "$d/#", "a/$d/+")
_PREFIXES = ("", "", "", "a/", "b/", "a/b/", "$d/")
_WORDS = ("a", "b", "z", "$d")
_NAMES = ["/".join(words) for length in (1, 2, 3) for words in product(_WORDS, repeat=length)]

_lines = st.builds(
    Line,
    st.sampled_from(_PATTERNS),
    st.sampled_from(("both", "in", "out")),
    st.sampled_from(_PREFIXES),
    st.sampled_from(_PREFIXES),
)
_connections = st.builds(
    Connection,
    st.integers(0, 2),
    st.integers(0, 2),
    st.lists(_lines, min_size=1, max_size=2).map(tuple),
    st.sampled_from((True, True, True, False)),
)


def _lint(connections: list[Connection]) -> list[Finding]:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), 3, connections)
        return [finding for finding in lint([Path(folder)]).findings if finding.severity != "note"]


def _kind(finding: Finding) -> str:
    if finding.rule == "both-ends":
        return "loop" if "loops" in finding.message else "doubled-delivery"
    return finding.rule


def _without_unsubscribed(connection: Connection) -> bool:
    """Whether no line out unsubscribes from what an earlier one takes in; the simulation can't do that."""
    incoming: set[str] = set()
    for line in connection.lines:
        if line.direction == "out" and line.remote + line.pattern in incoming:
            return False
        if line.direction != "out":
            incoming.add(line.remote + line.pattern)
    return True


_meshes = st.lists(_connections, min_size=1, max_size=4).filter(
    lambda connections: all(map(_without_unsubscribed, connections))
)


@given(_meshes)
def test_lint_finds_what_simulated_messages_get_into(connections: list[Connection]) -> None:
    verdict = simulate(3, connections, _NAMES)
    found = {_kind(finding) for finding in _lint(connections)}
    assert not verdict.loops or found & {"loop", "not-decided"}
    assert not verdict.grows or found & {"growing-loop", "not-decided"}
    assert not verdict.doubles or found & {"doubled-delivery", "loop", "growing-loop", "not-decided"}


@given(_meshes)
def test_a_message_on_the_topic_of_a_finding_gets_into_that_trouble(connections: list[Connection]) -> None:
    for finding in _lint(connections):
        kind = _kind(finding)
        if finding.topic is None or kind not in ("loop", "growing-loop", "doubled-delivery"):
            continue
        verdict = simulate(3, connections, [finding.topic])
        trouble = {"loop": verdict.loops, "growing-loop": verdict.grows}.get(kind)
        assert trouble or (kind == "doubled-delivery" and (verdict.doubles or verdict.loops or verdict.grows))


def _lines_of(connections: list[Connection]) -> dict[tuple[str, int], Connection]:
    """By file and number, each topic line as a connection of its own."""
    found = {}
    for number in range(3):
        at = 1
        for connection in (each for each in connections if each.opener == number):
            at += 2 if connection.private else 3
            for line in connection.lines:
                at += 1
                found[f"b{number}.conf", at] = replace(connection, lines=(line,))
    return found


@given(_meshes)
def test_every_line_of_a_witness_matches_the_name_that_crosses(connections: list[Connection]) -> None:
    lines = _lines_of(connections)
    for finding in _lint(connections):
        for path in (finding.path, finding.other_path):
            for before, after in pairwise(path):
                assert after.place is not None
                line = lines[Path(after.place.file).name, after.place.line]
                names = [crossing(line, before.name, outward=outward) for outward in (True, False)]
                assert after.name in names
