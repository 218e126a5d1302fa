"""`evaluate`: measure an overlay, in this process or from what Spark has measured."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from meshwright.construct.dual.bound import LineCertificate
from meshwright.construct.dual.bound_by_cost import CostCertificate
from meshwright.metrics.bounds import LowerBound
from meshwright.metrics.resilience import DangerousNode
from meshwright.metrics.sampled_bound import LikelyBound
from meshwright.metrics.topics import DIAMETER_BUDGET, TopicMeasures
from meshwright.metrics.views import LinkCounts
from meshwright.model.costs.costs import Costs
from meshwright.model.overlay import COSTS_FACT, Overlay, costs_of, priced
from meshwright.model.views import TABLE, Views
from meshwright.runtime.arrays import Ids, Offsets
from meshwright.runtime.checks import check_whole
from meshwright.runtime.columns import arrow_of
from meshwright.runtime.errors import InputError, OptionError
from meshwright.runtime.progress import Progress
from meshwright.runtime.wording import choose, type_of

QUICK, TIGHT = BOUNDS = ("quick", "tight")


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

    Where `diameters_exact` is false though diameters were asked for, a topic would have taken more searches
    than the budget allows, or was too large for one task of Spark: what is stated of its diameter is an upper
    bound, and so are maximum and mean. Those with `_lower_bound` in their names are below the true ones by
    proof, and else the same.

    `lower_bound_average_degree` holds for every topic-connected overlay of the same interests, by proof (see
    `meshwright.metrics.bounds`), so average_degree / lower_bound_average_degree bounds how far this one is
    from the optimum; `lower_bound_method` names the argument ("spanning", "overlap-duality", "dual" or, for
    the tight bound, "lagrangian"). Both are None where the bound was not asked for.
    Where interests are too many for all but "spanning", `likely_lower_bound_average_degree` is greater, by a
    sample of nodes (see `meshwright.metrics.sampled_bound`): it is wrong with a chance of
    `likely_lower_bound_doubt`. Elsewhere both are None, and left out of `to_json`.
    `lower_bound_weighted_average_degree` is the same in costs, by the method "dual"; it is None, too, where
    the costs between all nodes are not known, or nodes and topics are too many for it. `cost_unit` is what
    costs are counted in; None where nobody said.

    `cut_nodes_topics` are the topics that the failure of some one node cuts: without it, their other
    subscribers are in more parts than before. `bridge_topics` are those that the failure of some one link
    cuts, so each topic of two that are linked is among them. `cut_nodes` counts the nodes whose failure
    cuts any topic, and `worst_node` is the one that cuts off most subscriptions: in each topic,
    all but the largest part that is left of those that were connected.

    Of an overlay with views (gossip made it), `view_counts` has the link counts of every node, and `to_json`
    says `logical_view_size` and `physical_view_size`, the means over all nodes ([5], 3.3), and of the number
    of nodes that have one in a view, `in_view_deviation` (standard) and `maximum_in_view`.
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
    maximum_topic_diameter_lower_bound: int | None
    mean_topic_diameter_lower_bound: float | None
    diameters_exact: bool
    clustering_coefficient: float
    lower_bound_average_degree: float | None
    lower_bound_method: str | None
    cut_nodes_topics: int
    bridge_topics: int
    cut_nodes: int
    worst_node: str | None
    worst_node_topics: int
    worst_node_cuts_off: int
    likely_lower_bound_average_degree: float | None = None
    likely_lower_bound_doubt: float | None = None
    weighted_average_degree: float | None = None
    lower_bound_weighted_average_degree: float | None = None
    lower_bound_weighted_method: str | None = None
    maximum_weighted_topic_diameter: float | None = None
    mean_weighted_topic_diameter: float | None = None
    maximum_weighted_topic_diameter_lower_bound: float | None = None
    mean_weighted_topic_diameter_lower_bound: float | None = None
    cost_unit: str | None = None
    degrees: npt.NDArray[np.int64] = field(repr=False, compare=False)
    """The links of each node."""
    components_per_topic: npt.NDArray[np.int32] = field(repr=False, compare=False)
    """The components of each topic's sub-overlay; 0 for a topic without subscribers."""
    diameter_per_topic: npt.NDArray[np.int32] | None = field(repr=False, compare=False)
    """The diameter of each topic, -1 where it is not connected; None where not asked for."""
    weighted_diameter_per_topic: npt.NDArray[np.float64] | None = field(repr=False, compare=False)
    """The same in costs; None where links have none."""
    subscribers_per_topic: npt.NDArray[np.int64] = field(repr=False, compare=False)
    links_per_topic: npt.NDArray[np.int64] = field(repr=False, compare=False)
    """The links of each topic's sub-overlay: those between two of its subscribers."""
    cost_per_topic: npt.NDArray[np.float64] | None = field(repr=False, compare=False)
    """What they cost together; None where links have no cost."""
    cut_nodes_per_topic: npt.NDArray[np.int32] = field(repr=False, compare=False)
    """The subscribers of each topic whose failure cuts it."""
    bridges_per_topic: npt.NDArray[np.int32] = field(repr=False, compare=False)
    """The links of each topic whose failure cuts it."""
    dangerous_nodes: list[DangerousNode] = field(repr=False, compare=False)
    """The ten nodes whose failure cuts off most subscriptions, the worst first."""
    topic_names: pa.StringArray = field(repr=False, compare=False)
    certificate: LineCertificate | None = field(default=None, repr=False, compare=False)
    """The proof of the tight bound; None where that was not asked for."""
    cost_certificate: CostCertificate | None = field(default=None, repr=False, compare=False)
    """The proof of the tight bound on the cost; None, too, where links have no cost."""
    view_counts: LinkCounts | None = field(default=None, repr=False, compare=False)
    """By node: logical links, physical links, in how many views; None where the overlay has no views."""

    def __str__(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in self.to_json().items())

    def to_json(self) -> dict[str, Any]:
        """The numbers by name, in JSON's types; in costs where links have costs, of views where there are."""
        with_costs = self.weighted_average_degree is not None
        names = [number.name for number in fields(self) if number.repr]
        numbers = {name: getattr(self, name) for name in names if with_costs or "weighted" not in name}
        if not with_costs or self.cost_unit is None:
            del numbers["cost_unit"]
        if self.likely_lower_bound_doubt is None:
            del numbers["likely_lower_bound_average_degree"], numbers["likely_lower_bound_doubt"]
        return numbers | ({} if self.view_counts is None else self.view_counts.to_json())

    def distributions(self) -> dict[str, Any]:
        """How degrees, diameters, losses and, where there are views, link counts are spread over nodes."""
        spread = {} if self.view_counts is None else {"view_distributions": self.view_counts.distributions()}
        return {
            "degree_distribution": self.degree_distribution().tolist(),
            "diameter_distribution": self.diameter_distribution(),
            "dangerous_nodes": [asdict(node) for node in self.dangerous_nodes],
            **spread,
        }

    def degree_distribution(self) -> npt.NDArray[np.int64]:
        """How many nodes have 0, 1, 2, … links, up to the maximum degree."""
        return np.bincount(self.degrees, minlength=1)

    def diameter_distribution(self) -> list[tuple[int, int]]:
        """Diameters, rising, and how many connected topics that have subscribers have each."""
        if self.diameter_per_topic is None:
            return []
        found = self.diameter_per_topic[self.components_per_topic == 1]
        values, counts = np.unique(found, return_counts=True)
        return list(zip(values.tolist(), counts.tolist(), strict=True))

    def disconnected_topic_components(self) -> dict[str, int]:
        """The topics that are not connected, by name, and into how many components each has fallen."""
        ids = np.flatnonzero(self.components_per_topic > 1)
        names = self.topic_names.take(arrow_of(ids)).to_pylist()
        return dict(zip(names, self.components_per_topic[ids].tolist(), strict=True))


