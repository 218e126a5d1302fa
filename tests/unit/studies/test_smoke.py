"""Every study in its smallest form: all that it states can be measured, and so can all variants."""

import gzip
import math

import pytest

from meshwright.studies import running
from meshwright.studies.catalogue import chosen, studies


@pytest.fixture
def data(tmp_path):
    """Two social graphs: rings with chords."""
    for name in ("ego-facebook.txt.gz", "twitter_combined.txt.gz"):
        lines = [f"{u} {(u + step) % 40}" for u in range(40) for step in (1, 2, 7)]
        with gzip.open(tmp_path / name, "wt", encoding="ascii") as file:
            file.write("\n".join(lines))
    return str(tmp_path)


@pytest.mark.parametrize("name", list(studies()))
def test_every_claim_of_every_study_comes_to_a_number(name, data):
    plan = running.Plan(studies=[name], scale="smoke", data=data)
    rows = [row for unit in plan.units() for row in running.measure(plan, unit)]
    assert all(math.isfinite(row.value) for row in rows)
    (study,) = chosen(name)
    measurable = {claim.name for claim in study.claims(plan.scope) if claim.measure or claim.pooled}
    assert {row.name for row in rows if row.x is None} == measurable
    assert any(row.x is not None for row in rows) == bool(study.panels)
