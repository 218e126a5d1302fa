import json
from dataclasses import replace

import pytest

from meshwright.runtime.errors import OptionError
from meshwright.runtime.json_values import records
from meshwright.studies.claims import (
    Claim,
    Expected,
    Verdict,
    as_frame,
    check,
    explained,
    judge,
    over_runs,
    statistics_of,
    trend,
)
from meshwright.studies.tolerances import Tolerance


def within(share):
    return Tolerance("a test's", share, "")


def claim(**changes):
    fields = {
        "name": "a claim",
        "source": "[1]",
        "statement": "It is ten.",
        "expected": Expected("about", 10.0, within(0.1)),
        "how": "by counting",
        "measure": lambda seed: 10.5,
    }
    return Claim(**fields | changes)


@pytest.mark.parametrize(
    ("relation", "expected", "tolerance", "verdict"),
    [
        ("about", 10.0, 0.1, Verdict.REPRODUCED),
        ("about", 10.0, 0.01, Verdict.DIFFERS),
        ("about", 12.0, 0.1, Verdict.DIFFERS),
        ("at least", 10.0, 0.0, Verdict.REPRODUCED),
        ("at least", 11.0, 0.0, Verdict.DIFFERS),
        ("at most", 11.0, 0.0, Verdict.REPRODUCED),
        ("at most", 10.0, 0.0, Verdict.DIFFERS),
        ("at most", 10.0, 0.05, Verdict.REPRODUCED),
    ],
)
def test_the_verdict_follows_from_relation_and_tolerance(relation, expected, tolerance, verdict):
    judged = check(claim(expected=Expected(relation, expected, within(tolerance))))
    assert judged.verdict is verdict


def test_a_claim_is_measured_over_the_runs_of_the_paper_unless_told():
    assert check(claim(runs=400)).measured.runs == 400
    assert check(claim(runs=1)).measured.runs == 2
    assert check(claim(runs=400), runs=3).measured.runs == 3


def test_a_pooled_claim_is_one_number_of_the_seeds_of_all_runs():
    found = check(claim(measure=None, pooled=lambda seeds: float(sum(seeds))), runs=4, seed=1)
    assert found.measured == replace(statistics_of([10.0]), runs=4)
    shown = found.to_json()
    assert [shown[name] for name in ("mean", "runs", "low", "high", "variance")] == [10, 4, None, None, None]
    assert check(found.claim, runs=1, seed=10).verdict is Verdict.REPRODUCED


def test_a_claim_that_can_not_be_measured_is_not_comparable():
    judged = check(claim(measure=None, reason="nobody has the data"))
    assert judged.verdict is Verdict.NOT_COMPARABLE
    assert judged.measured is None


@pytest.mark.parametrize(
    "changes",
    [
        {"measure": None},
        {"expected": Expected("about", 10.0, within(-0.1))},
        {"expected": Expected("roughly", 10.0)},
    ],
    ids=["reason", "tolerance", "relation"],
)
def test_a_claim_without_reason_tolerance_or_relation_is_refused(changes):
    with pytest.raises(OptionError, match="'a claim'"):
        claim(**changes)


def test_the_mean_of_equal_values_is_their_value():
    assert over_runs(lambda run: 1.6, "equal", 3, None).mean == 1.6
    rising = over_runs(float, "rising", 5, None)
    assert (rising.mean, rising.variance, rising.minimum, rising.maximum, rising.runs) == (2, 2, 0, 4, 5)
    # scipy.stats.ttest_1samp([0, 1, 2, 3, 4], 0).confidence_interval()
    assert (rising.low, rising.high) == pytest.approx((0.036757, 3.963243), abs=1e-6)


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([10.0, 10.0, 10.0], Verdict.REPRODUCED),
        ([9.6, 10.0, 10.4], Verdict.REPRODUCED),
        ([9.2, 10.0, 10.8], Verdict.DIFFERS),
        ([10.0], Verdict.TOO_FEW_RUNS),
        ([20.0], Verdict.TOO_FEW_RUNS),
    ],
)
def test_a_claim_is_reproduced_only_if_the_interval_of_the_mean_is_within(values, verdict):
    assert judge(claim(), statistics_of(values)).verdict is verdict


def test_a_mean_within_the_tolerance_whose_interval_is_not_is_undecided():
    assert judge(claim(), statistics_of([9.2, 10.0, 10.8])).is_undecided
    assert not judge(claim(), statistics_of([12.0, 12.1, 12.2])).is_undecided
    assert not judge(claim(), statistics_of([10.0, 10.0])).is_undecided


def test_findings_as_a_frame_and_as_json_say_what_was_stated_and_found():
    known = {"source": "p. 1", "statement": "It is 3.", "how": "counted"}
    claims = [
        Claim(
            name="one",
            **known,
            expected=Expected("about", 3, within(0.1)),
            measure=lambda seed: 3.0 + seed,
            runs=2,
        ),
        Claim(name="two", **known, expected=Expected("at most", 4), reason="no data"),
    ]
    findings = [check(claim) for claim in claims]
    frame = as_frame(findings)
    assert frame["name"].tolist() == ["one", "two"]
    assert frame["verdict"].tolist() == ["differs", "not comparable"]
    assert frame["mean"][0] == 3.5
    assert frame["mean"].isna().tolist() == [False, True]
    assert frame["runs"].dtype == "Int64"
    assert records(frame) == json.loads(json.dumps([finding.to_json() for finding in findings]))
    assert list(as_frame([]).columns) == list(frame.columns)


@pytest.mark.parametrize(
    ("ours", "says"),
    [
        (10.4, "explains it"),
        (12.0, "explains a part of it"),
        (13.0, "does not explain it"),
        (16.0, "does not explain it: the difference is larger"),
    ],
)
def test_a_variant_says_how_much_of_the_difference_is_left(ours, says):
    far = claim(measure=lambda seed: 14.0)
    other = far.variant("other", "It is something else.", lambda seed: ours)
    assert (other.variant_of, other.expected) == (far.name, far.expected)
    assert explained(check(far), check(other)) == says


@pytest.mark.parametrize(
    ("values", "expected"), [([1, 2, 3], 1), ([3, 2, 1], -1), ([1, 1], 0), ([1, 3, 2], 1 / 3)]
)
def test_a_trend_is_kendalls_tau(values, expected):
    assert trend(values) == pytest.approx(expected)
