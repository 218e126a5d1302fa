"""The algorithms that the page on extending shows do what it says."""

import re
from pathlib import Path

import pytest

import meshwright as mw

PAGE = Path(__file__).parents[2] / "docs" / "extend.md"
REGISTERS = re.compile(r"^```python\n((?:(?!^```$).)*mw\.register\(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def shown():
    """The blocks that register an algorithm, run one after the other."""
    names = {}
    for block in REGISTERS.findall(PAGE.read_text()):
        exec(compile(block, str(PAGE), "exec"), names)
    yield names
    for name in ("chain", "link-first"):
        mw.unregister(name)


def test_the_algorithms_of_the_page_connect_every_topic(shown):
    overlay = mw.build(shown["interests"], "chain")
    assert mw.evaluate(overlay).topic_connected
    pairs = list(shown["interests"].to_pairs())
    names = sorted({node for node, _ in pairs})
    halves = [
        mw.build(mw.Interests.from_pairs([pair for pair in pairs if pair[0] in set(half)]), "chain")
        for half in (names[::2], names[1::2])
    ]
    assert mw.evaluate(mw.merge(halves, "link-first")).topic_connected
