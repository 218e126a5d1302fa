"""Two overlays of the same interests: which links both have, what the links of each cost, what differs."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from meshwright.metrics.statistics import exact_sum
from meshwright.model.interests import first_difference
from meshwright.model.overlay import Overlay, shared_links
from meshwright.runtime.arrays import Floats
from meshwright.runtime.errors import InputError
from meshwright.runtime.wording import count

_SAME_COST = 1e-9
"""The relative difference that two statements of the same cost may have."""

_REMEDY = "Give --costs, --inner or --places to price all links alike."


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
    """What the links of two overlays cost, None where that is not known; and why these can't be compared.

    `why_not` is empty where both are known by the same costs, and where neither overlay has any.
    """

    today: float | None = None
    target: float | None = None
    unit_today: str = ""
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
    """What both overlays cost; comparable if both say so and agree, or one knows all links of the other."""
    first, second = today.overlay.costs, target.overlay.costs
    if first is None and second is None:
        return CostChange()
    if first is None or second is None:
        return _costs_of_one(today, target)
    own = CostChange(exact_sum(first), exact_sum(second), today.unit, target.unit)
    if today.unit and target.unit and today.unit != target.unit:
        return own._replace(why_not=_not_compared(f"they are in {today.unit} and in {target.unit}"))
    here, there = shared_links(today.overlay, target.overlay)
    differ = differing(first[here], second[there])
    if differ:
        links = f"{differ:,} of the {count(len(here), 'link')} that both have"
        why = f"{links} do not cost the same in {today.name} and in {target.name}"
        return own._replace(why_not=_not_compared(why))
    unit = today.unit or target.unit
    return own._replace(unit_today=unit, unit=unit)


def differing(some: Floats, others: Floats) -> int:
    """How many costs of the same links are not the same, apart from rounding."""
    return int(np.count_nonzero(~np.isclose(some, others, rtol=_SAME_COST, atol=0)))


def _costs_of_one(today: Named, target: Named) -> CostChange:
    """Costs where only one of two overlays has any: those of the other's links must be among them."""
    knowing, other = (today, target) if target.overlay.costs is None else (target, today)
    costs = knowing.overlay.costs
    assert costs is not None
    known, shared = shared_links(knowing.overlay, other.overlay)
    unknown = len(other.overlay) - len(shared)
    own, others = exact_sum(costs), None if unknown else exact_sum(costs[known])
    paid = (own, others) if knowing is today else (others, own)
    why_not = ""
    if unknown:
        links = "1 of its links is" if unknown == 1 else f"{unknown:,} of its links are"
        why_not = _not_compared(f"{other.name} has none, and {links} not in {knowing.name}")
    return CostChange(paid[0], paid[1], knowing.unit, knowing.unit, why_not)


def _not_compared(why: str) -> str:
    return f"The costs can't be compared: {why}. {_REMEDY}"
