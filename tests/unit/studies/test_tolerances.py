"""Tolerances stand in one place, and claims take theirs from it."""

import ast
from pathlib import Path

import pytest

import meshwright.studies
from meshwright.studies.catalogue import PAPERS, SCALES, paper_claims
from meshwright.studies.claims import FALLS, RISES, Scope
from meshwright.studies.tolerances import BOUNDS, TOLERANCES

MODULES = sorted(Path(meshwright.studies.__file__).parent.glob("*/*.py"))


@pytest.mark.parametrize("scale", SCALES)
def test_no_claim_brings_a_tolerance_of_its_own(scale):
    known = set(map(id, TOLERANCES))
    for paper in PAPERS:
        for claim in paper_claims(paper, Scope(scale, data="data")):
            assert id(claim.expected.within) in known, claim.name


def test_all_tolerances_are_used_and_say_why():
    used = {
        claim.expected.within
        for paper in PAPERS
        for claim in paper_claims(paper, Scope("paper", data="data"))
    }
    assert used == set(TOLERANCES)
    assert len({own.kind for own in TOLERANCES}) == len(TOLERANCES)
    assert all(own.rule.endswith(".") for own in (*TOLERANCES, *BOUNDS.values()))
    assert all(0 <= own.share <= 0.25 for own in TOLERANCES)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_no_module_of_a_paper_writes_a_tolerance_down(module):
    """Neither as the second thing that an expectation is made of, nor as a tolerance by itself."""
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        called = getattr(node.func, "id", None)
        assert called not in {"Expected", "Tolerance"}, f"line {node.lineno}"
        if called in {"about", "at_least", "at_most"}:
            given = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
            assert all(isinstance(each, ast.Name) for each in given), f"line {node.lineno}"


_GROWS = ("rise", "rises", "fall", "falls", "grows", "shrinks", "nears-gm", "-gap")
_OTHERWISE = {
    "figure-11-gap",  # a number
    "shadows-figure-6-rise",  # a number
    "small-world-figure-2c-rise",  # every step has to rise, which is more
    "table-2-advantage-grows",  # two samples of a network
    "table-2-diameter-advantage-grows",  # two samples of a network
}


def test_what_grows_or_shrinks_is_judged_by_the_trend_over_all_systems_and_not_by_two_of_them():
    for paper in PAPERS:
        for claim in paper_claims(paper, Scope("quick", data="data")):
            if claim.name.endswith(_GROWS) and claim.name not in _OTHERWISE and not claim.variant_of:
                assert claim.expected in (RISES, FALLS), claim.name


def test_a_bound_has_no_tolerance():
    for paper in PAPERS:
        for claim in paper_claims(paper, Scope("quick", data="data")):
            assert claim.expected.relation == "about" or claim.expected.tolerance == 0, claim.name
