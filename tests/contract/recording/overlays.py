"""Overlays that every algorithm builds or merges."""

from collections.abc import Callable
from functools import partial
from typing import Any

import meshwright as mw
from tests.contract.recording import inputs, values
from tests.shelf import AWKWARD

_SEEDS = (0, 5)
_ZIPF_WEIGHTS = {"t00": 3, "t01": 0}
_VARIANTS: list[tuple[str, str, dict[str, Any]]] = [
    *(
        (algorithm, "zipf", {"ties": ties})
        for algorithm in ("gm", "low-oda", "dc", "tr-maw", "gr-maw", "pd-maw", "pdrd-maw", "dc-maw")
        for ties in ("small-first", "large-first")
    ),
    ("gm", "zipf", {"weights": _ZIPF_WEIGHTS}),
    ("gm", "social", {"keep_bounds": False}),
    ("low-oda", "zipf", {"rho": 1.0}),
    ("low-oda", "social", {"rho": 10.0}),
    ("dc", "zipf", {"partitions": 4}),
    ("dc", "social", {"part_size": 9}),
    ("dc", "zipf", {"partitions": 8, "most_stars": 12}),
    ("dc", "zipf", {"choose_by": "time"}),
    ("dc", "zipf", {"choose_by": "parallel-time"}),
    ("dc", "expo", {"partition_by": "k-means", "partitions": 3}),
    ("dc", "expo", {"partition_by": "k-means"}),
    ("dcbc", "zipf", {"threshold": 6}),
    ("dcbc", "social", {"bulk_share": 0.4, "partitions": 5}),
    ("dcbc", "zipf", {"bulk_limit": 3, "part_size": 11}),
    *(("dcbc", "zipf", {"ties": ties, "partitions": 3}) for ties in ("small-first", "bulk-first")),
    ("dcbc-direct", "zipf", {"bulk_size": 5}),
    ("dcbc-direct", "social", {"crowd": 3, "slack": 0.15}),
    ("dc-maw", "zipf", {"partitions": 5}),
    ("dc-maw", "zipf", {"part_size": 20, "most_stars": 10}),
    ("dc-maw", "zipf", {"divide_by": "landmarks", "landmarks": 4, "least_bin": 5}),
    ("chord", "zipf", {"bits": 10}),
    ("random-sw", "social", {"placement": "sorted"}),
    ("gr-swico", "zipf", {"whole_phases": True}),
    ("gr-swico", "zipf", {"ties": "random", "fill": "random"}),
    ("gr-swico", "zipf", {"ties": "farthest", "target_slot": "never"}),
    ("gr-swico", "social", {"target_slot": "required"}),
    ("stan", "zipf", {"learn": True, "slowest": 3}),
    ("stan", "zipf", {"view_size": 3, "loss": 0.2, "rounds": 4, "ttl": 2}),
    ("stan", "zipf", {"links": "omniscient"}),
    ("stan", "zipf", {"rounding": "down"}),
    ("stan", "zipf", {"links": "random", "connected": 0.9}),
]


def _both_seeds(algorithm: str, name: str) -> list[Any]:
    who = inputs.interests(name)
    return [values.overlay(inputs.build(who, algorithm, seed=seed)) for seed in _SEEDS]


def _shelf(algorithm: str) -> dict[str, Any]:
    built = {name: inputs.build(who, algorithm) for name, who in AWKWARD.items()}
    return {name: [len(own), values.array_digest(own.edges)] for name, own in built.items()}


def _optimum(name: str) -> Any:
    """Which of the least overlays `exact` gives may change with the solver; their number of links can not."""
    found = mw.build(inputs.interests(name), "exact")
    return [len(found), found.facts["optimal"]]


def _variant(algorithm: str, name: str, **options: Any) -> Any:
    return values.overlay(inputs.build(inputs.interests(name), algorithm, seed=3, **options))


def _with_sites(algorithm: str, **options: Any) -> Any:
    who = inputs.interests("zipf")
    return values.overlay(mw.build(who, algorithm, costs=inputs.site_costs(who), seed=3, **options))


def _merged(algorithm: str, count: int, **options: Any) -> Any:
    parts = [mw.build(who, "gm") for who in inputs.islands(count)]
    return values.overlay(mw.merge(parts, algorithm, seed=2, **options))


def _merged_with_costs(algorithm: str) -> Any:
    parts = [mw.build(who, "gr-maw", costs=inputs.matrix_costs(who)) for who in inputs.islands(2)]
    return values.overlay(mw.merge(parts, algorithm, link_cost=4.5))


def _cases() -> dict[str, Callable[[], Any]]:
    known = mw.algorithms()
    builds = [name for name, own in known.items() if own.kind == "build" and name != "exact"]
    merges = [name for name, algorithm in known.items() if algorithm.kind == "merge"]
    cases: dict[str, Callable[[], Any]] = {}
    cases |= {f"exact on {name}": partial(_optimum, name) for name in inputs.NAMES}
    for algorithm in builds:
        cases |= {f"{algorithm} on {name}": partial(_both_seeds, algorithm, name) for name in inputs.NAMES}
        cases[f"{algorithm} on the shelf"] = partial(_shelf, algorithm)
        if known[algorithm].topic_connected:
            cases[f"{algorithm}, reverse delete"] = partial(_variant, algorithm, "zipf", reverse_delete=True)
        if known[algorithm].needs_costs:
            cases[f"{algorithm} on sites"] = partial(_with_sites, algorithm)
    cases["gm, reverse delete by price"] = partial(_with_sites, "gm", reverse_delete=True)
    cases["dc-maw by sites"] = partial(_with_sites, "dc-maw", divide_by="sites")
    for algorithm, name, options in _VARIANTS:
        told = " ".join(f"{key}={value}" for key, value in options.items())
        cases[f"{algorithm} on {name}, {told}"] = partial(_variant, algorithm, name, **options)
    for algorithm in merges:
        cases |= {f"{algorithm} of {count}": partial(_merged, algorithm, count) for count in (1, 2, 3)}
        cases[f"{algorithm} without bounds"] = partial(_merged, algorithm, 3, keep_bounds=False)
        cases[f"{algorithm} with costs"] = partial(_merged_with_costs, algorithm)
    return cases


CASES = _cases()
