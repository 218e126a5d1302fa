"""The steps that a maintainer takes, and what it reports of each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, NamedTuple

from meshwright.maintain.event_batches import Refusal
from meshwright.model.events import Event
from meshwright.runtime.arrays import Ids

Link = tuple[str, str]


class Relink(NamedTuple):
    """The arguments of `Maintainer.relink`."""

    add: tuple[Link, ...]
    remove: tuple[Link, ...]
    most_removed: int | None


class Step(NamedTuple):
    """One change: the events of one batch, or a relink. The empty step is the start of a maintainer."""

    events: tuple[Event, ...] = ()
    lenient: bool = False
    relink: Relink | None = None


@dataclass(frozen=True, slots=True)
class Repair:
    """What one step did to an overlay.

    Attributes:
        revision: of the maintainer afterwards; every event and every `relink` raises it by one.
        events: the number of events applied.
        repeated: the number of events passed over, since one with the same id was applied before.
        refused: the events that could not be applied and were left out, with the reasons.
        added: the new links, as sorted pairs of names, in order.
        removed: the links that are gone, including those of nodes that left.
        reoptimised: those of the added and removed links that re-optimisation in the background changed.
        shadows: the number of nodes that were considered for new links.
        repair_seconds: until the overlay was topic-connected again (Step II of the paper; where topics are
            gained, Step I as well, which has to come first).
        backup_seconds: for the backups afterwards (Step III).
        reoptimise_seconds: for re-optimisation afterwards.
        nodes: the number of nodes afterwards.
        links: the number of links afterwards.
        maximum_degree: the most links of a node afterwards.
        added_costs: what each of the new links costs; None where links have no costs.
        removed_costs: what each of the links that are gone cost.
        cost: of all links afterwards, but for rounding.
        unprotected: with resilience 2, the topics of three or more that the failure of a node would cut
            afterwards, since caps leave no room for spares.
        over_max_links: the nodes that have more links than max_links afterwards.
    """

    revision: int
    events: int = 0
    repeated: int = 0
    refused: tuple[Refusal, ...] = ()
    added: tuple[Link, ...] = ()
    removed: tuple[Link, ...] = ()
    reoptimised: tuple[Link, ...] = ()
    shadows: int = 0
    repair_seconds: float = 0.0
    backup_seconds: float = 0.0
    reoptimise_seconds: float = 0.0
    nodes: int = 0
    links: int = 0
    maximum_degree: int = 0
    added_costs: tuple[float, ...] | None = None
    removed_costs: tuple[float, ...] | None = None
    cost: float | None = None
    unprotected: tuple[str, ...] = ()
    over_max_links: tuple[str, ...] = ()

    @property
    def opened_cost(self) -> float | None:
        """The cost of the new links together; None where links have no costs."""
        return None if self.added_costs is None else fsum(self.added_costs)

    @property
    def closed_cost(self) -> float | None:
        """What the links that are gone cost together, which is saved."""
        return None if self.removed_costs is None else fsum(self.removed_costs)

    @property
    def average_degree(self) -> float:
        """The average number of links of a node afterwards."""
        return 2 * self.links / max(1, self.nodes)


def named(edges: Ids, names: Sequence[str | None]) -> tuple[Link, ...]:
    """Turn pairs of places into sorted pairs of names, in order."""
    pairs: Iterable[Any] = ((names[u], names[v]) for u, v in edges.tolist())
    return tuple(sorted((a, b) if a < b else (b, a) for a, b in pairs))


def merged(repairs: Sequence[Repair]) -> Repair:
    """The joint effect of one or more successive repairs."""
    if len(repairs) == 1:
        return repairs[0]
    added: set[Link] = set()
    removed: set[Link] = set()
    for repair in repairs:
        gone, new = set(repair.removed), set(repair.added)
        removed |= gone - added
        added -= gone
        added |= new - removed
        removed -= new
    changed = added | removed
    return Repair(
        revision=repairs[-1].revision,
        added=tuple(sorted(added)),
        removed=tuple(sorted(removed)),
        reoptimised=tuple(
            sorted({link for repair in repairs for link in repair.reoptimised if link in changed})
        ),
        shadows=sum(repair.shadows for repair in repairs),
        repair_seconds=sum(repair.repair_seconds for repair in repairs),
        backup_seconds=sum(repair.backup_seconds for repair in repairs),
        reoptimise_seconds=sum(repair.reoptimise_seconds for repair in repairs),
    )
