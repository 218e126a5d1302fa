"""Two overlays of the same interests: which links both have, what the links of each cost, what differs."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from meshwright.metrics.statistics import exact_sum
from meshwright.model.interests import first_difference
from meshwright.model.overlay import Overlay, shared_links
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
    found = first_difference(one.overlay.interests, other.overlay.interests, (one.name, other.name))
    if found is not None:
        raise InputError(
            f"{one.name} and {other.name} are overlays of different interests: {found}; give overlays that "
            f"were built or imported with the same interests"
        )


def compared_links(today: Overlay, target: Overlay) -> LinkChange:
    """How many links would be opened, closed and kept on the way from one overlay to the other."""
    kept = len(shared_links(today, target)[0])
    return LinkChange(len(target) - kept, len(today) - kept, kept)


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
    here, there = shared_links(today.overlay, target.overlay)
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
    known, shared = shared_links(knowing.overlay, other.overlay)
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
