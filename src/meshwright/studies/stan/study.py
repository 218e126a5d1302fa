"""The claims of [5], StaN, from its section 3.5: topics that share links are as fit for gossip as before.

Fig. 6 is about the grid workload, whose parameters [5] leaves open. Fig. 7 to 9 are about universes of
LiveJournal and Wikipedia, which are not public, so they are measured on universes of other data, sampled as
in [5], or on synthetic ones if none are given. Which nodes improve, and by how much, depends on how far
interests overlap; that topics stay as fit does not.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np

from meshwright import workloads
from meshwright.model.interests import Interests
from meshwright.stan.api import gossip
from meshwright.stan.measures import Gossip
from meshwright.stan.options import StanOptions
from meshwright.studies.claims import Claim, Expected, Scope, about, at_least, at_most, equivalence_p, rise_p
from meshwright.studies.tolerances import (
    FEW_ROUNDS,
    MAJORITY,
    NEARLY_ALL,
    NUMBER,
    RANDOM,
    SIGNIFICANT,
    UNCHANGED,
    VERY_LOW,
)

RUNS = 10
"""Over which [5] averages Fig. 7 to 9."""

ROUND_GRID: Mapping[str, Any] = {"min_radius": 0.5}
"""The grid that counts. [5] states no number of its grid; ours are round ones, fitted to nothing.

