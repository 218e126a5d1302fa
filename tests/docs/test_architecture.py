"""The map names files that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_every_file_that_the_architecture_page_names_exists() -> None:
    named = re.findall(r"`([\w/]+\.py)`", (ROOT / "docs" / "architecture.md").read_text())
    assert len(named) > 20
    places = (ROOT, ROOT / "src" / "meshwright")
    assert [name for name in named if not any((place / name).exists() for place in places)] == []


def test_every_benchmark_is_in_the_index() -> None:
    listed = re.findall(r"`(\w+)`", (ROOT / "docs" / "benchmarks.md").read_text())
    commands = [file.stem for file in (ROOT / "benchmarks").glob("*.py") if "__main__" in file.read_text()]
    assert sorted(set(commands) - set(listed)) == []


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_every_link_of_a_page_outside_of_the_site_leads_to_a_file(page: str) -> None:
    targets = re.findall(r"\]\(([^)#:]+)[^):]*\)", (ROOT / page).read_text())
    assert [target for target in targets if not (ROOT / target).exists()] == []
