"""Meshwright designs the overlay of a topic-based publish/subscribe system.

From who is interested in what it computes few links, such that the subscribers of every topic are connected
among themselves.

    import meshwright as mw

    interests = mw.Interests.from_pairs([("b1", "news"), ("b2", "news"), ("b3", "sport"), ("b2", "sport")])
    overlay = mw.build(interests, "gm")
    print(mw.evaluate(overlay))
"""

from meshwright import workloads
from meshwright.construct.star_sets import named_star_set as star_set
from meshwright.errors import (
    CapacityError,
    DatasetError,
    InputError,
    MeshwrightError,
    OptionError,
    SparkError,
)
from meshwright.evaluate import Evaluation, evaluate
from meshwright.model.costs import Costs
from meshwright.model.export import export
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.progress import Progress, ProgressBar
from meshwright.registry import Algorithm, algorithms, build, merge

__all__ = [
    "Algorithm",
    "CapacityError",
    "Costs",
    "DatasetError",
    "Evaluation",
    "InputError",
    "Interests",
    "MeshwrightError",
    "OptionError",
    "Overlay",
    "Progress",
    "ProgressBar",
    "SparkError",
    "algorithms",
    "build",
    "evaluate",
    "export",
    "merge",
    "star_set",
    "workloads",
]
