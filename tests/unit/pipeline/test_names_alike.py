"""Names that look alike; the oracle compares every pair of names in plain Python."""

from itertools import combinations
from unicodedata import normalize

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshwright.pipeline.ingest.names_alike import names_alike
from meshwright.pipeline.ingest.notices import notices


def array(*names: str) -> pa.StringArray:
    return pa.array(sorted(names, key=str.encode), pa.string())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Adelaide", "adelaide"),
        ("b7", "b7 "),
        ("J\u00fcrgen", "Ju\u0308rgen"),
        ("Fussball", "Fu\u00dfball"),
        ("caf\u00e9", "CAFE\u0301\u00a0"),
        ("\uff42\uff11", "b1"),
        ("\ufb01sh", "Fish"),
    ],
)
def test_names_that_differ_by_case_blanks_or_spelling_of_a_character_look_alike(one: str, other: str) -> None:
    names = array(one, other, "quite different")
    found = names_alike(names)
    assert found == {"count": 2, "examples": [sorted([one, other], key=str.encode)]}


@pytest.mark.parametrize(("one", "other"), [("b1", "b 1"), ("Jurgen", "J\u00fcrgen"), ("b1", "b2")])
def test_other_names_do_not(one: str, other: str) -> None:
    assert names_alike(array(one, other)) == {"count": 0, "examples": []}


@given(st.sets(st.text("aA\u00e4\u0308\u00dfs\u1e9e ", min_size=1, max_size=4)))
def test_a_name_counts_if_any_other_looks_alike(names: set[str]) -> None:
    def folded(name: str) -> str:
        return normalize("NFKC", normalize("NFKC", name).casefold()).strip()

    alike = {name for pair in combinations(names, 2) if folded(pair[0]) == folded(pair[1]) for name in pair}
    assert names_alike(array(*names))["count"] == len(alike)


def test_names_that_a_screen_shows_alike_are_told_by_codes() -> None:
    facts = {
        "look_alikes": {"nodes": names_alike(array("J\u00fcrgen", "Ju\u0308rgen", "Z\u00fc", "z\u00fc"))}
    }
    (line,) = notices(facts)
    assert line.endswith(r"names: 'Ju\u0308rgen' and 'J\xfcrgen'; 'Zü' and 'zü'")
