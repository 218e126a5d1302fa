"""Overlays whose links have a cost because the costs between all nodes are known."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from meshwright.model.costs.costs import Costs
from meshwright.model.overlay import Overlay
from meshwright.runtime.arrays import Floats, Ids

FACT = "costs"


class Prices(NamedTuple):
    """What `costs` add to an overlay: a cost for each edge, a fact, and the tables that they are kept in."""

    costs: Floats
    facts: Mapping[str, Any]
    tables: Mapping[str, pa.Table]


def prices(edges: Ids, costs: Costs) -> Prices:
    """The costs of edges, given as ids of the nodes of `costs`, in any order."""
    return Prices(costs.between(edges[:, 0], edges[:, 1]), {FACT: costs.description()}, costs.tables())


def priced(overlay: Overlay, costs: Costs) -> Overlay:
    """The overlay with what `costs` say that each link costs; costs that it had are forgotten.

    A node that has no costs is refused.
    """
    found = prices(overlay.edges, costs.of(overlay.interests))
    facts, tables = {**overlay.facts, **found.facts}, {**overlay.tables, **found.tables}
    return Overlay(overlay.interests, overlay.edges, found.costs, facts, tables)


def costs_of(overlay: Overlay) -> Costs | None:
    """The costs between all nodes that the overlay was priced by; None where it does not say."""
    if FACT not in overlay.facts:
        return None
    return Costs.from_tables(overlay.tables, overlay.facts[FACT]).of(overlay.interests)