def evaluate(
    overlay: Overlay,
    *,
    costs: Costs | None = None,
    diameters: bool = True,
    diameter_budget: int | None = DIAMETER_BUDGET,
    bound: bool | str = "quick",
    progress: Progress | None = None,
) -> Evaluation:
    """Measure an overlay: degrees, connectivity and diameter of every topic, distance from optimal.

    With `costs` its links cost what these say, in place of what they may have cost. Without `diameters` or
    `bound` those stay None. The bound is "quick" (True is the same) or "tight": far nearer to the optimum,
    with a certificate, in seconds at 1,000 nodes and about half a minute at 10,000. All run on all cores. The
    views of an overlay that has some are counted too.

    The searches for the diameter of a topic look at `diameter_budget` links at most, but each topic gets four
    searches. That is exact for topics of up to about 10,000 subscribers; for larger ones there may be bounds,
    so that the time is linear in interests and links. With None, all diameters are exact, and the time may
    grow with the square of the subscribers. The same budget gives the same numbers on every engine.

    Example:
        >>> import meshwright as mw
        >>> pairs = [("b1", "news"), ("b2", "news"), ("b2", "sport"), ("b3", "sport")]
        >>> interests = mw.Interests.from_pairs(pairs)
        >>> overlay = mw.build(interests, "gm")
        >>> report = mw.evaluate(overlay)
        >>> report.topic_connected, report.maximum_degree, round(report.average_degree, 2)
        (True, 2, 1.33)
    """
    if not isinstance(overlay, Overlay):
        raise InputError(f"evaluate got {type_of(overlay)}; give an Overlay")
    if costs is not None and not isinstance(costs, Costs):
        raise InputError(f"the costs are {type_of(costs)}; give Costs, such as Costs.from_csv(…)")
    check_whole("diameter_budget", diameter_budget, 1)
    check_bound(bound)
    if costs is not None:
        overlay = priced(overlay, costs)
    known = costs_of(overlay) if bound else None
    from meshwright.construct.overlaps import overlaps_pay
    from meshwright.kernels.metrics.bounds import Subscribers
    from meshwright.metrics.bounds import bound_of, tightened
    from meshwright.metrics.sampled_bound import likely_bound
    from meshwright.metrics.statistics import exact_sum
    from meshwright.metrics.topics import budget_of, measure_topics, prepare
    from meshwright.metrics.views import count_links

    interests = overlay.interests
    arrays = None if known is None else known.arrays()
    links, lists = prepare(overlay, progress)
    budget = budget_of(diameters, diameter_budget)
    topics, clustering = measure_topics(overlay, links, lists, budget=budget, progress=progress)
    least, likely = None, None
    if bound:
        by_topic = Subscribers(interests.topic_indptr, interests.node_ids.view(np.uint32))
        least = bound_of(by_topic, lists, interests.node_count, arrays, progress)
        if not overlaps_pay(topics.sizes):
            likely = likely_bound(interests, progress)
    if bound == TIGHT and least is not None:
        least = tightened(least, interests, known, progress)
    found = Measures(
        interests=len(interests),
        edges=len(overlay),
        costs=None if overlay.costs is None else exact_sum(overlay.costs),
        degrees=overlay.degrees(),
        bound=least,
        likely=likely,
        clustering=clustering,
        topics=topics,
        topic_names=interests.topics,
        worst=topics.failures.worst(lambda ids: interests.nodes.take(arrow_of(ids)).to_pylist()),
        view_counts=count_links(Views.of(overlay), progress) if TABLE in overlay.tables else None,
    )
    return replace(assemble(found, diameters=diameters), cost_unit=unit_of(overlay.facts))


