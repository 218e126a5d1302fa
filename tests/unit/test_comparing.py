import re

import numpy as np
import pytest

import meshwright as mw
from meshwright.comparing import SCHEMA, Result, as_frame
from meshwright.runtime.usage import measured
from meshwright.testing import some_costs

INTERESTS = mw.workloads.unif(40, 8, subscriptions=3, seed=1)


@pytest.fixture
def failing():
    def work(interests, costs, options, seed, progress):
        raise ValueError("no luck")

    mw.register("failing", mw.Algorithm(summary="fails", load=work))
    yield "failing"
    mw.unregister("failing")


@pytest.fixture(scope="module")
def found():
    return mw.compare(INTERESTS, ["ring", "dcbc-direct"], seeds=2)


def test_there_is_a_row_for_each_algorithm_and_seed(found):
    assert list(zip(found.algorithm, found.seed, strict=True)) == [
        ("ring", 0),
        ("ring", 1),
        ("dcbc-direct", 0),
        ("dcbc-direct", 1),
    ]


def test_a_row_has_what_evaluate_says_of_the_overlay_of_that_seed(found):
    row = found.iloc[1]
    measures = mw.evaluate(mw.build(INTERESTS, "ring", seed=1))
    assert (row.links, row.average_degree, row.maximum_degree) == (
        measures.edges,
        measures.average_degree,
        measures.maximum_degree,
    )
    assert row.topic_connected
    assert row.maximum_topic_diameter == measures.maximum_topic_diameter
    assert row.mean_topic_diameter == measures.mean_topic_diameter
    assert row.lower_bound_average_degree == measures.lower_bound_average_degree
    assert row.times_lower_bound == measures.average_degree / measures.lower_bound_average_degree


def test_what_was_spent_is_measured(found):
    assert (found.seconds > 0).all()
    assert (found.processor_seconds >= 0).all()
    assert (found.memory_bytes >= 0).all()
    assert found.error.isna().all()


def test_links_cost_what_the_costs_say_and_have_a_bound():
    costs = some_costs(INTERESTS)
    (row,) = mw.compare(INTERESTS, ["ring"], costs=costs).itertuples()
    overlay = mw.build(INTERESTS, "ring", costs=costs)
    assert row.cost == pytest.approx(overlay.costs.sum())
    assert row.times_lower_bound_cost == pytest.approx(row.cost / row.lower_bound_cost)
    assert row.times_lower_bound_cost >= 1


def test_an_algorithm_that_fails_has_its_error_and_the_others_go_on(failing):
    found = mw.compare(INTERESTS, [failing, "ring"])
    assert "failing ('failing', registered by a call" in found.error[0]
    assert "ValueError: no luck" in found.error[0]
    assert found.links.isna().tolist() == [True, False]
    assert found.times_lower_bound[1] >= 1


def test_options_are_those_of_one_algorithm():
    found = mw.compare(INTERESTS, ["dcbc-direct"], options={"dcbc-direct": {"slack": 0.5}})
    overlay = mw.build(INTERESTS, "dcbc-direct", slack=0.5)
    assert found.links[0] == len(overlay)


def test_no_bound_holds_for_an_overlay_that_leaves_topics_apart():
    def work(interests, costs, options, seed, progress):
        return mw.Built(edges=[[0, 1]])

    mw.register("sparse", mw.Algorithm(summary="one link", load=work, topic_connected=False))
    try:
        (row,) = mw.compare(INTERESTS, ["sparse"]).itertuples()
    finally:
        mw.unregister("sparse")
    assert not row.topic_connected
    assert np.isnan(row.times_lower_bound)
    assert row.lower_bound_average_degree > 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (([],), r"algorithms is \[\]; give a list of at least one name"),
        (("gm",), "algorithms is 'gm'; give a list of at least one name"),
        ((["gm", "gn"],), r"no algorithm 'gn' to build with; did you mean gm or dg\?"),
        ((["ring", "gm", "ring"],), "'ring' is named twice"),
        ((["gm", "sm"],), "no algorithm 'sm' to build with"),
        ((["gm", "gr-maw"],), "gr-maw needs the costs of links"),
    ],
)
def test_what_can_not_be_compared_is_refused_before_any_work(given, words):
    with pytest.raises(mw.OptionError, match=words):
        mw.compare(INTERESTS, *given)


