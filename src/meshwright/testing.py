"""The contract of an algorithm as tests for pytest, for other packages and for Meshwright itself.

In the tests of a package that offers the algorithm "toy":

    from meshwright.testing import contract_tests

    test_contract = contract_tests("toy")

Needs pytest.
"""

import dataclasses
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import networkx as nx
import numpy as np
import pytest

from meshwright.building import build as build_overlay
from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.registry import find
from meshwright.runtime.errors import OptionError
from meshwright.workloads.synthetic import unif

Check = Callable[[str], None]


def _of(topics_of: dict[str, str], topics: tuple[str, ...] = ()) -> Interests:
    pairs = [(node, topic) for node, own in topics_of.items() for topic in own]
    return Interests.from_pairs(pairs, nodes=list(topics_of), topics=topics)


AWKWARD = {
    "none": _of({}),
    "one node": _of({"a": "xyz"}),
    "nodes without topics": _of({"a": "", "b": "", "c": ""}),
    "a topic without nodes": _of({"a": "x", "b": "x"}, topics=("nobody",)),
    "a topic of one": _of({"a": "xy", "b": "x", "c": "x"}),
    "no overlap at all": _of({"a": "x", "b": "y", "c": "z"}),
    "all identical": _of(dict.fromkeys("abcdefgh", "uvwxyz")),
    "one hub": _of({"hub": "stuvwxyz"} | {f"leaf {topic}": topic for topic in "stuvwxyz"}),
    "two islands": _of({"a": "xy", "b": "xy", "c": "x", "d": "vw", "e": "w", "f": "v"}),
    "two nodes": _of({"a": "x", "b": "x"}),
    "strange names": _of({"ключ, 1": "x", 'say "hi"': "xy", "two\nlines": "xy", "007": "y"}),
}
"""Awkward interests, by what is awkward about them."""


def contract_tests(*names: str) -> Callable[..., None]:
    """A test function of the contract, one case for each rule and each of the algorithms `names`.

    Assign it to a name that begins with `test`. The algorithms must build: a merge has another contract.
    """

    @pytest.mark.parametrize("check", [pytest.param(check, id=words) for words, check in _cases()])
    @pytest.mark.parametrize("name", names)
    def test_contract(name: str, check: Check) -> None:
        check(name)

    return test_contract


def some_costs(interests: Interests) -> Costs:
    """Costs for any interests: two sites, with a cost inside each and one between them."""
    nodes = interests.nodes.to_pylist()
    between = Costs.from_matrix([[0, 30], [30, 0]], ["east", "west"])
    sites = {node: "west" if at % 3 else "east" for at, node in enumerate(nodes)}
    return Costs.sites(between, sites, local={"east": 1, "west": 2})


def build(interests: Interests, name: str, **given: Any) -> Overlay:
    """As `meshwright.build`, with costs where the algorithm needs them."""
    if find(name, "build").needs_costs:
        given = {"costs": some_costs(interests), **given}
    return build_overlay(interests, name, **given)


def broken_topics(overlay: Overlay) -> list[int]:
    """The topics whose subscribers are not connected, found the plain way."""
    return [topic for topic, own in enumerate(_subgraphs(overlay)) if len(own) and not nx.is_connected(own)]


def _subgraphs(overlay: Overlay) -> Iterator[Any]:
    """The links among the subscribers of each topic, as a graph."""
    interests = overlay.interests
    graph: nx.Graph[int] = nx.Graph(overlay.edges.tolist())
    graph.add_nodes_from(range(interests.node_count))
    for topic in range(interests.topic_count):
        yield graph.subgraph(
            interests.node_ids[interests.topic_indptr[topic] : interests.topic_indptr[topic + 1]].tolist()
        )


def _cases() -> Iterator[tuple[str, Check]]:
    for rule in (_keeps_its_promise, _links_cost_what_the_costs_say):
        for shelf, interests in AWKWARD.items():
            yield f"{_words(rule)}, {shelf}", lambda name, rule=rule, on=interests: rule(name, on)  # type: ignore[misc]
    for check in _CHECKS:
        yield _words(check), check