def check_bound(bound: object) -> None:
    """Refuse what is neither a flag nor the name of a bound."""
    if not isinstance(bound, bool) and bound not in BOUNDS:
        raise OptionError(
            f"the bound is {bound!r}; {choose(bound, BOUNDS)}, or False for none", option="bound"
        )


def check_spark_bound(bound: object) -> None:
    """Refuse the tight bound, which needs all interests in one process."""
    if bound == TIGHT:
        raise OptionError(
            "Spark computes only the quick bound; leave --bound tight out, or use --engine local",
            option="bound",
        )


def unit_of(facts: Mapping[str, Any]) -> str | None:
    """What the costs of an overlay with these facts are counted in; None where they don't say.

    Costs between all nodes say it; without such costs, as in an imported mesh, the facts do.
    """
    told = facts.get(COSTS_FACT, facts)
    return told.get("unit") if isinstance(told, Mapping) else None


@dataclass(frozen=True, kw_only=True)
class Measures:
    """What is measured of an overlay; `costs` is the sum over all edges, None where links have none.

    `worst` are the nodes that are worst to lose. `view_counts` is None where the overlay has no views.
    """

    interests: int
    edges: int
    costs: float | None
    degrees: Offsets
    clustering: float
    topics: TopicMeasures
    bound: LowerBound | None
    likely: LikelyBound | None
    topic_names: pa.StringArray
    worst: list[DangerousNode]
    view_counts: LinkCounts | None


