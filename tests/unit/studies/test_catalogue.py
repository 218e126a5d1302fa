"""The studies by name."""

from collections import Counter

import pytest

from meshwright.runtime.errors import OptionError
from meshwright.studies.catalogue import PAPERS, SCALES, chosen, paper_claims, runs_of, studies


@pytest.mark.parametrize("scale", SCALES)
def test_every_claim_belongs_to_one_study_and_every_study_has_claims(scale):
    per_study = {name: study.claims(scale) for name, study in studies().items()}
    every = Counter(claim.name for claims in per_study.values() for claim in claims)
    assert every == Counter(claim.name for paper in PAPERS for claim in paper_claims(paper, scale))
    assert set(every.values()) == {1}
    assert all(per_study.values())


def test_a_variant_is_of_a_claim_of_its_study_that_is_none():
    for study in studies().values():
        claims = {claim.name: claim for claim in study.claims("paper")}
        for claim in claims.values():
            assert not claim.variant_of or claims[claim.variant_of].variant_of == ""


def test_a_name_stands_for_one_study_for_those_of_a_paper_or_for_all():
    assert [study.name for study in chosen("weighted-figure-9")] == ["weighted-figure-9"]
    assert {study.paper for study in chosen("stan")} == {"stan"}
    assert [study.name for study in chosen("all")] == list(studies())
    with pytest.raises(OptionError, match="weighted-figure-9"):
        chosen("weighted-figure-99")


def test_claims_are_measured_often_enough_for_an_interval_unless_told():
    (claim, *_) = studies()["divide-and-conquer-table-1"].claims("paper")
    assert [runs_of(claim, "paper", None), runs_of(claim, "quick", None), runs_of(claim, "paper", 2)] == [
        400,
        3,
        2,
    ]
    assert all(runs_of(each, "paper", None) >= 2 for paper in PAPERS for each in paper_claims(paper, "paper"))