def _words(check: Callable[..., None]) -> str:
    return check.__name__.strip("_").replace("_", " ")


def _keeps_its_promise(name: str, interests: Interests) -> None:
    overlay = build(interests, name)
    assert overlay.interests is interests
    if find(name, "build").topic_connected:
        assert broken_topics(overlay) == []


def _links_cost_what_the_costs_say(name: str, interests: Interests) -> None:
    costs = some_costs(interests)
    overlay = build_overlay(interests, name, costs=costs)
    matrix = costs.of(interests).to_matrix()
    assert overlay.costs is not None
    assert overlay.costs.tolist() == [matrix[u, v] for u, v in overlay.edges.tolist()]


def _needs_the_costs_that_it_declares(name: str) -> None:
    interests = unif(40, 8, subscriptions=3, seed=1)
    if find(name, "build").needs_costs:
        with pytest.raises(OptionError, match=f"{name} needs the costs of links; give --costs"):
            build_overlay(interests, name)
    else:
        with_costs = build_overlay(interests, name, costs=some_costs(interests))
        assert np.array_equal(with_costs.edges, build_overlay(interests, name).edges)


def _the_same_seed_gives_the_same_overlay(name: str) -> None:
    interests = unif(60, 12, subscriptions=3, seed=2)
    once, again = (build(interests, name, seed=5) for _ in range(2))
    assert once == again


def _one_core_gives_the_same_overlay_as_all(name: str) -> None:
    interests = unif(60, 12, subscriptions=3, seed=2)
    on_all = build(interests, name, seed=3)
    with _one_core():
        on_one = build(interests, name, seed=3)
    # Estimates of memory among the facts may depend on the number of cores.
    assert np.array_equal(on_one.edges, on_all.edges)


@contextmanager
def _one_core() -> Iterator[None]:
    """Let this thread, and those that it starts, run on one core only; where there is no such call, skip."""
    if not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2:
        pytest.skip("this machine has one core, or can't bind a thread to one")
    every = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(every)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, every)


def _facts_say_how_to_build_it_again(name: str) -> None:
    interests = unif(40, 8, subscriptions=3, seed=1)
    overlay = build(interests, name, seed=9)
    facts = overlay.facts
    assert facts["algorithm"] == name
    assert build(interests, facts["algorithm"], seed=facts["seed"], **facts["options"]) == overlay


def _facts_have_the_seconds_of_the_stages(name: str) -> None:
    seconds = build(AWKWARD["all identical"], name).facts["seconds"]
    assert seconds
    assert all(value >= 0 for value in seconds.values())


def _options_are_a_frozen_dataclass_with_defaults(name: str) -> None:
    options = find(name, "build").options
    made = options()
    assert dataclasses.is_dataclass(options)
    for field in dataclasses.fields(options):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(made, field.name, None)


def _an_unknown_option_is_refused(name: str) -> None:
    with pytest.raises(OptionError, match="there is no option 'frobnicate'"):
        build(AWKWARD["two nodes"], name, frobnicate=1)


def _a_seed_that_is_no_whole_number_is_refused(name: str) -> None:
    for seed in (-1, 1.5, True, "0"):
        with pytest.raises(OptionError, match="seed"):
            build(AWKWARD["two nodes"], name, seed=seed)


_CHECKS: tuple[Check, ...] = (
    _needs_the_costs_that_it_declares,
    _the_same_seed_gives_the_same_overlay,
    _one_core_gives_the_same_overlay_as_all,
    _facts_say_how_to_build_it_again,
    _facts_have_the_seconds_of_the_stages,
    _options_are_a_frozen_dataclass_with_defaults,
    _an_unknown_option_is_refused,
    _a_seed_that_is_no_whole_number_is_refused,
)
