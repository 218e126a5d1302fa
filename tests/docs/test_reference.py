"""The reference of Python lists the public names."""

import re
from pathlib import Path

import meshwright

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "python.md").read_text()


def test_the_table_lists_every_public_name_once() -> None:
    listed = re.findall(r"^\| `(\w+)` \| \w", PAGE, re.MULTILINE)
    assert sorted(listed) == sorted(meshwright.__all__)


def test_every_public_name_is_described() -> None:
    described = re.findall(r"^\.\. auto\w+:: meshwright\.(\w+)$", PAGE, re.MULTILINE)
    assert sorted(described) == sorted(meshwright.__all__)
