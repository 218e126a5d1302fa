"""What a run of gossip changed: link counts and fitness before and after, as a whole and by node."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.metrics.statistics import distribution
from meshwright.metrics.views import Fitness, LinkCounts, count_links, measure_fitness
from meshwright.model.views import Views
from meshwright.runtime.arrays import Flags, Floats, Offsets
from meshwright.runtime.progress import Progress
from meshwright.stan.messages import Traffic

TABLE = "views_by_node"
"""The table of an overlay that says how the views of its nodes became what they are."""


def improvements(before: LinkCounts, after: LinkCounts) -> Floats:
    """The share of its physical links that each node with links, before and after, was freed of."""
    there = _linked(before, after)
    return 1 - after.physical[there] / before.physical[there]


def present(before: Views, now: Views) -> Flags:
    """Which nodes are there: who is gone had topics before, and has none now."""
    had, has = (np.diff(views.interests.indptr) > 0 for views in (before, now))
    found: Flags = ~had | has
    return found


def view_table(views: tuple[Views, Views], counts: tuple[LinkCounts, LinkCounts]) -> pa.Table:
    """A row for each node: its topics, LVS, PVS and in how many views it is, before and after.

    `improvement` is the share of its physical links that it was freed of, negative where it got more; null
    where it has none, before or after.
    """
    (first, last), (before, after) = views, counts
    there = _linked(before, after)
    improvement = np.zeros(len(there))
    improvement[there] = improvements(before, after)
    return pa.table(
        {
            "node": first.interests.nodes,
            "node_id": pa.array(np.arange(len(there), dtype=np.int32)),
            "topics": pa.array(np.diff(last.interests.indptr).astype(np.int32)),
            "lvs_before": pa.array(before.logical),
            "lvs_after": pa.array(after.logical),
            "pvs_before": pa.array(before.physical),
            "pvs_after": pa.array(after.physical),
            "in_views_before": pa.array(before.held_by),
            "in_views_after": pa.array(after.held_by),
            "improvement": pa.array(improvement, mask=~there),
        }
    )


def _improvement_percent(before: Offsets, after: Offsets) -> dict[str, Any]:
    """By whole numbers alone, so that 40% is not 39.999… and counted a percent below."""
    return distribution(100 * (before - after) / before, 100 * (before - after) // before)


def _linked(before: LinkCounts, after: LinkCounts) -> Flags:
    found: Flags = (before.physical > 0) & (after.physical > 0)
    return found


STRONG_IMPROVEMENT = 0.4
"""[5], 3.4, counts nodes whose physical view shrinks by more than that share."""


class Round(NamedTuple):
    """A round of a run: mean view sizes after it, and what it took."""

    round: int
    logical_view_size: float
    physical_view_size: float
    traffic: Traffic


@dataclass(frozen=True, kw_only=True)
class Gossip:
    """A run of StaN, in numbers. Means are over all nodes that are there, those without topics included.

    Attributes:
        engine: what ran it: `rounds` in lock step, the `simulator`, or `live` sockets.
        rounds: how many.
        nodes: that are there in the end.
        logical_view_size: mean over the nodes of the logical links at the end (LVS of [5]).
        initial_logical_view_size: the same before the first round.
        initial_physical_view_size: mean of the physical links, each peer counted once, before (IPVS).
        final_physical_view_size: the same at the end (FPVS).
        improved_nodes: share of the nodes with topics whose physical links became fewer.
        strongly_improved_nodes: share of them that lost over 40% of these.
        worse_nodes: share of them that got more.
        worse_initial_physical_view_size: mean before of those that got more; None without any.
        initial_disconnected_topics, disconnected_topics: topics in which some subscriber can't reach another
            from view to view.
        initial_weakly_disconnected_topics, weakly_disconnected_topics: topics that fall apart even if links
            are used in both directions.
        initial_unreached_interests, unreached_interests: subscribers that are in no view of their
            topic, so that no event reaches them there.
        initial_clustering_coefficient, clustering_coefficient: mean over the topics of two or more nodes.
        initial_diameter, diameter: mean over the topics connected both before and after; None without any.
        initial_in_view_deviation, in_view_deviation: standard deviation over the nodes of how many nodes have
            them in a view.
        maximum_in_view: of the node that is in most, at the end.
        walks, walk_messages, walk_ids, lost_messages, upkeep_messages: as `Traffic` counts them.
    """

    engine: str
    rounds: int
    nodes: int
    logical_view_size: float
    initial_logical_view_size: float
    initial_physical_view_size: float
    final_physical_view_size: float
    improved_nodes: float
    strongly_improved_nodes: float
    worse_nodes: float
    worse_initial_physical_view_size: float | None
    initial_disconnected_topics: int
    disconnected_topics: int
    initial_weakly_disconnected_topics: int
    weakly_disconnected_topics: int
    initial_unreached_interests: int
    unreached_interests: int
    initial_clustering_coefficient: float
    clustering_coefficient: float
    initial_diameter: float | None
    diameter: float | None
    initial_in_view_deviation: float
    in_view_deviation: float
    maximum_in_view: int
    walks: int
    walk_messages: int
    walk_ids: int
    lost_messages: int
    upkeep_messages: int
    by_round: tuple[Round, ...] = field(repr=False, compare=False)
    before: Views = field(repr=False, compare=False)
    after: Views = field(repr=False, compare=False)
    counts: tuple[LinkCounts, LinkCounts] = field(repr=False, compare=False)
    fitness: tuple[Fitness, Fitness] = field(repr=False, compare=False)

    def to_json(self) -> dict[str, Any]:
        """All numbers by name, in JSON's types.

        `by_round` has the mean view sizes and messages of every round, `distributions` those over the nodes,
        with histograms.
        """
        rounds = [_plain(at) for at in self.by_round]
        return self.numbers() | {"by_round": rounds, "distributions": self.distributions()}

    def numbers(self) -> dict[str, Any]:
        """The numbers by name, in JSON's types."""
        return {number.name: getattr(self, number.name) for number in fields(self) if number.repr}

    def distributions(self) -> dict[str, dict[str, Any]]:
        """The distributions of LVS, PVS and in-views over the present nodes, before (`initial_…`) and after.

        And of `improvement_percent`, over nodes with links before and after, in whole percents rounded down.
        """
        found = {}
        for prefix, views, counts in zip(
            ("initial_", ""), (self.before, self.after), self.counts, strict=True
        ):
            here = present(self.before, views)
            own = {"logical_view_size": counts.logical, "physical_view_size": counts.physical}
            for name, values in (own | {"in_views": counts.held_by}).items():
                found[f"{prefix}{name}"] = distribution(values[here])
        before, after = (counts.physical[_linked(*self.counts)] for counts in self.counts)
        return found | {"improvement_percent": _improvement_percent(before, after)}

    def view_distributions(self) -> dict[str, dict[str, Any]]:
        """The distributions of the views at the end, over all nodes, as `evaluate` gives for the overlay."""
        return self.counts[1].distributions()

    def view_table(self) -> pa.Table:
        """A row for each node, before and after: see `view_table`."""
        return view_table((self.before, self.after), self.counts)


