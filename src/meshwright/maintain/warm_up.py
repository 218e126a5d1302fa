"""Compile the kernels of repairs before the first one is timed."""

from collections.abc import Mapping
from typing import Any

from meshwright.construct.options import COLUMN
from meshwright.maintain.maintainer import Maintainer
from meshwright.model.costs.costs import Costs
from meshwright.model.events import Event
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.runtime.progress import CANCEL, DONE, Progress, run_with_ticks

_TOPICS = ("a", "b")
_EVENTS = (
    Event(1, "join", "x", _TOPICS),
    Event(2, "leave", "hub"),
    Event(3, "unsubscribe", "x", ("b",)),
    Event(4, "subscribe", "x", ("b",)),
    Event(5, "leave", "x"),
)


def rehearse(
    options: Mapping[str, Any], progress: Progress | None = None, *, with_costs: bool = False
) -> None:
    """Apply one event of each kind to a small star, by a maintainer with these options, with costs or not.

    Numba compiles a kernel when it is first called, or loads it from disk. On a new machine that takes most
    of a minute, which would otherwise count as the time of the first repairs. A `max_links` that tells nodes
    apart becomes a number, since the star has other nodes.
    """
    cap = options.get("max_links")
    if cap == COLUMN or isinstance(cap, Mapping):
        options = {**options, "max_links": 3}
    leaves = [f"leaf {number}" for number in range(6)]
    interests = Interests.from_pairs([(node, topic) for node in ("hub", *leaves) for topic in _TOPICS])
    star = Overlay.from_edges(interests, [("hub", leaf) for leaf in leaves])
    sites = dict.fromkeys(["hub", "x", *leaves], "here")
    costs = Costs.clusters(sites, inner=1.0, outer=1.0) if with_costs else None

    def work(ticks: Any) -> None:
        live = Maintainer(star, costs=costs, **options)
        for at, event in enumerate(_EVENTS, 1):
            if ticks[CANCEL]:
                return
            live.apply([event])
            ticks[DONE] = at

    run_with_ticks(work, "preparing repairs", len(_EVENTS), progress)
