"""Comments that suppress findings, with a reason: `# meshwright: ignore RULE: reason`."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from meshwright.deploy.lint.findings import RULES, Finding
from meshwright.deploy.mesh import Place
from meshwright.runtime.errors import quoted
from meshwright.runtime.wording import choose

_COMMENT_MARKS = ("#", "//", "/*", "*")

Suppression = tuple[Place, str, str]


def suppressed(findings: Iterable[Finding], suppressions: Sequence[Suppression]) -> Iterator[Finding]:
    """The findings, those that a comment suppresses with its reason, and a finding for each vain comment.

    A comment holds for the line that it is on, and for the next line below it that is no comment; one
    without a line holds for the whole file. A finding is suppressed at any of the lines of its witness.
    """
    held = [(place, rule, reason, _lines_below(place)) for place, rule, reason in suppressions]
    used: set[Place] = set()
    for finding in findings:
        found = {
            place: reason
            for place, rule, reason, lines in held
            if rule == finding.rule and any(_holds(place, lines, one) for one in finding.places)
        }
        used.update(found)
        yield finding._replace(reason=next(iter(found.values()), None))
    for place, rule, _ in suppressions:
        if place not in used:
            yield _in_vain(place, rule)


def _holds(place: Place, lines: frozenset[int], at: Place) -> bool:
    return at.file == place.file and (place.line == 0 or at.line in lines)


def _lines_below(place: Place) -> frozenset[int]:
    """The line of a comment, and the first below it that is no comment."""
    if not place.line:
        return frozenset()
    try:
        text = Path(place.file).read_bytes().decode("utf-8-sig", "replace")
    except OSError:
        return frozenset({place.line})
    below = enumerate(text.split("\n")[place.line :], start=place.line + 1)
    own = (number for number, line in below if line.strip() and not line.strip().startswith(_COMMENT_MARKS))
    return frozenset({place.line, next(own, place.line)})


def _in_vain(place: Place, rule: str) -> Finding:
    if rule not in RULES:
        said = f"this comment suppresses {quoted(rule)}, which is no rule; {choose(rule, RULES)}"
        return Finding("useless-line", "warning", said, place)
    said = f"this comment suppresses {rule}, but there is no such finding at the line below; remove it"
    return Finding("useless-line", "note", said, place)
