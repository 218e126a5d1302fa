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
from meshwright.studies.claims import Claim, Expected, about, at_least, at_most, equivalence_p, rise_p

RUNS = 10
"""Over which [5] averages Fig. 7 to 9."""

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
    return workloads.grid(1_000, 64, seed=seed)


def _growing(topics: int) -> Universe:
    return lambda seed: workloads.grid(10 * topics, topics, seed=seed)


@dataclass(frozen=True, kw_only=True)
class Universes:
    """What Fig. 7 to 9 are measured on: one of strong and one of mild correlation, and a row by size."""

    strong: Universe = strong_universe
    mild: Universe = mild_universe
    growing: Sequence[Universe] = field(
        default_factory=lambda: [_growing(topics) for topics in (16, 32, 64, 128)]
    )
    told: str = "grids of 1,000 nodes and 64 topics, and of 160 to 1,280 nodes and 16 to 128 topics"


def run_grid(seed: int, **grid: float) -> Gossip:
    """Fig. 6: 100 nodes, 16 topics, 8 rounds, the protocols in the simulator."""
    return gossip(workloads.grid(100, 16, seed=seed, **grid), engine="simulator", seed=seed)  # type: ignore[arg-type]


def runs_of(universe: Universe, **options: Any) -> Callable[[int], Gossip]:
    """StaN on a universe by seed, in lock step; measured once."""
    return cache(lambda seed: gossip(universe(seed), StanOptions(**options), seed=seed))


MARGIN = 0.05
"""Within this share of what it was, a mean over the topics of a universe counts as unchanged."""


_STARVED = (
    "A node whose holders have all found others that they prefer is in nobody's view, and no walk meets it "
    "any more: without learning it stays there, though some would prefer it. [5] assumes that the overlay "
    "management keeps topics connected, and may count components without direction."
)


_FEWER_STARVED = (
    "Learning from passing walks leaves far fewer nodes in nobody's view, but not none: who is dropped is "
    "offered to the nodes on its own walks alone."
)


def claims_on_fitness(given: Universes) -> Iterator[Claim]:
    """Connectivity, clustering and diameters."""
    how = f"8 rounds, TTL 5, in lock step; {given.told}; the runs of two universes together."
    both = (runs_of(given.strong), runs_of(given.mild))
    taught = tuple(runs_of(universe, learn=True, rounds=32) for universe in (given.strong, given.mild))
    connected = "In all the experiments we did not observe a single disconnection."
    kinds: tuple[tuple[str, Sequence[Callable[[int], Gossip]], str, str, str], ...] = (
        ("weak", both, "weakly_disconnected_topics", "not even weakly connected", ""),
        ("strong", both, "disconnected_topics", "not strongly connected", _STARVED),
        (
            "learning",
            taught,
            "disconnected_topics",
            "not strongly connected, 32 rounds with learning",
            _FEWER_STARVED,
        ),
    )
    for name, runs, measure, what, reason in kinds:
        yield Claim(
            name=f"connectivity-{name}",
            source="[5], 3.5",
            statement=connected,
            expected=at_least(0.05),
            how=f"p-value of a rise (sign test) of the topics that are {what}; {how}",
            pooled=_pooled(runs, partial(_rise, measure=measure)),
            runs=RUNS,
            reason=reason,
        )
    for name, change, figure in (("clustering", _clustering, "9(a)"), ("diameter", _diameters, "9(b)")):
        yield Claim(
            name=f"figure-9-{name}",
            source=f"[5], 3.5 and Fig. {figure}",
            statement=f"Initial and final {name} are almost indistinguishable.",
            expected=at_most(0.05),
            how=f"p-value of equivalence (TOST) of means over topics, within {MARGIN:.0%}; {how}",
            pooled=_pooled(both, partial(_equivalent, change=change)),
            runs=RUNS,
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
    return equivalence_p([change(run) for run in runs], MARGIN)


_FEW_ROUNDS = 3


def claims_at(scale: str) -> tuple[Claim, ...]:
    """The claims on synthetic universes, which are the same at every scale."""
    del scale
    return claims()


def claims(universes: Universes | None = None) -> tuple[Claim, ...]:
    """All claims; those of Fig. 7 to 9 on the universes given."""
    given = universes or Universes()
    return (
        *_claims_on_workloads(given),
        *_claims_on_the_grid(),
        *_claims_on_links(given),
        *claims_on_fitness(given),
    )


_NOT_PUBLIC = (
    "The traces of LiveJournal and Wikipedia that [5] used are not public, and it states no law for them."
)


def _claims_on_workloads(given: Universes) -> Iterator[Claim]:
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
        how=f"Mean size of the correlations of topics, in the strong universe over the mild; {given.told}.",
        measure=lambda seed: _correlation(given.strong(seed)) / _correlation(given.mild(seed)),
        runs=RUNS,
    )


