"""What Low-ODA would build: links that the start lacks, a fresh overlay, and the drift from that."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from meshwright.construct.greedy import GreedyProblem, component_labels, make_problem, tie_order
from meshwright.construct.low_oda import construct_cheap_edges, construct_low_edges, take_low_edges
from meshwright.maintain.options import RepairSettings
from meshwright.maintain.state import MaintainedOverlay, packed
from meshwright.model.overlay import Overlay
from meshwright.model.storage.manifest import stated
from meshwright.runtime.arrays import Ids
from meshwright.runtime.errors import InputError
from meshwright.runtime.progress import Progress


def missing_links(overlay: Overlay, settings: RepairSettings, progress: Progress | None) -> Ids:
    """The links that make an overlay topic-connected, by Low-ODA's rule; or refuse one that is not.

    Where links cost, the rule is by contribution per cost.
    """
    interests = overlay.interests
    labels = component_labels(interests, overlay.edges, progress)
    components = int(labels.max(initial=-1)) + 1
    connected = len(np.unique(interests.topic_ids))
    if components == connected:
        return np.empty((0, 2), np.int32)
    if settings.options.disconnected == "refuse":
        raise InputError(
            f"the overlay is not topic-connected: its {connected:,} topics are in {components:,} pieces; "
            f"build another one, or set disconnected='repair' to repair it first"
        )
    order = tie_order(np.diff(interests.indptr), "shuffled", settings.seed)
    if settings.prices is not None:
        costs = settings.prices.costs.of(interests).arrays()
        return construct_cheap_edges(interests, overlay.edges, order, settings.options.rho, costs, progress)
    return construct_low_edges(interests, overlay.edges, order, settings.options.rho, None, progress)


class FreshProblem(NamedTuple):
    """The interests at one moment, which later events do not change."""

    problem: GreedyProblem
    span: int  # places are under this
    rho: float

    def solve(self, progress: Progress | None = None) -> Ids:
        """Compute the links, pairs of places, the smaller first. May run on another thread."""
        degrees = np.zeros(self.span, np.int32)
        edges = take_low_edges(self.problem, degrees, self.rho, None, None, progress).edges
        return np.sort(edges, axis=1)


def fresh_problem(state: MaintainedOverlay, rho: float, seed: int) -> FreshProblem:
    """Copy the present interests, for Low-ODA.

    Ties are broken by a hash of the nodes' names and the seed. So the result depends only on the interests,
    and nodes keep their order as others come and go: links stay unless a change requires otherwise.
    """
    key = blake2b(str(int(seed)).encode(), digest_size=16).digest()

    def rank(name: str) -> tuple[bytes, str]:
        return blake2b(name.encode(), digest_size=8, key=key).digest(), name

    order = np.array([state.nodes.of[name] for name in sorted(state.nodes.of, key=rank)], np.int32)
    indptr, topic_ids = packed(state.live.topics)
    problem = make_problem(indptr, topic_ids, len(state.live.subscribers.counts), order)
    return FreshProblem(problem, len(indptr) - 1, float(rho))


@dataclass(frozen=True)
class Drift:
    """The degrees of a maintained overlay beside those of a fresh one.

    Attributes:
        average_degree: of the overlay as it is.
        maximum_degree: of the overlay as it is.
        fresh_average_degree: of Low-ODA on the interests as they are.
        fresh_maximum_degree: of the same.
        measured_at: the revision at which Low-ODA was run. Where that is not the present one, the fresh
            degrees are estimated from it.
    """

    average_degree: float
    maximum_degree: int
    fresh_average_degree: float
    fresh_maximum_degree: float
    measured_at: int

    @property
    def average(self) -> float:
        """The average degree, less the fresh one."""
        return self.average_degree - self.fresh_average_degree

    @property
    def maximum(self) -> float:
        """The maximum degree, less the fresh one."""
        return self.maximum_degree - self.fresh_maximum_degree


class Reference(NamedTuple):
    """The degrees of a fresh overlay at one revision, and the number of components per node then."""

    revision: int
    average_degree: float
    maximum_degree: int
    load: float


def reference_of(overlay: Overlay, state: MaintainedOverlay, settings: RepairSettings) -> Reference | None:
    """An overlay as its own reference, if Low-ODA built it with the same rho."""
    if overlay.facts.get("algorithm") != "low-oda":
        return None
    options = stated({"options": {}, **overlay.facts}, "options", dict, "the overlay")
    if options.get("rho") != settings.options.rho:
        return None
    return Reference(0, _average(len(overlay), state), int(overlay.degrees().max(initial=0)), _load(state))


def measured(
    state: MaintainedOverlay, settings: RepairSettings, revision: int, progress: Progress | None
) -> Reference:
    """Run Low-ODA on the present interests for a reference; the overlay does not change."""
    edges = fresh_problem(state, settings.options.rho, settings.seed).solve(progress)
    most = int(np.bincount(edges.ravel(), minlength=1).max())
    return Reference(revision, _average(len(edges), state), most, _load(state))


def drift_from(reference: Reference, state: MaintainedOverlay) -> Drift:
    """Estimate the drift, assuming that fresh degrees grow with the components to unite per node.

    Constant time. The average degree of Low-ODA also falls by some 8% when the nodes double, at the same
    interests a node (measured, 250 to 4,000 nodes), which the estimate leaves out.
    """
    change = _load(state) / reference.load if reference.load else 1.0
    return Drift(
        average_degree=_average(state.link_count, state),
        maximum_degree=state.maximum_degree,
        fresh_average_degree=reference.average_degree * change,
        fresh_maximum_degree=reference.maximum_degree * change,
        measured_at=reference.revision,
    )


def _average(links: int, state: MaintainedOverlay) -> float:
    return 2 * links / max(1, len(state.nodes))


def _load(state: MaintainedOverlay) -> float:
    """The components to unite per node, where each topic becomes one: (interests - topics) / nodes."""
    return (state.interest_count - len(state.topics)) / max(1, len(state.nodes))
