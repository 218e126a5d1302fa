"""What StaN is studied on: the grid of Fig. 6 of [5], and universes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from meshwright import workloads
from meshwright.model.interests import Interests
from meshwright.stan.api import gossip
from meshwright.stan.measures import Gossip
from meshwright.stan.options import StanOptions

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
