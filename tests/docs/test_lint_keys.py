"""The page on lint documents the keys of its JSON: all that there are, and no others."""

import json
import re
from pathlib import Path

from typer.testing import CliRunner

from meshwright.cli import app

_PAGE = Path(__file__).parents[2] / "docs/lint.md"
_TABLE = re.compile(r"\| key \| what it is \|\n\| --- \| --- \|\n((?:\|.*\n)+)")
_LINKS = "connection {name}\naddress {other}\n{comment}topic {topic} {way}\n"
_FILES = {
    # A loop whose finding is suppressed, and one that is not.
    "a.conf": _LINKS.format(
        name="x", other="b", comment="# meshwright: ignore both-ends: known\n", topic="t/#", way="both"
    ),
    "b.conf": _LINKS.format(name="y", other="a", comment="", topic="t/#", way="both")
    + _LINKS.format(name="z", other="c", comment="", topic="u/#", way="both"),
    "c.conf": _LINKS.format(name="z", other="b", comment="", topic="u/#", way="both"),
}


def _documented() -> list[set[str]]:
    tables = [found[1] for found in _TABLE.finditer(_PAGE.read_text())]
    return [
        {key for row in table.splitlines() for key in re.findall(r"`(\w+)`", row.split("|")[1])}
        for table in tables
    ]


def test_the_keys_of_json_are_those_that_the_page_documents(tmp_path: Path) -> None:
    for name, text in _FILES.items():
        (tmp_path / name).write_text("listener 1883\n" + text)
    printed = json.loads(CliRunner().invoke(app, ["lint", str(tmp_path), "--json"]).stdout)
    (finding,), (hidden,) = printed["findings"], printed["suppressed"]
    assert finding["rule"] == hidden["rule"] == "both-ends"
    report_keys, finding_keys, stop_keys = _documented()
    assert printed.keys() == report_keys
    assert hidden.keys() == finding_keys
    assert finding.keys() == finding_keys - {"reason"}
    assert {key for stop in finding["steps"] for key in stop} == stop_keys
