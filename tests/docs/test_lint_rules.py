"""Every rule of lint has a page, whose bad example has what it finds, and whose good one does not."""

import json
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from meshwright.deploy.inventory import read_inventory
from meshwright.deploy.lint.findings import RULES
from meshwright.deploy.lint.linting import lint

_PAGES = Path(__file__).parents[2] / "docs/lint"
_FILE = re.compile(r"# (\w+\.conf)")
# What the clients do in all examples.
_CLIENTS = [
    {"name": "a", "publishes": ["plant/7", "office/7"]},
    {"name": "b", "subscribes": ["plant/#"]},
]

Files = dict[str, str]


class Example(NamedTuple):
    """A rule, a mesh that breaks it, and the files that are changed to mend it."""

    rule: str
    bad: Files
    good: Files


def _examples() -> list[Example]:
    found = []
    for page in sorted(_PAGES.glob("*.md")):
        blocks = re.findall(r"^(?:Bad|Good).*?```text\n(.*?)```", page.read_text(), re.MULTILINE | re.DOTALL)
        if blocks:
            bad, good = map(_files, blocks)
            found.append(Example(page.stem, bad, good))
    return found


def _files(block: str) -> Files:
    """The files of an example, side by side or one below the other; without names, that of a."""
    files: dict[str, list[str]] = {}
    columns = {0: "a.conf"}
    for line in block.splitlines():
        heads = list(_FILE.finditer(line))
        if heads:
            columns = {head.start(): head[1] for head in heads}
            continue
        ends = [*list(columns)[1:], len(line)]
        for (start, file), end in zip(columns.items(), ends, strict=True):
            files.setdefault(file, []).append(line[start : max(end, start)].rstrip())
    return {file: "\n".join(lines) + "\n" for file, lines in files.items()}


def _found(files: Files, folder: Path) -> set[str]:
    files = {"a.conf": "listener 1883\n", "b.conf": "listener 1883\n", **files}
    for name, text in files.items():
        (folder / name).write_text(text)
    inventory = folder / "inventory.json"
    inventory.write_text(json.dumps({"brokers": _CLIENTS}))
    paths = [folder / name for name in files]
    return {finding.rule for finding in lint(paths, read_inventory(inventory)).findings}


_EXAMPLES = _examples()


def test_every_rule_has_a_page() -> None:
    assert {page.stem for page in _PAGES.glob("*.md")} == RULES.keys()


def test_every_rule_has_examples() -> None:
    assert {example.rule for example in _EXAMPLES} == RULES.keys()


@pytest.mark.parametrize("example", _EXAMPLES, ids=lambda example: example.rule)
def test_the_bad_example_breaks_the_rule(example: Example, tmp_path: Path) -> None:
    assert example.rule in _found(example.bad, tmp_path)


@pytest.mark.parametrize("example", _EXAMPLES, ids=lambda example: example.rule)
def test_the_good_example_does_not_break_the_rule(example: Example, tmp_path: Path) -> None:
    found = _found({**example.bad, **example.good}, tmp_path)
    assert example.rule not in found
    assert "unreadable" not in found
