"""Two overlays of the same interests: which links both have, what the links of each cost, what differs."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.metrics.statistics import exact_sum
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.runtime.arrays import Longs
from meshwright.runtime.errors import InputError

_SAME_COST = 1e-9
"""The relative difference that two statements of the same cost may have."""


class Named(Protocol):
    """An overlay with a name and the unit of its costs."""

    @property
    def name(self) -> str:
        """What messages call it."""

    @property
    def overlay(self) -> Overlay:
        """Its links."""

    @property
    def unit(self) -> str:
        """What its costs are counted in; empty where that is not known."""


class LinkChange(NamedTuple):
    """How many links only the second overlay has, only the first, and both."""

    opened: int
    closed: int
    kept: int


class CostChange(NamedTuple):
    """What the links of two overlays cost by the same costs; or why that is not known.

    `why_not` is empty where costs are known, and where neither overlay has any.
    """

    today: float | None = None
    target: float | None = None
    unit: str = ""
    why_not: str = ""


def check_same_interests(one: Named, other: Named) -> None:
    """Refuse overlays of different interests, with the first difference by name."""
    difference = first_difference(one, other)
    if difference:
        raise InputError(
            f"{one.name} and {other.name} are overlays of different interests: {difference}; "
            f"give overlays that were built or imported with the same interests"
        )


def first_difference(one: Named, other: Named) -> str:
    """The first node, topic or interest, by name, that only one of two overlays has; empty where none is."""
    for kind in ("node", "topic"):
        found = [*_first_missing(kind, one, other), *_first_missing(kind, other, one)]
        if found:
            name, where = min(found, key=lambda missing: missing[0].encode())
            return f"{kind} {name!r} is only in {where}"
    return _first_interest(one, other)


def _first_missing(kind: str, one: Named, other: Named) -> list[tuple[str, str]]:
    """The first name that only the first overlay has, if there is one, and where that is."""
    names, known = (getattr(place.overlay.interests, f"{kind}s") for place in (one, other))
    missing: pa.StringArray = names.filter(pc.invert(pc.is_in(names, known)))
    return [(name, one.name) for name in missing.slice(0, 1).to_pylist()]


def _first_interest(one: Named, other: Named) -> str:
    """The same for interests in the same nodes and topics."""
    own = one.overlay.interests
    here, there = (_interest_keys(place.overlay.interests) for place in (one, other))
    differing = np.setxor1d(here, there, assume_unique=True)
    if not len(differing):
        return ""
    node, topic = divmod(int(differing[0]), own.topic_count)
    where = one.name if np.isin(differing[0], here) else other.name
    who, what = own.nodes[node].as_py(), own.topics[topic].as_py()
    return f"node {who!r} subscribes to {what!r} only in {where}"


def _interest_keys(interests: Interests) -> Longs:
    nodes = np.repeat(np.arange(interests.node_count), np.diff(interests.indptr))
    keys: Longs = nodes * interests.topic_count + interests.topic_ids
    return keys


def compared_links(today: Overlay, target: Overlay) -> LinkChange:
    """How many links would be opened, closed and kept on the way from one overlay to the other."""
    kept = len(_shared(today, target)[0])
    return LinkChange(len(target) - kept, len(today) - kept, kept)


def _shared(one: Overlay, other: Overlay) -> tuple[Longs, Longs]:
    """The places of the links that both overlays have, in each."""
    _, first, second = np.intersect1d(_keys(one), _keys(other), assume_unique=True, return_indices=True)
    return first, second


def _keys(overlay: Overlay) -> Longs:
    keys: Longs = overlay.edges[:, 0] * np.int64(2**31) + overlay.edges[:, 1]
    return keys


def compared_costs(today: Named, target: Named) -> CostChange:
    """What both overlays cost, if both say so and agree, or one knows all links of the other."""
    first, second = today.overlay.costs, target.overlay.costs
    if first is None and second is None:
        return CostChange()
    if first is None or second is None:
        return _costs_of_one(today, target)
    if today.unit and target.unit and today.unit != target.unit:
        return _not_compared(
            f"those of {today.name} are in {today.unit}, those of {target.name} in {target.unit}"
        )
    here, there = _shared(today.overlay, target.overlay)
    differ = ~np.isclose(first[here], second[there], rtol=_SAME_COST, atol=0)
    if differ.any():
        at = int(np.argmax(differ))
        return _not_compared(
            f"{today.name} and {target.name} differ about what {_link(today.overlay, here[at])} costs, "
            f"{first[here[at]]:g} or {second[there[at]]:g}"
        )
    return CostChange(exact_sum(first), exact_sum(second), today.unit or target.unit)


def _costs_of_one(today: Named, target: Named) -> CostChange:
    """Costs where only one of two overlays has any: those of the other's links must be among them."""
    knowing, other = (today, target) if target.overlay.costs is None else (target, today)
    costs = knowing.overlay.costs
    assert costs is not None
    known, shared = _shared(knowing.overlay, other.overlay)
    unknown = len(other.overlay) - len(shared)
    if unknown:
        links = "1 of its links is" if unknown == 1 else f"{unknown:,} of its links are"
        return _not_compared(f"{other.name} has none, and {links} not in {knowing.name}")
    paid = exact_sum(costs), exact_sum(costs[known])
    return CostChange(*(paid if knowing is today else paid[::-1]), knowing.unit)


def _not_compared(why: str) -> CostChange:
    return CostChange(why_not=f"Costs can't be compared: {why}.")


def _link(overlay: Overlay, place: int) -> str:
    nodes = overlay.interests.nodes
    u, v = overlay.edges[place].tolist()
    return f"the link between {nodes[u].as_py()!r} and {nodes[v].as_py()!r}"
