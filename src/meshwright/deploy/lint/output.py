"""Findings as text for people, as JSON, and as SARIF for code hosts."""

import os
from collections.abc import Iterator
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

from meshwright.deploy.lint.findings import RULES, Finding, Stop
from meshwright.deploy.lint.linting import Report
from meshwright.deploy.mesh import Place
from meshwright.runtime.errors import visible
from meshwright.runtime.wording import count

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def as_text(report: Report) -> Iterator[str]:
    """Lines as compilers write them, with the lines of each witness below, and a summary."""
    for finding in report.findings:
        yield f"{_at(finding.place)}: {finding.severity}: {visible(finding.message)} [{finding.rule}]"
        yield from _walk(finding.path, finding.place)
        yield from _walk(finding.other_path, finding.place)
    yield _summary(report)


def _walk(path: tuple[Stop, ...], place: Place) -> Iterator[str]:
    """The lines of a witness, unless it has only the one that is shown already."""
    places = {stop.place for stop in path if stop.place is not None}
    if places <= {place}:
        return
    for before, stop in pairwise(path):
        if stop.place is not None:
            yield f"    {visible(before.broker)} -> {visible(stop.broker)}: {_at(stop.place)}"


def _at(place: Place) -> str:
    file = visible(place.file)
    return f"{file}:{place.line}" if place.line else file


def _summary(report: Report) -> str:
    lines = count(report.lines, "line that shares topics", "lines that share topics")
    looked = f"{count(report.brokers, 'broker')}, {lines}"
    kinds = [
        count(number, severity)
        for severity in ("error", "warning", "note")
        if (number := sum(finding.severity == severity for finding in report.findings))
    ]
    silent = f", {len(report.suppressed):,} suppressed" if report.suppressed else ""
    return f"{looked}: {', '.join(kinds) or 'nothing wrong'}{silent}"


def as_json(report: Report) -> dict[str, Any]:
    """All findings, and how much was looked at."""
    found: dict[str, Any] = _unicode(
        {
            "brokers": report.brokers,
            "lines": report.lines,
            "findings": [_row(finding) for finding in report.findings],
            "suppressed": [{**_row(finding), "reason": finding.reason} for finding in report.suppressed],
        }
    )
    return found


def _unicode(value: Any) -> Any:
    """The same without what is no Unicode, such as bytes of file names: these become escapes."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {key: _unicode(each) for key, each in value.items()}
    return [_unicode(each) for each in value] if isinstance(value, list) else value


def _row(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "message": finding.message,
        "file": finding.place.file,
        "line": finding.place.line,
        "topic": finding.topic,
        "path": [stop.broker for stop in finding.path],
        "other_path": [stop.broker for stop in finding.other_path],
        "steps": [_step(stop) for stop in finding.path],
        "other_steps": [_step(stop) for stop in finding.other_path],
    }


def _step(stop: Stop) -> dict[str, Any]:
    place = stop.place
    return {
        "broker": stop.broker,
        "account": stop.account,
        "topic": stop.name,
        "file": None if place is None else place.file,
        "line": None if place is None else place.line,
    }


def as_sarif(report: Report) -> dict[str, Any]:
    """A log of SARIF 2.1.0 with one run."""
    rules = [
        {
            "id": rule,
            "shortDescription": {"text": about},
            "help": {"text": f"See the documentation of Meshwright: docs/lint/{rule}.md."},
        }
        for rule, about in RULES.items()
    ]
    driver = {"name": "meshwright lint", "version": version("meshwright"), "rules": rules}
    results = [_result(finding) for finding in (*report.findings, *report.suppressed)]
    runs = [{"tool": {"driver": driver}, "results": results}]
    found: dict[str, Any] = _unicode({"$schema": _SCHEMA, "version": "2.1.0", "runs": runs})
    return found


def _result(finding: Finding) -> dict[str, Any]:
    places = finding.places
    found = {
        "ruleId": finding.rule,
        "ruleIndex": list(RULES).index(finding.rule),
        "level": finding.severity,
        "message": {"text": visible(finding.message)},
        "locations": [{"physicalLocation": _location(places[0])}],
    }
    if places[1:]:
        found["relatedLocations"] = [
            {"id": number, "physicalLocation": _location(place), "message": {"text": "also takes part"}}
            for number, place in enumerate(places[1:], start=1)
        ]
    flows = [_thread_flow(path, finding.place) for path in (finding.path, finding.other_path) if path]
    if flows:
        found["codeFlows"] = [{"threadFlows": flows}]
    if finding.reason is not None:
        found["suppressions"] = [{"kind": "inSource", "justification": finding.reason}]
    return found


def _thread_flow(path: tuple[Stop, ...], place: Place) -> dict[str, Any]:
    """The stops of a witness, each at the line that brought the message; the start is at the first line."""
    first = next((stop.place for stop in path if stop.place is not None), place)
    steps = [
        {"physicalLocation": _location(stop.place or first), "message": {"text": _at_stop(stop)}}
        for stop in path
    ]
    return {"locations": [{"location": step} for step in steps]}


def _at_stop(stop: Stop) -> str:
    name = f": {visible(stop.name)}" if stop.name else ""
    return f"{stop.where}{name}"


def _location(place: Place) -> dict[str, Any]:
    path = Path(place.file)
    uri = path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))
    found: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    return {**found, "region": {"startLine": place.line}} if place.line else found
