"""The studies by name."""

from collections import Counter

import pytest

from meshwright.runtime.errors import OptionError
from meshwright.studies.catalogue import PAPERS, SCALES, chosen, paper_claims, runs_of, studies
from meshwright.studies.claims import Scope


@pytest.mark.parametrize("scale", SCALES)
def test_every_claim_belongs_to_one_study_and_every_study_has_claims(scale):
    per_study = {name: study.claims(Scope(scale)) for name, study in studies().items()}
    every = Counter(claim.name for claims in per_study.values() for claim in claims)
    assert every == Counter(claim.name for paper in PAPERS for claim in paper_claims(paper, Scope(scale)))
    assert set(every.values()) == {1}
    assert all(per_study.values())


def test_a_variant_states_what_its_claim_does_and_says_what_it_tests():
    for study in studies().values():
        claims = {claim.name: claim for claim in study.claims(Scope("paper", data="data"))}
        for claim in claims.values():
            if claim.variant_of:
                own = claims[claim.variant_of]
                assert (own.variant_of, own.hypothesis) == ("", "")
                assert (claim.statement, claim.expected, claim.runs) == (
                    own.statement,
                    own.expected,
                    own.runs,
                )
                assert claim.hypothesis.endswith(".")


def test_there_are_over_ninety_claims_and_all_tables_and_figures_of_the_papers():
    named = {
        "divide-and-conquer": "t1 t2 f4 f5 f6 f7 f8 f9 f10a f10b f10c f11",
        "weighted": "f4 f5 f6 f7 f8 f9",
        "shadows": "f2 f3 f4 f5 f6 f7 f8",
        "small-world": "f2 f3",
        "stan": "t1 f3 f4 f5 f6 f7 f8 f9",
    }
    kinds = {"t": "table", "f": "figure"}
    wanted = {f"{paper}-{kinds[part[0]]}-{part[1:]}" for paper, own in named.items() for part in own.split()}
    assert wanted <= studies().keys()
    counted = [
        claim
        for study in studies().values()
        for claim in study.claims(Scope("quick"))
        if not claim.variant_of and (claim.measure or claim.pooled)
    ]
    assert len(counted) >= 90


def test_a_name_stands_for_one_study_for_those_of_a_paper_or_for_all():
    assert [study.name for study in chosen("weighted-figure-9")] == ["weighted-figure-9"]
    assert {study.paper for study in chosen("stan")} == {"stan"}
    assert [study.name for study in chosen("all")] == list(studies())
    with pytest.raises(OptionError, match="weighted-figure-9"):
        chosen("weighted-figure-99")


def test_claims_are_measured_often_enough_for_an_interval_unless_told():
    (claim, *_) = studies()["divide-and-conquer-table-1"].claims(Scope("paper"))
    assert [runs_of(claim, "paper", None), runs_of(claim, "quick", None), runs_of(claim, "paper", 2)] == [
        400,
        5,
        2,
    ]
    assert all(
        runs_of(each, "paper", None) >= 2 for paper in PAPERS for each in paper_claims(paper, Scope("paper"))
    )
