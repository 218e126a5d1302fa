"""`evaluate`, and what it says about an overlay."""

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from meshwright.errors import InputError
from meshwright.model.overlay import Overlay
from meshwright.progress import Progress


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    """How good an overlay is. The numbers are the keys of `to_json`; the arrays are by id.

    A topic of one subscriber, or of none, is connected and has diameter 0. `average_degree` is 2 |E| / |V|;
    `weighted_average_degree` counts costs in place of edges; without nodes both are 0. `tco_support_ratio` is
    the share of the unions of topic components needed that the edges make (eq. 6 of the paper on NSMF): 0
    where every subscriber is alone, 1 where all topics are connected.

    The topic diameter is the greatest distance between two subscribers inside the topic's sub-overlay
    ([1], VIII-A), in edges or in costs. Maximum and mean are over the connected topics with a subscriber;
    `disconnected_topics` counts the others, whose diameter is infinite. They are 0 where no topic has a
    subscriber, and None where none of those that have is connected, or diameters were not asked for.
    `clustering_coefficient` is the mean over all nodes of the local one, 0 at nodes with under two links.

    `lower_bound_average_degree` holds for every topic-connected overlay of the same interests, by proof (see
    `meshwright.evaluate.bounds`), so average_degree / lower_bound_average_degree bounds how far this one
    is from the optimum; `lower_bound_method` names the argument ("spanning" or "overlap-duality"). Both are
    None where the bound was not asked for.
    """

    nodes: int
    topics: int
    interests: int
    edges: int
    average_degree: float
    maximum_degree: int
    topic_connected: bool
    disconnected_topics: int
    tco_support_ratio: float
    maximum_topic_diameter: int | None
    mean_topic_diameter: float | None
    diameters_exact: bool
    clustering_coefficient: float
    lower_bound_average_degree: float | None
    lower_bound_method: str | None
    weighted_average_degree: float | None = None
    maximum_weighted_topic_diameter: float | None = None
    mean_weighted_topic_diameter: float | None = None
    degrees: npt.NDArray[np.int64] = field(repr=False, compare=False)
    """The links of each node."""
    components_per_topic: npt.NDArray[np.int32] = field(repr=False, compare=False)
    """The components of each topic's sub-overlay; 0 for a topic without subscribers."""
    diameter_per_topic: npt.NDArray[np.int32] | None = field(repr=False, compare=False)
    """The diameter of each topic, -1 where it is not connected; None where not asked for."""
    weighted_diameter_per_topic: npt.NDArray[np.float64] | None = field(repr=False, compare=False)
    """The same in costs; None where links have none."""
    topic_names: pa.StringArray = field(repr=False, compare=False)

    def __str__(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in self.to_json().items())

    def to_json(self) -> dict[str, Any]:
        """The numbers by name, in JSON's types; those in costs only where links have costs."""
        with_costs = self.weighted_average_degree is not None
        names = [number.name for number in fields(self) if number.repr]
        return {name: getattr(self, name) for name in names if with_costs or "weighted" not in name}

    def degree_distribution(self) -> npt.NDArray[np.int64]:
        """How many nodes have 0, 1, 2, … links, up to the maximum degree."""
        return np.bincount(self.degrees, minlength=1)

    def disconnected_topic_components(self) -> dict[str, int]:
        """The topics that are not connected, by name, and into how many components each has fallen."""
        ids = np.flatnonzero(self.components_per_topic > 1)
        names = self.topic_names.take(pa.array(ids)).to_pylist()
        return dict(zip(names, self.components_per_topic[ids].tolist(), strict=True))


def evaluate(
    overlay: Overlay, *, diameters: bool = True, bound: bool = True, progress: Progress | None = None
) -> Evaluation:
    """Measure an overlay: degrees, connectivity and diameter of every topic, distance from optimal.

    Without `diameters` or `bound` those stay None. Both run on all cores.
    """
    if not isinstance(overlay, Overlay):
        raise InputError(f"evaluate got a {type(overlay).__name__}; give an Overlay")
    from meshwright.evaluate.bounds import lower_bound
    from meshwright.evaluate.clustering import clustering_coefficient
    from meshwright.evaluate.topics import measure_topics, prepare

    interests = overlay.interests
    links, lists = prepare(overlay, progress)
    measured = measure_topics(overlay, links, lists, diameters=diameters, progress=progress)
    least = lower_bound(interests, lists, progress) if bound else None
    degrees = overlay.degrees()
    costs = overlay.costs
    hops = measured.diameters if diameters else None
    weighted = measured.weighted_diameters if diameters and costs is not None else None
    disconnected = int(np.count_nonzero(measured.components > 1))
    maximum, mean = _maximum_and_mean(hops, measured.components)
    maximum_weighted, mean_weighted = _maximum_and_mean(weighted, measured.components)
    return Evaluation(
        nodes=interests.node_count,
        topics=interests.topic_count,
        interests=len(interests),
        edges=len(overlay),
        average_degree=_average_degree(len(overlay), interests.node_count),
        maximum_degree=int(degrees.max(initial=0)),
        topic_connected=disconnected == 0,
        disconnected_topics=disconnected,
        tco_support_ratio=_support_ratio(len(interests), measured.components),
        maximum_topic_diameter=None if maximum is None else int(maximum),
        mean_topic_diameter=mean,
        diameters_exact=diameters,
        clustering_coefficient=clustering_coefficient(links, progress),
        lower_bound_average_degree=_average_degree(least.edges, interests.node_count) if least else None,
        lower_bound_method=least.method if least else None,
        weighted_average_degree=None if costs is None else _average_degree(costs.sum(), interests.node_count),
        maximum_weighted_topic_diameter=maximum_weighted,
        mean_weighted_topic_diameter=mean_weighted,
        degrees=degrees,
        components_per_topic=measured.components,
        diameter_per_topic=hops,
        weighted_diameter_per_topic=weighted,
        topic_names=interests.topics,
    )


def _average_degree(edges: float, node_count: int) -> float:
    """2 |E| / |V|, or 0 without nodes."""
    return float(2 * edges / node_count) if node_count else 0.0


def _support_ratio(interest_count: int, components: npt.NDArray[np.int32]) -> float:
    """The share of components that had to be joined and are: each subscriber alone is 0, a TCO is 1."""
    to_join = interest_count - int(np.count_nonzero(components))
    return (interest_count - int(components.sum())) / to_join if to_join else 1.0


def _maximum_and_mean(
    diameters: npt.NDArray[Any] | None, components: npt.NDArray[np.int32]
) -> tuple[float | None, float | None]:
    """Over the connected topics that have subscribers."""
    if diameters is None or not components.any():
        return (None, None) if diameters is None else (0, 0.0)
    found = diameters[components == 1]
    return (float(found.max()), float(found.mean())) if len(found) else (None, None)
