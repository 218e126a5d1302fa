"""An `Evaluation` out of what was measured, in this process or on Spark."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from meshwright.evaluate.bounds import LowerBound
from meshwright.evaluate.evaluation import Evaluation
from meshwright.evaluate.topics import TopicMeasures
from meshwright.evaluate.views import LinkCounts
from meshwright.kernels.arrays import Ids, Offsets


@dataclass(frozen=True, kw_only=True)
class Measures:
    """What is measured of an overlay; `costs` is the sum over all edges, None where links have none.

    `view_counts` is None where the overlay has no views.
    """

    interests: int
    edges: int
    costs: float | None
    degrees: Offsets
    clustering: float
    topics: TopicMeasures
    bound: LowerBound | None
    topic_names: pa.StringArray
    view_counts: LinkCounts | None


def assemble(found: Measures, *, diameters: bool) -> Evaluation:
    """The evaluation that follows from the measures; without `diameters` those stay None."""
    topics, nodes = found.topics, len(found.degrees)
    disconnected = int(np.count_nonzero(topics.components > 1))
    hops = topics.diameters if diameters else None
    weighted = topics.weighted_diameters if diameters and found.costs is not None else None
    least = _least(hops, topics.least_diameters)
    least_weighted = _least(weighted, topics.least_weighted_diameters)
    return Evaluation(
        nodes=nodes,
        topics=len(topics.sizes),
        interests=found.interests,
        edges=found.edges,
        average_degree=_average_degree(found.edges, nodes),
        maximum_degree=int(found.degrees.max(initial=0)),
        topic_connected=disconnected == 0,
        disconnected_topics=disconnected,
        tco_support_ratio=_support_ratio(found.interests, topics.components),
        **_extremes("topic_diameter", hops, least, topics.components, int),
        diameters_exact=diameters and _same(hops, least) and _same(weighted, least_weighted),
        clustering_coefficient=found.clustering,
        lower_bound_average_degree=_average_degree(found.bound.edges, nodes) if found.bound else None,
        lower_bound_method=found.bound.method if found.bound else None,
        lower_bound_weighted_average_degree=_weighted_bound(found.bound, nodes),
        lower_bound_weighted_method="dual" if found.bound and found.bound.cost is not None else None,
        weighted_average_degree=None if found.costs is None else _average_degree(found.costs, nodes),
        **_extremes("weighted_topic_diameter", weighted, least_weighted, topics.components, float),
        degrees=found.degrees,
        components_per_topic=topics.components,
        diameter_per_topic=hops,
        weighted_diameter_per_topic=weighted,
        topic_names=found.topic_names,
        view_counts=found.view_counts,
    )


def _average_degree(edges: float, node_count: int) -> float:
    """2 |E| / |V|, or 0 without nodes."""
    return float(2 * edges / node_count) if node_count else 0.0


def _weighted_bound(bound: LowerBound | None, node_count: int) -> float | None:
    return None if bound is None or bound.cost is None else _average_degree(bound.cost, node_count)


def _support_ratio(interest_count: int, components: Ids) -> float:
    """The share of components that had to be joined and are: each subscriber alone is 0, a TCO is 1."""
    to_join = interest_count - int(np.count_nonzero(components))
    return (interest_count - int(components.sum())) / to_join if to_join else 1.0


def _least(diameters: npt.NDArray[Any] | None, least: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
    """The lower bounds: the diameters themselves, where these are exact or not asked for."""
    return diameters if diameters is None or least is None else least


def _same(one: npt.NDArray[Any] | None, other: npt.NDArray[Any] | None) -> bool:
    return one is other or np.array_equal(one, other)  # type: ignore[arg-type]


def _extremes(
    name: str,
    diameters: npt.NDArray[Any] | None,
    least: npt.NDArray[Any] | None,
    components: Ids,
    kind: type[int] | type[float],
) -> dict[str, Any]:
    """Maximum and mean of the diameters and of their lower bounds, by the names of an evaluation."""
    maximum, mean = _maximum_and_mean(diameters, components)
    least_maximum, least_mean = _maximum_and_mean(least, components)
    return {
        f"maximum_{name}": None if maximum is None else kind(maximum),
        f"mean_{name}": mean,
        f"maximum_{name}_lower_bound": None if least_maximum is None else kind(least_maximum),
        f"mean_{name}_lower_bound": least_mean,
    }


def _maximum_and_mean(
    diameters: npt.NDArray[Any] | None, components: Ids
) -> tuple[float | None, float | None]:
    """Over the connected topics that have subscribers."""
    if diameters is None or not components.any():
        return (None, None) if diameters is None else (0, 0.0)
    found = diameters[components == 1]
    return (float(found.max()), float(found.mean())) if len(found) else (None, None)
