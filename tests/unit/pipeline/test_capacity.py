import pytest

from meshwright import registry
from meshwright.metrics.condensed import FEWEST_INTERESTS
from meshwright.pipeline import capacity
from meshwright.pipeline.capacity import JAVA_BYTES, MEASURES, TERMS, Size, constants, planned, value_of
from meshwright.runtime.errors import OptionError

SIZE = Size(10_000, 1_000, 280_000)


def stages():
    return [
        (engine, name, stage)
        for engine, table in constants()["engines"].items()
        for name, stage in table.items()
    ]


def test_the_table_names_known_algorithms_terms_and_measures():
    for engine, name, stage in stages():
        if name.startswith("build "):
            registry.find(name.removeprefix("build "), "build")
        assert set(stage["constants"]) == set(MEASURES[engine])
        for terms in stage["constants"].values():
            assert set(terms) <= set(TERMS)
            assert all(constant > 0 for constant in terms.values())
        assert stage["unseen"]["seconds"] >= 1


def test_a_prediction_is_the_sum_of_its_terms():
    terms = {"once": 3.0, "node": 2.0, "topic": 5.0, "interest": 0.5, "pair of nodes": 1.0}
    assert value_of(terms, Size(4, 2, 6)) == 3 + 8 + 10 + 3 + 8
    assert value_of({"word of a pair of nodes": 1.0}, Size(4, 128, 6)) == 8 * 2


def test_larger_workloads_take_at_least_as_much():
    for engine, name, _ in stages():
        if name.startswith("build "):
            executors = None if engine == "local" else 1
            small, large = (
                planned(Size(times * 1_000, times * 100, times * 5_000), name[6:], executors=executors)
                for times in (1, 7)
            )
            assert large.seconds >= small.seconds > 0
            assert large.memory_bytes >= small.memory_bytes > 0
            assert large.disk_bytes > small.disk_bytes > 0


def test_more_interests_than_pairs_are_refused():
    with pytest.raises(OptionError, match=r"--interests is 101, but 10 nodes and 10 topics have at most 100"):
        planned(Size(10, 10, 101), "gm")


def test_an_algorithm_that_was_not_measured_is_refused_with_those_that_were():
    with pytest.raises(OptionError, match=r"'chord', which was not measured .*dcbc-direct"):
        planned(SIZE, "chord")


def test_spark_is_refused_where_it_was_not_measured(monkeypatch):
    monkeypatch.setattr(capacity, "constants", lambda: {"engines": {"local": {}}})
    with pytest.raises(OptionError, match=r"--executors asks for Spark, which the table .* does not have"):
        planned(SIZE, "dcbc-direct", executors=4)


def test_an_executor_holds_java_and_a_worker_for_each_core():
    one, two, four = (planned(SIZE, "dcbc", executors=2, cores=cores).executor_bytes for cores in (1, 2, 4))
    assert four - two == pytest.approx(2 * (two - one))
    assert one - (two - one) == pytest.approx(JAVA_BYTES)


def test_all_memory_is_that_of_the_driver_and_of_all_executors():
    two, five = (planned(SIZE, "dc", executors=executors) for executors in (2, 5))
    assert five.memory_bytes - two.memory_bytes == pytest.approx(3 * two.executor_bytes)
    assert planned(SIZE, "dc").executor_bytes is None


def test_large_overlays_of_dcbc_direct_have_constants_of_their_own():
    for executors in (None, 1):
        few, many = (
            [
                stage.name
                for stage in planned(Size(10**6, 1_000, interests), "dcbc-direct", executors=executors).stages
            ]
            for interests in (FEWEST_INTERESTS - 1, FEWEST_INTERESTS)
        )
        assert few[-1] == "evaluate"
        assert many[-1] == "evaluate around hubs"
