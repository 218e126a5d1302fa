"""Meshwright designs the overlay of a topic-based publish/subscribe system.

Given which node is interested in which topic, it connects the subscribers of every topic with as few links as
possible. Docstrings cite papers by their numbers in `docs/bibliography.md`.

    import meshwright as mw

    interests = mw.Interests.from_pairs([("b1", "news"), ("b2", "news"), ("b3", "sport"), ("b2", "sport")])
    overlay = mw.build(interests, "gm")
    print(mw.evaluate(overlay))
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from meshwright import workloads
    from meshwright.building import build, merge
    from meshwright.comparing import compare
    from meshwright.construct.parts.star_sets import named_star_set as star_set
    from meshwright.construct.standby import primary_links, standby_links
    from meshwright.exporting import export
    from meshwright.filters.filter import Filter
    from meshwright.maintain.journal.journal import Journal
    from meshwright.maintain.maintainer import Maintainer
    from meshwright.maintain.migration import Migration, migrate
    from meshwright.maintain.repairs import Repair
    from meshwright.metrics.evaluation import Evaluation, evaluate
    from meshwright.model.costs.costs import Costs
    from meshwright.model.edges import Built
    from meshwright.model.events import Event, read_events, write_events
    from meshwright.model.fingers import Fingers
    from meshwright.model.interests import Interests
    from meshwright.model.overlay import Overlay
    from meshwright.model.reading.limits import ReadLimits
    from meshwright.model.sessions import Session, read_sessions
    from meshwright.model.views import Views
    from meshwright.pipeline.in_memory import ingest, profile, sample
    from meshwright.pipeline.profile.job import Profile
    from meshwright.registry import Algorithm, algorithms, register, unregister
    from meshwright.routing.api import route
    from meshwright.routing.load import Load, expected_load
    from meshwright.routing.measures import Routing
    from meshwright.runtime.errors import (
        CapacityError,
        DatasetError,
        InfeasibleError,
        InputError,
        MeshwrightError,
        NetworkError,
        OptionError,
        PluginError,
        SparkError,
    )
    from meshwright.runtime.json_values import records
    from meshwright.runtime.progress import Progress, ProgressBar
    from meshwright.serve.client import Client
    from meshwright.stan.api import gossip
    from meshwright.stan.measures import Gossip
    from meshwright.stan.options import SimulationOptions, StanOptions
    from meshwright.suggesting import suggest

__all__ = [
    "Algorithm",
    "Built",
    "CapacityError",
    "Client",
    "Costs",
    "DatasetError",
    "Evaluation",
    "Event",
    "Filter",
    "Fingers",
    "Gossip",
    "InfeasibleError",
    "InputError",
    "Interests",
    "Journal",
    "Load",
    "Maintainer",
    "MeshwrightError",
    "Migration",
    "NetworkError",
    "OptionError",
    "Overlay",
    "PluginError",
    "Profile",
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
    "compare",
    "evaluate",
    "expected_load",
    "export",
    "gossip",
    "ingest",
    "merge",
    "migrate",
    "primary_links",
    "profile",
    "read_events",
    "read_sessions",
    "records",
    "register",
    "route",
    "sample",
    "standby_links",
    "star_set",
    "suggest",
    "unregister",
    "workloads",
    "write_events",
]

_HOME = {
    "Algorithm": "registry",
    "Built": "model.edges",
    "CapacityError": "runtime.errors",
    "Client": "serve.client",
    "Costs": "model.costs.costs",
    "DatasetError": "runtime.errors",
    "Evaluation": "metrics.evaluation",
    "Event": "model.events",
    "Filter": "filters.filter",
    "Fingers": "model.fingers",
    "Gossip": "stan.measures",
    "InfeasibleError": "runtime.errors",
    "InputError": "runtime.errors",
    "Interests": "model.interests",
    "Load": "routing.load",
    "Journal": "maintain.journal.journal",
    "Maintainer": "maintain.maintainer",
    "MeshwrightError": "runtime.errors",
    "Migration": "maintain.migration",
    "NetworkError": "runtime.errors",
    "OptionError": "runtime.errors",
    "Overlay": "model.overlay",
    "PluginError": "runtime.errors",
    "Profile": "pipeline.profile.job",
    "Progress": "runtime.progress",
    "ProgressBar": "runtime.progress",
    "ReadLimits": "model.reading.limits",
    "Repair": "maintain.repairs",
    "Routing": "routing.measures",
    "Session": "model.sessions",
    "SimulationOptions": "stan.options",
    "SparkError": "runtime.errors",
    "StanOptions": "stan.options",
    "Views": "model.views",
    "algorithms": "registry",
    "build": "building",
    "compare": "comparing",
    "evaluate": "metrics.evaluation",
    "expected_load": "routing.load",
    "export": "exporting",
    "gossip": "stan.api",
    "ingest": "pipeline.in_memory",
    "merge": "building",
    "migrate": "maintain.migration",
    "primary_links": "construct.standby",
    "profile": "pipeline.in_memory",
    "read_events": "model.events",
    "read_sessions": "model.sessions",
    "records": "runtime.json_values",
    "register": "registry",
    "route": "routing.api",
    "sample": "pipeline.in_memory",
    "standby_links": "construct.standby",
    "suggest": "suggesting",
    "star_set": "construct.parts.star_sets:named_star_set",
    "unregister": "registry",
    "write_events": "model.events",
}
"""By name, the module that has it, and its name there where that is another."""


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: all of it takes a second."""
    if name == "workloads":
        return import_module("meshwright.workloads")
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, _, own_name = _HOME[name].partition(":")
    found = getattr(import_module(f"{__name__}.{module}"), own_name or name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
