"""Meshwright designs the overlay of a topic-based publish/subscribe system.

From who is interested in what it computes few links, such that the subscribers of every topic are connected
among themselves.

    import meshwright as mw

    interests = mw.Interests.from_pairs([("b1", "news"), ("b2", "news"), ("b3", "sport"), ("b2", "sport")])
    overlay = mw.build(interests, "gm")
    print(mw.evaluate(overlay))
"""

from typing import TYPE_CHECKING, Any

from meshwright import workloads
from meshwright.construct.parts.star_sets import named_star_set as star_set
from meshwright.metrics import Evaluation, evaluate
from meshwright.model.costs.costs import Costs
from meshwright.model.events import Event, read_events, write_events
from meshwright.model.export import export
from meshwright.model.fingers import Fingers
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.model.reading.limits import ReadLimits
from meshwright.model.sessions import Session, read_sessions
from meshwright.model.views import Views
from meshwright.registry import Algorithm, algorithms, build, merge
from meshwright.routing import Routing, route
from meshwright.runtime.errors import (
    CapacityError,
    DatasetError,
    InputError,
    MeshwrightError,
    NetworkError,
    OptionError,
    SparkError,
)
from meshwright.runtime.progress import Progress, ProgressBar
from meshwright.stan.api import gossip
from meshwright.stan.measures import Gossip
from meshwright.stan.options import SimulationOptions, StanOptions

if TYPE_CHECKING:
    from meshwright.maintain import Journal, Maintainer, Repair

__all__ = [
    "Algorithm",
    "CapacityError",
    "Costs",
    "DatasetError",
    "Evaluation",
    "Event",
    "Fingers",
    "Gossip",
    "InputError",
    "Interests",
    "Journal",
    "Maintainer",
    "MeshwrightError",
    "NetworkError",
    "OptionError",
    "Overlay",
    "Progress",
    "ProgressBar",
    "ReadLimits",
    "Repair",
    "Routing",
    "Session",
    "SimulationOptions",
    "SparkError",
    "StanOptions",
    "Views",
    "algorithms",
    "build",
    "evaluate",
    "export",
    "gossip",
    "merge",
    "read_events",
    "read_sessions",
    "route",
    "star_set",
    "workloads",
    "write_events",
]


def __getattr__(name: str) -> Any:
    """What needs Numba is imported when it is first asked for."""
    if name not in ("Journal", "Maintainer", "Repair"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from meshwright import maintain

    return getattr(maintain, name)
