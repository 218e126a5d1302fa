"""The examples in the docstrings of the public face are true."""

import doctest
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import meshwright as mw


def examples() -> Iterator[doctest.DocTest]:
    finder = doctest.DocTestFinder(exclude_empty=True)
    public = {name: getattr(mw, name) for name in mw.__all__ if name != "workloads"}
    public |= {f"workloads.{name}": getattr(mw.workloads, name) for name in mw.workloads.__all__}
    for name, entry in public.items():
        for found in finder.find(entry, name, module=inspect.getmodule(entry)):
            if found.examples:
                found.globs = {}
                yield found


EXAMPLES = {example.name: example for example in examples()}


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_gives_what_it_shows(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    told: list[str] = []
    runner = doctest.DocTestRunner(verbose=False)
    failures, _ = runner.run(EXAMPLES[name], out=told.append)
    assert failures == 0, "".join(told)


@pytest.mark.parametrize(
    "entry",
    ["build", "merge", "evaluate", "route", "gossip", "export", "read_events", "Maintainer", "Journal"],
)
def test_main_entries_have_an_example(entry: str) -> None:
    assert entry in EXAMPLES


def test_every_public_name_is_in_the_reference() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "python.md").read_text().split()
    assert [name for name in mw.__all__ if f"meshwright.{name}" not in page] == []