def _correlation(interests: Interests) -> float:
    """The mean size of Pearson's correlation over all pairs of topics that some, but not all, nodes have."""
    matrix = np.zeros((interests.node_count, interests.topic_count))
    matrix[np.repeat(np.arange(interests.node_count), np.diff(interests.indptr)), interests.topic_ids] = 1
    varied = matrix[:, (matrix.min(axis=0) == 0) & (matrix.max(axis=0) == 1)]
    found = np.atleast_2d(np.corrcoef(varied, rowvar=False))
    return float(np.abs(found[np.triu_indices(len(found), 1)]).mean())


_LESS_OVERLAP = (
    "On this grid even nodes that know all subscribers end at about 17.5. How far interests overlap decides "
    "it, which [5] does not state; a grid of more overlap that also starts at 25 ends at 15."
)


def _claims_on_the_grid() -> Iterator[Claim]:
    runs = cache(run_grid)

    def size(seed: int, when: str, grid: Mapping[str, float]) -> float:
        return float(getattr(runs(seed, **grid), f"{when}_physical_view_size"))

    grids: tuple[tuple[str, str, Mapping[str, float], str], ...] = (
        ("", "the grid calibrated to start at 25", {}, _LESS_OVERLAP),
        ("-close", "a grid of more overlap (CLOSE_GRID)", CLOSE_GRID, ""),
    )
    for suffix, on, grid, reason in grids:
        for name, expected in (("initial", 25), ("final", 15)):
            yield _claim_on_the_grid(
                f"{name}{suffix}",
                "PVS drops from 25 to around 15.",
                about(expected, tolerance=0.1),
                on,
                partial(size, when=name, grid=grid),
                reason if name == "final" else "",
            )
    yield _claim_on_the_grid(
        "logical",
        "LVS remains constant across the whole experiment.",
        at_most(0),
        "the greatest change of LVS in any round",
        lambda seed: _greatest_change(runs(seed)),
    )
    yield _claim_on_the_grid(
        "few-rounds",
        "StaN is able to share logical links after just a few rounds.",
        at_least(0.9),
        f"share of the drop after {_FEW_ROUNDS} rounds",
        lambda seed: _share_of_drop(runs(seed), _FEW_ROUNDS),
    )


def _claim_on_the_grid(
    name: str, statement: str, expected: Expected, on: str, value: Callable[[int], float], reason: str = ""
) -> Claim:
    return Claim(
        name=f"figure-6a-{name}",
        source="[5], 3.4 and Fig. 6(a)",
        statement=statement,
        expected=expected,
        how=f"100 nodes, 16 topics, 8 rounds, TTL 5, in the simulator; {on}.",
        measure=value,
        runs=5,
        reason=reason,
    )


def _greatest_change(run: Gossip) -> float:
    return max(abs(at.logical_view_size - run.initial_logical_view_size) for at in run.by_round)


def _share_of_drop(run: Gossip, rounds: int) -> float:
    sizes = [at.physical_view_size for at in run.by_round]
    return (sizes[0] - sizes[rounds]) / (sizes[0] - sizes[-1])


_LESS_GROWTH = "It depends on how far interests overlap: on grids of wider radii the factor is over 2."


_TOO_LARGE = (
    "In topics of thousands, 8 rounds of TTL 5, which [5] does not state, meet a small part of the "
    "subscribers. With learning from passing walks or more rounds, and for nodes that know everybody, most "
    "improve so much."
)


def _claims_on_links(given: Universes) -> Iterator[Claim]:
    how = f"8 rounds, TTL 5, in lock step; {given.told}."
    strong, mild = runs_of(given.strong), runs_of(given.mild)
    yield Claim(
        name="figure-7-majority",
        source="[5], 3.4 and Fig. 7(b)",
        statement="Where correlation is strong, the majority of nodes have an improvement over 40%.",
        expected=at_least(0.5),
        how=f"Share of the nodes with topics whose PVS fell by over 40%; {how}",
        measure=lambda seed: strong(seed).strongly_improved_nodes,
        runs=RUNS,
        reason=_TOO_LARGE,
    )
    yield Claim(
        name="figure-7-fewer",
        source="[5], 3.4 and Fig. 7(a)",
        statement="Where correlation is milder, fewer nodes achieve such an improvement.",
        expected=at_most(1),
        how=f"That share over the one of the strong universe; {how}",
        measure=lambda seed: mild(seed).strongly_improved_nodes / strong(seed).strongly_improved_nodes,
        runs=RUNS,
    )
    yield Claim(
        name="figure-7-worse",
        source="[5], 3.4 and Fig. 7",
        statement="The improvement is negative only for nodes with very low IPVS.",
        expected=at_most(0.5),
        how=f"Mean IPVS of these nodes over that of all, in both universes, 0 without any; {how}",
        measure=lambda seed: max(_size_of_worse(run(seed)) for run in (strong, mild)),
        runs=RUNS,
    )
    yield Claim(
        name="figure-8-factor",
        source="[5], 3.4 and Fig. 8",
        statement="The number of physical links grows slower with the topics by a factor of two.",
        expected=at_least(2, tolerance=0.15),
        how=f"Slope of the mean IPVS over that of the mean FPVS, by least squares over the topics; {how}",
        measure=lambda seed: growth_factor([run(seed) for run in map(runs_of, given.growing)]),
        runs=RUNS,
        reason=_LESS_GROWTH,
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
