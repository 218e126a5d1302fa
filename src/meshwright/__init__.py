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
from meshwright.callable_packages import callable_package
from meshwright.construct.star_sets import named_star_set as star_set
from meshwright.errors import (
    CapacityError,
    DatasetError,
    InputError,
    MeshwrightError,
    NetworkError,
    OptionError,
    SparkError,
)
from meshwright.evaluate import Evaluation, evaluate
from meshwright.gossip.measures import Gossip
from meshwright.gossip.options import SimulationOptions, StanOptions
from meshwright.gossip.running import gossip
from meshwright.model.churn import Event
from meshwright.model.costs import Costs
from meshwright.model.event_files import read_events, write_events
from meshwright.model.export import export
from meshwright.model.fingers import Fingers
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.model.read_limits import ReadLimits
from meshwright.model.sessions import Session, read_sessions
from meshwright.model.views import Views
from meshwright.progress import Progress, ProgressBar
from meshwright.registry import Algorithm, algorithms, build, merge
from meshwright.route import Routing, route

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


for _function in (evaluate, gossip, route):
    globals()[_function.__name__] = callable_package(__name__, _function)


def __getattr__(name: str) -> Any:
    """What needs Numba is imported when it is first asked for."""
    if name not in ("Journal", "Maintainer", "Repair"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from meshwright import maintain

    return getattr(maintain, name)