The default of `workloads.grid` is calibrated: with it, 100 nodes and 16 topics start at the 25 of Fig. 6.
"""

CLOSE_GRID: Mapping[str, float] = {
    "copies_exponent": 3.0,
    "radius_exponent": 2.0,
    "min_radius": 0.5,
    "max_radius": 8.0,
}
"""A grid of the same kind on which interests overlap more, and physical views begin at the same size."""

Universe = Callable[[int], Interests]
"""By seed; one that was sampled is the same under each."""


def strong_universe(seed: int) -> Interests:
    """A grid of wide radii: nodes have 18 topics each, and much in common."""
    return workloads.grid(1_000, 64, min_radius=1.2, seed=seed)


def mild_universe(seed: int) -> Interests:
    """The grid of Fig. 6, larger."""
    return workloads.grid(1_000, 64, seed=seed, **ROUND_GRID)


def _growing(topics: int, **grid: float) -> Universe:
    return lambda seed: workloads.grid(10 * topics, topics, seed=seed, **grid)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True)
class Universes:
    """What Fig. 7 to 9 are measured on: one of strong and one of mild correlation, and rows by size.

    Nodes of the row `wide` have more topics in common; `calibrated` has the radii of `workloads.grid`.
    """

    strong: Universe = strong_universe
    mild: Universe = mild_universe
    growing: Sequence[Universe] = field(
        default_factory=lambda: [_growing(topics, **ROUND_GRID) for topics in (16, 32, 64, 128)]
    )
    wide: Sequence[Universe] = field(
        default_factory=lambda: [_growing(topics, min_radius=1.2) for topics in (16, 32, 64, 128)]
    )
    calibrated: Sequence[Universe] = field(
        default_factory=lambda: [_growing(topics) for topics in (16, 32, 64, 128)]
    )
    told: str = "grids of 1,000 nodes and 64 topics, and of 160 to 1,280 nodes and 16 to 128 topics"


@cache
def run_grid(seed: int, rounding: str = "up", links: str = "walks", **grid: float) -> Gossip:
    """Fig. 6: 100 nodes, 16 topics, 8 rounds, the protocols in the simulator."""
    options = StanOptions(rounding=rounding, links=links)
    engine = "simulator" if links == "walks" else "rounds"
    return gossip(workloads.grid(100, 16, seed=seed, **grid), options, engine=engine, seed=seed)  # type: ignore[arg-type]


def runs_of(universe: Universe, **options: Any) -> Callable[[int], Gossip]:
    """StaN on a universe by seed, in lock step; measured once."""
    return partial(_run, universe, tuple(options.items()))


@cache
def _run(universe: Universe, options: tuple[tuple[str, Any], ...], seed: int) -> Gossip:
    return gossip(universe(seed), StanOptions(**dict(options)), seed=seed)


def claims_on_fitness(given: Universes) -> Iterator[Claim]:
    """Connectivity, clustering and diameters."""
    how = f"8 rounds, TTL 5, in lock step; {given.told}; the runs of two universes together."
    both = (runs_of(given.strong), runs_of(given.mild))
    taught = tuple(runs_of(universe, learn=True, rounds=32) for universe in (given.strong, given.mild))
    strong = Claim(
        name="connectivity-strong",
        source="[5], 3.5",
        statement="In all the experiments we did not observe a single disconnection.",
        expected=at_least(SIGNIFICANT),
        how=(
            "p-value of a rise (sign test) of the topics that are not strongly connected: under 0.05 there "
            f"are more of them afterwards than chance would have; {how}"
        ),
        pooled=_pooled(both, partial(_rise, measure="disconnected_topics")),
        quantity="p-value",
        runs=RUNS,
    )
    yield strong
    for suffix, words, runs, measure in (
        ("weak", "Components are counted without direction.", both, "weakly_disconnected_topics"),
        (
            "learning",
            "Nodes also learn from passing walks, for 32 rounds, so that who is in no view is found again.",
            taught,
            "disconnected_topics",
        ),
    ):
        yield strong.variant(suffix, words, pooled=_pooled(runs, partial(_rise, measure=measure)))
    for name, change, figure in (("clustering", _clustering, "9(a)"), ("diameter", _diameters, "9(b)")):
        claim = Claim(
            name=f"figure-9-{name}",
            source=f"[5], 3.5 and Fig. {figure}",
            statement=f"Initial and final {name} are almost indistinguishable.",
            expected=at_most(SIGNIFICANT),
            how=(
                f"p-value of two one-sided tests that means over topics are within {UNCHANGED:.0%} of what "
                f"they were: under 0.05 they are, at the 5% level; {how}"
            ),
            pooled=_pooled(both, partial(_equivalent, change=change)),
            quantity="p-value",
            runs=RUNS,
        )
        yield claim
        yield claim.variant(
            "learning",
            "Nodes also learn from passing walks, for 32 rounds.",
            pooled=_pooled(taught, partial(_equivalent, change=change)),
        )
        yield claim.variant(
            "mild",
            "Only the universe of milder correlation is looked at.",
            pooled=_pooled(both[1:], partial(_equivalent, change=change)),
        )


def _pooled(
    runs: Sequence[Callable[[int], Gossip]], value: Callable[[Sequence[Gossip]], float]
) -> Callable[[Sequence[int]], float]:
    """One number of all runs together."""
    return lambda seeds: value([run(seed) for run in runs for seed in seeds])


def _rise(runs: Sequence[Gossip], measure: str) -> float:
    before, after = (sum(getattr(run, f"{prefix}{measure}") for run in runs) for prefix in ("initial_", ""))
    return rise_p(before, after)


def _clustering(run: Gossip) -> float:
    return run.clustering_coefficient / run.initial_clustering_coefficient - 1


def _diameters(run: Gossip) -> float:
    return (run.diameter or 0.0) / (run.initial_diameter or 1.0) - 1


def _equivalent(runs: Sequence[Gossip], change: Callable[[Gossip], float]) -> float:
    return equivalence_p([change(run) for run in runs], UNCHANGED)


_SMALL = Universes(
    strong=lambda seed: workloads.grid(60, 8, min_radius=1.2, seed=seed),
    mild=lambda seed: workloads.grid(60, 8, min_radius=0.5, seed=seed),
    growing=[_growing(topics, **ROUND_GRID) for topics in (6, 12)],
    wide=[_growing(topics, min_radius=1.2) for topics in (6, 12)],
    calibrated=[_growing(topics) for topics in (6, 12)],
    told="small grids",
)


_SYNTHETIC = Universes()


def universes_at(scope: Scope) -> Universes:
    """The synthetic universes at a scale."""
    return _SMALL if scope.scale == "smoke" else _SYNTHETIC


def claims_at(scope: Scope) -> tuple[Claim, ...]:
    """The claims on synthetic universes."""
    return claims(universes_at(scope))


def claims(universes: Universes | None = None) -> tuple[Claim, ...]:
    """All claims; those of Fig. 7 to 9 on the universes given."""
    given = universes or _SYNTHETIC
    return (
        *_claims_on_workloads(),
        *_claims_on_the_grid(),
        *_claims_on_links(given),
        *claims_on_fitness(given),
    )


_NOT_PUBLIC = (
    "The traces of LiveJournal and Wikipedia that [5] used are not public, and it states no law for them."
)


def _claims_on_workloads() -> Iterator[Claim]:
    """What [5] says of its traces; of most, only the statement is left."""
    for name, source, statement, number in (
        ("table-1-livejournal", "Table 1", "The universe L1 of LiveJournal has 13,652 topics.", 13_652),
        ("table-1-wikipedia", "Table 1", "The universe W1 of Wikipedia has 328,145 topics.", 328_145),
        ("figure-3-topics", "Fig. 3", "Subscribers per topic of LiveJournal follow a power law.", 1),
        ("figure-3-nodes", "Fig. 3", "Subscriptions per node of LiveJournal follow a power law.", 1),
        ("figure-4-topics", "Fig. 4", "Subscribers per topic of Wikipedia follow a power law.", 1),
        ("figure-4-nodes", "Fig. 4", "Subscriptions per node of Wikipedia follow a power law.", 1),
    ):
        yield Claim(
            name=name,
            source=f"[5], 3.1, 3.2 and {source}",
            statement=statement,
            expected=about(number),
            how="It can't be measured.",
            reason=_NOT_PUBLIC,
        )
    yield Claim(
        name="figure-5-correlation",
        source="[5], 3.2 and Fig. 5",
        statement="Subscriptions of Wikipedia are correlated more strongly than those of LiveJournal.",
        expected=at_least(1.0),
        how="It can't be measured.",
        reason=(
            f"{_NOT_PUBLIC} Synthetic grids stand for them, one of strong and one of mild correlation: that "
            "the one is stronger was our choice, and says nothing about the traces."
        ),
    )


_OTHER_GRIDS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "calibrated": ("Radii are wider: the grid is calibrated to start at 25.", {}),
    "close": ("Interests overlap more, on a grid (CLOSE_GRID) that was fitted to both numbers.", CLOSE_GRID),
    "down": ("View sizes are rounded down.", {**ROUND_GRID, "rounding": "down"}),
    "omniscient": (
        "Walks find too few: here each node knows all subscribers of its topics.",
        {**ROUND_GRID, "links": "omniscient"},
    ),
}
_GRID_IS_OPEN = (
    "[5] states no number of its grid: where views start follows from the radii that one chooses, so a grid "
    "that starts at 25 was calibrated to do so. What can be compared is how far they drop (figure-6a-drop)."
)


def _claims_on_the_grid() -> Iterator[Claim]:
    def drop(seed: int, options: Mapping[str, Any]) -> float:
        found = run_grid(seed, **options)
        return found.final_physical_view_size / found.initial_physical_view_size

    for name, number in (("initial", 25), ("final", 15)):
        yield Claim(
            name=f"figure-6a-{name}",
            source=_FIGURE_6A,
            statement="PVS drops from 25 to around 15.",
            expected=about(number),
            how="An absolute number; the ratio is figure-6a-drop.",
            reason=_GRID_IS_OPEN,
        )
    claim = _claim_on_the_grid(
        "drop",
        "PVS drops from 25 to around 15, to 0.6 of it.",
        about(15 / 25, NUMBER),
        "final PVS over initial",
        partial(drop, options=ROUND_GRID),
    )
    yield claim
    for suffix, (words, options) in _OTHER_GRIDS.items():
        yield claim.variant(suffix, words, partial(drop, options=options))
    yield _claim_on_the_grid(
        "logical",
        "LVS remains constant across the whole experiment.",
        at_most(0),
        "the greatest change of LVS in any round",
        lambda seed: _greatest_change(run_grid(seed, **ROUND_GRID)),
    )
    yield _claim_on_the_grid(
        "few-rounds",
        "StaN is able to share logical links after just a few rounds.",
        at_least(NEARLY_ALL),
        f"share of the drop after {FEW_ROUNDS} rounds",
        lambda seed: _share_of_drop(run_grid(seed, **ROUND_GRID), FEW_ROUNDS),
    )


_HOW_GRID = "a grid of round numbers (radii from 0.5 cells on), since [5] states none"
_FIGURE_6A = "[5], 3.4 and Fig. 6(a)"


def _claim_on_the_grid(
    name: str, statement: str, expected: Expected, on: str, value: Callable[[int], float]
) -> Claim:
    return Claim(
        name=f"figure-6a-{name}",
        source=_FIGURE_6A,
        statement=statement,
        expected=expected,
        how=f"{on}; 100 nodes, 16 topics, 8 rounds, TTL 5, in the simulator; {_HOW_GRID}.",
        measure=value,
        runs=5,
        quick_runs=20,  # views differ much from grid to grid: with 5 the interval says nothing
    )


def _greatest_change(run: Gossip) -> float:
    return max(abs(at.logical_view_size - run.initial_logical_view_size) for at in run.by_round)


def _share_of_drop(run: Gossip, rounds: int) -> float:
    sizes = [at.physical_view_size for at in run.by_round]
    return (sizes[0] - sizes[rounds]) / (sizes[0] - sizes[-1])


def _claims_on_links(given: Universes) -> Iterator[Claim]:
    how = f"8 rounds, TTL 5, in lock step; {given.told}."
    shares = {
        "": (runs_of(given.strong), runs_of(given.mild)),
        "learning": (runs_of(given.strong, learn=True), runs_of(given.mild, learn=True)),
        "down": (runs_of(given.strong, rounding="down"), runs_of(given.mild, rounding="down")),
    }
    words = {
        "learning": "Nodes also learn from passing walks.",
        "down": "View sizes are rounded down.",
    }
    for name, figure, statement, expected, told, value in _SHARES:
        claim = Claim(
            name=f"figure-7-{name}",
            source=f"[5], 3.4 and Fig. {figure}",
            statement=statement,
            expected=expected,
            how=f"{told}; {how}",
            measure=partial(_of_both, value, shares[""]),
            runs=RUNS,
        )
        yield claim
        for suffix, hypothesis in words.items():
            yield claim.variant(suffix, hypothesis, partial(_of_both, value, shares[suffix]))
    factor = Claim(
        name="figure-8-factor",
        source="[5], 3.4 and Fig. 8",
        statement="The number of physical links grows slower with the topics by a factor of two.",
        expected=about(2, RANDOM),
        how=f"Slope of the mean IPVS over that of the mean FPVS, by least squares over the topics; {how}",
        measure=partial(_growth, [runs_of(universe) for universe in given.growing]),
        runs=RUNS,
    )
    yield factor
    yield factor.variant(
        "calibrated",
        "Radii are those of the grid that is calibrated to start at 25 in Fig. 6.",
        partial(_growth, [runs_of(universe) for universe in given.calibrated]),
    )
    yield factor.variant(
        "wide",
        "Interests overlap more, on grids of wider radii.",
        partial(_growth, [runs_of(universe) for universe in given.wide]),
    )
    for suffix, hypothesis in words.items():
        options: dict[str, Any] = {"learn": True} if suffix == "learning" else {"rounding": "down"}
        runs = [runs_of(universe, **options) for universe in given.growing]
        yield factor.variant(suffix, hypothesis, partial(_growth, runs))


Runs = Callable[[int], Gossip]


def _of_both(value: Callable[[Gossip, Gossip], float], runs: tuple[Runs, Runs], seed: int) -> float:
    return float(value(runs[0](seed), runs[1](seed)))


def _growth(runs: Sequence[Runs], seed: int) -> float:
    return growth_factor([run(seed) for run in runs])


_SHARES: Sequence[tuple[str, str, str, Expected, str, Callable[[Gossip, Gossip], float]]] = (
    (
        "majority",
        "7(b)",
        "Where correlation is strong, the majority of nodes have an improvement over 40%.",
        at_least(MAJORITY),
        "Share of the nodes with topics whose PVS fell by over 40%",
        lambda strong, mild: strong.strongly_improved_nodes,
    ),
    (
        "fewer",
        "7(a)",
        "Where correlation is milder, fewer nodes achieve such an improvement.",
        at_most(1),
        "That share over the one of the strong universe",
        lambda strong, mild: mild.strongly_improved_nodes / max(strong.strongly_improved_nodes, 1e-9),
    ),
    (
        "worse",
        "7",
        "The improvement is negative only for nodes with very low IPVS.",
        at_most(VERY_LOW),
        "Mean IPVS of these nodes over that of all, in both universes, 0 without any",
        lambda strong, mild: max(map(_size_of_worse, (strong, mild))),
    ),
)


def _size_of_worse(run: Gossip) -> float:
    worse = run.worse_initial_physical_view_size
    return 0.0 if worse is None else worse / run.initial_physical_view_size


def growth_factor(runs: Sequence[Gossip]) -> float:
    """How much steeper the mean IPVS rises with the number of topics than the mean FPVS."""
    topics = [run.before.interests.topic_count for run in runs]

    def slope(value: Callable[[Gossip], float]) -> float:
        return float(np.polyfit(topics, [value(run) for run in runs], 1)[0])

    return slope(lambda run: run.initial_physical_view_size) / slope(lambda run: run.final_physical_view_size)