class Course:
    """Notes every round of a run."""

    def __init__(self, before: Views) -> None:
        self.rounds: list[Round] = []
        self._before = before

    def __call__(self, at: int, views: Views, traffic: Traffic) -> None:
        """Note a round: 0 before the first."""
        counts, nodes = count_links(views), _present(self._before, views)
        self.rounds.append(Round(at, _mean(counts.logical, nodes), _mean(counts.physical, nodes), traffic))


def measured(
    engine: str,
    views: tuple[Views, Views],
    by_round: Iterable[Round],
    traffic: Traffic,
    *,
    diameters: bool = True,
    progress: Progress | None = None,
) -> Gossip:
    """The measures of a run, of the views before it and after it."""
    before, after = views
    counts = (count_links(before, progress), count_links(after, progress))
    fitness = (
        measure_fitness(before, diameters=diameters, progress=progress),
        measure_fitness(after, diameters=diameters, progress=progress),
    )
    rounds, nodes = tuple(by_round), (_present(before, before), _present(before, after))
    return Gossip(
        engine=engine,
        rounds=max((at.round for at in rounds), default=0),
        nodes=nodes[1],
        logical_view_size=_mean(counts[1].logical, nodes[1]),
        initial_logical_view_size=_mean(counts[0].logical, nodes[0]),
        initial_physical_view_size=_mean(counts[0].physical, nodes[0]),
        final_physical_view_size=_mean(counts[1].physical, nodes[1]),
        **_improvement_counts(*counts),
        **_fitness(before, *fitness),
        initial_in_view_deviation=_deviation(counts[0].held_by),
        in_view_deviation=_deviation(counts[1].held_by[present(before, after)]),
        maximum_in_view=int(counts[1].held_by.max(initial=0)),
        walks=traffic.walks,
        walk_messages=traffic.messages,
        walk_ids=traffic.ids,
        lost_messages=traffic.lost,
        upkeep_messages=traffic.upkeep,
        by_round=rounds,
        before=before,
        after=after,
        counts=counts,
        fitness=fitness,
    )


def _improvement_counts(before: LinkCounts, after: LinkCounts) -> Mapping[str, Any]:
    there = _linked(before, after)
    gained = improvements(before, after)
    worse = before.physical[there][gained < 0]
    return {
        "improved_nodes": _share(gained > 0),
        "strongly_improved_nodes": _share(gained > STRONG_IMPROVEMENT),
        "worse_nodes": _share(gained < 0),
        "worse_initial_physical_view_size": float(worse.mean()) if len(worse) else None,
    }


def _fitness(views: Views, before: Fitness, after: Fitness) -> Mapping[str, Any]:
    several = np.diff(views.interests.topic_indptr) > 1
    both = several & (before.diameters >= 0) & (after.diameters >= 0)
    found: dict[str, Any] = {}
    for prefix, fitness in (("initial_", before), ("", after)):
        clustering, diameters = fitness.clustering[several], fitness.diameters[both]
        found[f"{prefix}disconnected_topics"] = int(np.count_nonzero(fitness.components > 1))
        found[f"{prefix}weakly_disconnected_topics"] = int(np.count_nonzero(fitness.weak_components > 1))
        found[f"{prefix}unreached_interests"] = int(fitness.unreached.sum())
        found[f"{prefix}clustering_coefficient"] = float(clustering.mean()) if len(clustering) else 0.0
        found[f"{prefix}diameter"] = float(diameters.mean()) if len(diameters) else None
    return found


def _present(before: Views, now: Views) -> int:
    return int(np.count_nonzero(present(before, now)))


def _mean(counts: Offsets, nodes: int) -> float:
    return float(counts.sum()) / max(1, nodes)


def _deviation(counts: Offsets) -> float:
    return float(counts.std()) if len(counts) else 0.0


def _share(flags: Flags) -> float:
    return float(flags.mean()) if len(flags) else 0.0


def _plain(at: Round) -> dict[str, Any]:
    return at._asdict() | {"traffic": vars(at.traffic)}
