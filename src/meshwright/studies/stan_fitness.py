"""Claims of [5], 3.5: that sharing links costs topics nothing of what makes them fit for gossip."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from meshwright.gossip.measures import Gossip
from meshwright.progress import Progress
from meshwright.studies.claims import Claim, Measure, Statistics
from meshwright.studies.equivalence import equivalence_p, rise_p
from meshwright.studies.stan_cases import RUNS, Universes, runs_of

CLUSTERING_MARGIN, DIAMETER_MARGIN = 0.01, 0.5
"""Within these a mean over the topics of a universe counts as unchanged."""


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
            expected=0.05,
            relation="at least",
            tolerance=0,
            how=f"p-value of a rise (sign test) of the topics that are {what}; {how}",
            measure=_over_all(runs, partial(_rise, measure=measure)),
            runs=RUNS,
            reason=reason,
        )
    for name, margin, pairs, figure in (
        ("clustering", CLUSTERING_MARGIN, _clustering, "9(a)"),
        ("diameter", DIAMETER_MARGIN, _diameters, "9(b)"),
    ):
        yield Claim(
            name=f"figure-9-{name}",
            source=f"[5], 3.5 and Fig. {figure}",
            statement=f"Initial and final {name} are almost indistinguishable.",
            expected=0.05,
            relation="at most",
            tolerance=0,
            how=f"p-value of equivalence (TOST) of means over topics, margin {margin}; {how}",
            measure=_over_all(both, partial(_equivalent, difference=pairs, margin=margin)),
            runs=RUNS,
        )


def _over_all(runs: Sequence[Callable[[int], Gossip]], value: Callable[[Sequence[Gossip]], float]) -> Measure:
    """One number of all runs together."""

    def measure(count: int, seed: int, progress: Progress | None) -> Statistics:
        del progress
        found = value([run(seed + at) for run in runs for at in range(count)])
        return Statistics(mean=found, variance=0.0, minimum=found, maximum=found, runs=count)

    return measure


def _rise(runs: Sequence[Gossip], measure: str) -> float:
    before, after = (sum(getattr(run, f"{prefix}{measure}") for run in runs) for prefix in ("initial_", ""))
    return rise_p(before, after)


def _clustering(run: Gossip) -> float:
    return run.clustering_coefficient - run.initial_clustering_coefficient


def _diameters(run: Gossip) -> float:
    return (run.diameter or 0.0) - (run.initial_diameter or 0.0)


def _equivalent(runs: Sequence[Gossip], difference: Callable[[Gossip], float], margin: float) -> float:
    return equivalence_p([difference(run) for run in runs], margin)