@pytest.mark.parametrize("seeds", [0, -1, 1.5, True, None])
def test_seeds_are_a_whole_number_from_1_on(seeds):
    with pytest.raises(mw.OptionError, match=r"seeds is .*; give a whole number of at least 1"):
        mw.compare(INTERESTS, ["ring"], seeds=seeds)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"gm": {}}, "options were given for 'gm', which is not compared"),
        ({"ring": {"speed": 1}}, "there is no option 'speed'"),
    ],
)
def test_options_that_mean_nothing_are_refused(options, words):
    with pytest.raises(mw.OptionError, match=words):
        mw.compare(INTERESTS, ["ring"], options=options)


def test_what_is_no_interests_and_what_are_no_costs_is_refused():
    with pytest.raises(mw.InputError, match="compare got a str; give Interests"):
        mw.compare("workload", ["ring"])
    with pytest.raises(mw.InputError, match="the costs are a list; give Costs"):
        mw.compare(INTERESTS, ["ring"], costs=[1])


def test_a_frame_of_failures_alone_has_all_columns():
    frame = as_frame([Result(algorithm="a", seed=0, error="x")])
    assert frame.links.isna().all()
    assert frame.links.dtype == "Int64"


def test_measured_memory_is_what_work_adds_at_its_peak():
    def work():
        block = np.ones(40_000_000, np.uint8)
        return int(block[:: 1 << 20].sum())

    for _ in range(2):
        result, usage = measured(work)
        assert result == 39
        assert usage.memory_bytes is None or 35e6 < usage.memory_bytes < 80e6


def test_given_overlays_are_measured_as_those_that_are_built():
    mine = mw.build(INTERESTS, "ring", seed=1)
    frame = mw.compare(INTERESTS, ["ring"], seeds=2, overlays={"mine": mine})
    rows = mw.records(frame)
    assert [(row["algorithm"], row["seed"]) for row in rows] == [("ring", 0), ("ring", 1), ("mine", None)]
    spent = {"algorithm", "seed", "seconds", "processor_seconds", "memory_bytes"}
    built, given = ({key: row[key] for key in row if key not in spent} for row in rows[1:])
    assert given == built
    assert rows[2]["seconds"] is None
    assert rows[2]["memory_bytes"] is None


def test_given_overlays_cost_what_the_costs_say_and_need_no_algorithm_beside():
    costs = some_costs(INTERESTS)
    mine = mw.build(INTERESTS, "ring")
    (row,) = mw.records(mw.compare(INTERESTS, [], costs=costs, overlays={"mine": mine}))
    assert row["cost"] == pytest.approx(mw.build(INTERESTS, "ring", costs=costs).costs.sum())


def test_overlays_of_other_interests_without_names_or_by_taken_names_are_refused():
    mine = mw.build(INTERESTS, "ring")
    other = mw.build(mw.Interests.from_pairs([("a", "x"), ("b", "x")]), "ring")
    with pytest.raises(mw.InputError, match=r"'mine' is of other interests: node .* is only in the"):
        mw.compare(INTERESTS, ["gm"], overlays={"mine": other})
    with pytest.raises(mw.OptionError, match=r'algorithms has an Overlay; give overlays={"today": overlay}'):
        mw.compare(INTERESTS, ["gm", mine])
    with pytest.raises(mw.OptionError, match=r"algorithms has an int; give names, such as 'gm'"):
        mw.compare(INTERESTS, [1])
    with pytest.raises(mw.OptionError, match="'gm' is named twice"):
        mw.compare(INTERESTS, ["gm"], overlays={"gm": mine})
    for wrong in ([mine], {"mine": 1}):
        with pytest.raises(mw.OptionError, match=r'overlays by name; give {"today": overlay}'):
            mw.compare(INTERESTS, ["gm"], overlays=wrong)


def test_the_docstring_names_every_column():
    listed = re.findall(r"^    - (.*?):", mw.compare.__doc__, re.M)
    assert re.findall(r"`(\w+)`", " ".join(listed)) == SCHEMA.names
