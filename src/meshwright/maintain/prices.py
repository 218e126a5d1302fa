"""What the links of a maintained overlay cost: new ones by costs that are given, kept ones as they came."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import fsum
from typing import Any, NamedTuple

import numpy as np

from meshwright.kernels.core.cost_arrays import CostArrays
from meshwright.kernels.core.costs import fill_costs
from meshwright.maintain.repairs import Link
from meshwright.model.costs.costs import Costs
from meshwright.model.overlay import Overlay, costs_of, priced
from meshwright.runtime.arrays import Ids
from meshwright.runtime.errors import InputError

DROP = "drop"
"""In place of costs: the overlay goes on without its cost column."""


class Start(NamedTuple):
    """An overlay to maintain, and what new links cost, if links cost."""

    overlay: Overlay
    costs: Costs | None


def start_with(overlay: Overlay, costs: Costs | str | None) -> Start:
    """The overlay as it is maintained, and the costs of new links.

    An overlay without a cost column gets one if `costs` are given. One with a column keeps it: new links cost
    what `costs` say, or else what the overlay itself says, as one does that was built with costs. If neither
    says anything, the overlay is refused: a column with gaps would be wrong, and one that disappears would be
    missed only later. With "drop", the overlay goes on without costs.
    """
    if isinstance(costs, Costs):
        costs.of(overlay.interests)  # every node must have costs
        return Start(priced(overlay, costs) if overlay.costs is None else overlay, costs)
    if costs not in (None, DROP):
        raise InputError(f"costs is {costs!r}; give Costs, or 'drop' to go on without the cost column")
    if overlay.costs is None or costs == DROP:
        return Start(replace(overlay, costs=None), None)
    own = costs_of(overlay)
    if own is None:
        raise InputError(
            "the overlay's links have costs, but it is unknown what new links would cost; give the costs "
            "(--costs FILE, or costs= in Python), or drop the cost column (--no-costs, or costs='drop')"
        )
    return Start(overlay, own)


def digest_of(costs: Costs) -> str:
    """A hash of the nodes and of what links between them cost; the names of sites do not count."""
    form = costs.form
    found = hashlib.sha256(f"{form.kind} {form.base!r} {form.factor!r} {form.matrix.shape}".encode())
    for name in costs.nodes.to_pylist():
        data = name.encode()
        found.update(len(data).to_bytes(4, "little") + data)
    for array in (form.matrix, form.site_of, form.points):
        found.update(array.tobytes())
    return found.hexdigest()


class SavedPrices(NamedTuple):
    """What a snapshot says about costs, in JSON's types."""

    digest: str  # of the costs, which the snapshot does not hold
    total: float
    kept: list[tuple[str, str, float]]


class PricedLinks(NamedTuple):
    """The costs of links that were opened and closed, in their order, and of all links afterwards."""

    added_costs: tuple[float, ...]
    removed_costs: tuple[float, ...]
    cost: float


class Prices:
    """The costs of all links of an overlay that changes.

    Guarantee: a link costs the same from when it is opened until it is closed; one that the overlay had at
    the start costs what its column said. A link that is opened costs what the costs say.

    Memory: an entry for each node that has costs, and for each kept link whose cost the costs do not give.

    Attributes:
        costs: of new links.
        digest: of these costs.
        total: the cost of all links, but for rounding.
    """

    def __init__(self, costs: Costs, digest: str | None = None) -> None:
        self.costs = costs
        self.digest = digest_of(costs) if digest is None else digest
        self.total = 0.0
        self._ids: dict[str, int] = {name: at for at, name in enumerate(costs.nodes.to_pylist())}
        self._by_place = np.empty(0, np.int32)
        self._kept: dict[Link, float] = {}

    @classmethod
    def of(cls, overlay: Overlay, costs: Costs) -> "Prices":
        """The prices of an overlay with a cost column."""
        assert overlay.costs is not None
        prices = cls(costs)
        own = costs.of(overlay.interests)
        told = own.between(overlay.edges[:, 0], overlay.edges[:, 1])
        names = overlay.interests.nodes
        for at in np.flatnonzero(told != overlay.costs).tolist():
            a, b = (names[int(end)].as_py() for end in overlay.edges[at])
            prices._kept[min(a, b), max(a, b)] = float(overlay.costs[at])
        prices.total = fsum(overlay.costs.tolist())
        return prices

    @classmethod
    def restored(cls, saved: SavedPrices, costs: Costs | None) -> "Prices":
        """The prices of a snapshot; they need the costs that it was made with, and no others."""
        if costs is None:
            raise InputError("its links have costs; give the same costs again (--costs, or costs= in Python)")
        if digest_of(costs) != saved.digest:
            raise InputError("it was begun with other costs; give the same costs, unchanged")
        prices = cls(costs, saved.digest)
        prices.total = saved.total
        prices._kept = {(a, b): cost for a, b, cost in saved.kept}
        return prices

    def saved(self) -> SavedPrices:
        """What `restored` needs beside the costs."""
        return SavedPrices(self.digest, self.total, [(a, b, cost) for (a, b), cost in self._kept.items()])

    def why_unknown(self, node: str) -> str | None:
        """What to say of a node that has no costs; None for one that has."""
        if node in self._ids:
            return None
        return f"it is not among the {len(self._ids):,} nodes that have costs; add it to the costs"

    def seat(self, names: Sequence[str | None], places: Ids, room: int) -> None:
        """Note which nodes are at these places. `room` is the number of all places, taken or free."""
        if room > len(self._by_place):
            longer = np.zeros(room, np.int32)
            longer[: len(self._by_place)] = self._by_place
            self._by_place = longer
        for place in places.tolist():
            name = names[place]
            assert name is not None
            self._by_place[place] = self._ids[name]

    def arrays(self) -> tuple[CostArrays, Ids]:
        """The costs as kernels take them, and by place where they have the node."""
        return self.costs.arrays(), self._by_place

    def follow(self, added: Sequence[Link], removed: Sequence[Link]) -> PricedLinks:
        """Note that links were opened and closed, and give what each costs."""
        closed = self._told(removed)
        for at, link in enumerate(removed):
            closed[at] = self._kept.pop(link, closed[at])
        opened = self._told(added)
        self.total += fsum(opened) - fsum(closed)
        return PricedLinks(tuple(opened), tuple(closed), self.total)

    def sum_of(self, links: Sequence[Link]) -> float:
        """What links cost together: those that are there, and those that might be."""
        return fsum(self._kept.get(link, cost) for link, cost in zip(links, self._told(links), strict=True))

    def _told(self, links: Sequence[Link]) -> list[float]:
        """What the costs say of links."""
        ends = np.array([[self._ids[a], self._ids[b]] for a, b in links], np.int32).reshape(-1, 2)
        found = np.empty(len(ends))
        fill_costs(self.costs.arrays(), ends[:, 0].copy(), ends[:, 1].copy(), found)
        return found.tolist()

    def applied(self, overlay: Overlay) -> Overlay:
        """The overlay with its cost column, and with the costs between its nodes. Linear, as `priced`."""
        found = priced(overlay, self.costs)
        if not self._kept:
            return found
        assert found.costs is not None
        column, rows = found.costs.copy(), _rows_of(overlay)
        for link, cost in self._kept.items():
            column[rows[link]] = cost
        return replace(found, costs=column)


def _rows_of(overlay: Overlay) -> Mapping[Link, int]:
    """The row of each edge, by the sorted names of its ends."""
    names: Any = overlay.interests.nodes.to_pylist()
    return {(names[u], names[v]): at for at, (u, v) in enumerate(overlay.edges.tolist())}
