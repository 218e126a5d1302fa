"""The steps that a maintainer takes, and what it reports of each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
    """What was done to an overlay in one step.

    Attributes:
        revision: that of the maintainer after it; every event applied is one, and every `relink`.
        events: how many events were applied.
        repeated: how many were passed over, since an event of the same id was applied before.
        refused: the events that could not be applied and were left out, with the reasons.
        added: the new links, pairs of names, both pairs and names in order.
        removed: the links that are gone, those of nodes that left included.
        shadows: how many nodes were looked at for new links.
        repair_seconds: until the overlay was topic-connected again (the paper's Step II; where topics are
            gained, with Step I, which has to come first).
        backup_seconds: for the backups afterwards (Step III).
        nodes: how many there are after it.
        links: how many there are after it.
        maximum_degree: the most links that a node has after it.
    """

    revision: int
    events: int = 0
    repeated: int = 0
    refused: tuple[Refusal, ...] = ()
    added: tuple[Link, ...] = ()
    removed: tuple[Link, ...] = ()
    shadows: int = 0
    repair_seconds: float = 0.0
    backup_seconds: float = 0.0
    nodes: int = 0
    links: int = 0
    maximum_degree: int = 0

    @property
    def average_degree(self) -> float:
        """How many links a node has on average after it."""
        return 2 * self.links / max(1, self.nodes)


def named(edges: Ids, names: Sequence[str | None]) -> tuple[Link, ...]:
    """Pairs of places that are taken as pairs of names, both in order."""
    pairs: Iterable[Any] = ((names[u], names[v]) for u, v in edges.tolist())
    return tuple(sorted((a, b) if a < b else (b, a) for a, b in pairs))


def merged(repairs: Sequence[Repair]) -> Repair:
    """What several repairs, one after the other, come to; there is at least one."""
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
    return Repair(
        revision=repairs[-1].revision,
        added=tuple(sorted(added)),
        removed=tuple(sorted(removed)),
        shadows=sum(repair.shadows for repair in repairs),
        repair_seconds=sum(repair.repair_seconds for repair in repairs),
        backup_seconds=sum(repair.backup_seconds for repair in repairs),
    )