def assemble(found: Measures, *, diameters: bool) -> Evaluation:
    """The evaluation that follows from the measures; without `diameters` those stay None."""
    topics, nodes = found.topics, len(found.degrees)
    disconnected = int(np.count_nonzero(topics.components > 1))
    hops = topics.diameters if diameters else None
    weighted = topics.weighted_diameters if diameters and found.costs is not None else None
    least = None if hops is None else topics.least_diameters
    least_weighted = None if weighted is None else topics.least_weighted_diameters
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
        likely_lower_bound_average_degree=found.likely.average_degree if found.likely else None,
        likely_lower_bound_doubt=found.likely.doubt if found.likely else None,
        lower_bound_weighted_average_degree=_weighted_bound(found.bound, nodes),
        lower_bound_weighted_method=_weighted_method(found.bound),
        weighted_average_degree=None if found.costs is None else _average_degree(found.costs, nodes),
        **_extremes("weighted_topic_diameter", weighted, least_weighted, topics.components, float),
        **topics.failures.to_json(),
        worst_node=found.worst[0].name if found.worst else None,
        worst_node_topics=found.worst[0].topics if found.worst else 0,
        worst_node_cuts_off=found.worst[0].cut_off if found.worst else 0,
        degrees=found.degrees,
        components_per_topic=topics.components,
        diameter_per_topic=hops,
        weighted_diameter_per_topic=weighted,
        subscribers_per_topic=topics.sizes,
        links_per_topic=topics.links,
        cost_per_topic=None if found.costs is None else topics.costs,
        cut_nodes_per_topic=topics.failures.cut_nodes,
        bridges_per_topic=topics.failures.bridges,
        dangerous_nodes=found.worst,
        topic_names=found.topic_names,
        certificate=found.bound.certificate if found.bound else None,
        cost_certificate=found.bound.cost_certificate if found.bound else None,
        view_counts=found.view_counts,
    )


def _average_degree(edges: float, node_count: int) -> float:
    """2 |E| / |V|, or 0 without nodes."""
    return float(2 * edges / node_count) if node_count else 0.0


def _weighted_bound(bound: LowerBound | None, node_count: int) -> float | None:
    return None if bound is None or bound.cost is None else _average_degree(bound.cost, node_count)


def _weighted_method(bound: LowerBound | None) -> str | None:
    return None if bound is None or bound.cost is None else bound.cost_method


def _support_ratio(interest_count: int, components: Ids) -> float:
    """The share of components that had to be joined and are: each subscriber alone is 0, a TCO is 1."""
    to_join = interest_count - int(np.count_nonzero(components))
    return (interest_count - int(components.sum())) / to_join if to_join else 1.0


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
    found: dict[str, Any] = {}
    for end, values in (("", diameters), ("_lower_bound", least)):
        maximum, mean = _maximum_and_mean(values, components)
        found[f"maximum_{name}{end}"] = None if maximum is None else kind(maximum)
        found[f"mean_{name}{end}"] = mean
    return found


def _maximum_and_mean(
    diameters: npt.NDArray[Any] | None, components: Ids
) -> tuple[float | None, float | None]:
    """Over the connected topics that have subscribers."""
    if diameters is None or not components.any():
        return (None, None) if diameters is None else (0, 0.0)
    found = diameters[components == 1]
    return (float(found.max()), float(found.mean())) if len(found) else (None, None)
