"""The results in the documentation are of the claims as they are now, and every difference is explained."""

import json
from collections import Counter
from pathlib import Path

import pytest

from meshwright.studies import pages
from meshwright.studies.catalogue import studies
from meshwright.studies.claims import Scope

FOLDER = Path(__file__).parents[3] / "docs" / "studies"


@pytest.fixture(scope="module")
def findings():
    return {each["name"]: each for each in json.loads((FOLDER / "findings.json").read_text())["findings"]}


def test_numbers_and_tolerances_are_those_of_the_run(findings):
    for study in studies().values():
        for claim in study.claims(Scope("quick", data="data")):
            found = findings[claim.name]
            shown = (found["relation"], found["number"], found["tolerance"], found["variant_of"])
            own = claim.expected
            assert shown == (own.relation, own.number, own.tolerance, claim.variant_of)
            assert (FOLDER / "data" / f"{study.name}.parquet").exists()
            assert (FOLDER / "figures" / f"{study.name}.svg").exists()


def test_the_page_of_tolerances_is_that_of_the_claims():
    assert (FOLDER / "tolerances.md").read_text() == pages.tolerances()


def test_at_least_two_explanations_were_tested_for_every_claim_that_differs(findings):
    """Those that leave the number as it was explain nothing."""
    tested = Counter(
        found["variant_of"]
        for found in findings.values()
        if found["hypothesis"] and found["mean"] not in (None, findings[found["variant_of"]]["mean"])
    )
    counted = {name: found for name, found in findings.items() if not found["variant_of"]}
    assert sum(found["mean"] is not None for found in counted.values()) >= 90
    few = [name for name, found in counted.items() if found["verdict"] == "differs" and tested[name] < 2]
    assert few == []
