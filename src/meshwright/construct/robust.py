"""What the options `resilience` and `max_links` ask of any algorithm that connects topics."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from meshwright.construct.capped import capped_edges
from meshwright.construct.caps import caps_of
from meshwright.construct.options import UNLIMITED, RobustOptions
from meshwright.construct.resilient import least_edges, owes_nothing, resilient_edges
from meshwright.construct.standby import STANDBY, primary_edges, standby_table
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Ids, Longs
from meshwright.runtime.errors import MeshwrightWarning
from meshwright.runtime.parallel import Beside
from meshwright.runtime.progress import Progress, stage


def made_robust(
    interests: Interests,
    built: Built,
    options: RobustOptions,
    seed: int,
    *,
    costs: Costs | None = None,
    memory_limit: int | None = None,
    progress: Progress | None = None,
) -> Built:
    """What an algorithm has built, with links added and left out so that it withstands what options say.

    Facts: `links_before`, those that the algorithm took, unless nothing is taken from them (`owes_nothing`);
    with resilience, `least_links`, which no such overlay is below by proof (None where that takes too long),
    and `topics_of_two`, which can't survive. The links beside those that connect all topics are in the table
    `standby`.
    """
    facts: dict[str, int | None] = {}
    if not owes_nothing(interests, options):
        facts |= {"links_before": len(np.asarray(built.edges))}
    before = np.ascontiguousarray(built.edges, np.int32).reshape(-1, 2)
    with Beside(partial(least_edges, interests)) as least:
        edges = _edges(interests, before, options, seed, costs, memory_limit, progress, least.start)
        tables = dict(built.tables)
        if options.resilience > 1:
            primary = primary_edges(interests, before, edges, memory_limit=memory_limit, progress=progress)
            tables[STANDBY] = standby_table(interests, primary, edges)
            sizes = np.diff(interests.topic_indptr)
            with stage(progress, "bounding the degree"):
                facts |= {"least_links": least.result()}
            facts |= {"topics_of_two": int(np.count_nonzero(sizes == 2))}
            facts |= {"standby_links": tables[STANDBY].num_rows}
    return replace(built, edges=edges, facts={**built.facts, **facts}, tables=tables)


def _edges(
    interests: Interests,
    before: Ids,
    options: RobustOptions,
    seed: int,
    costs: Costs | None,
    memory_limit: int | None,
    progress: Progress | None,
    when_one_core: Callable[[], None],
) -> Ids:
    """The links; with resilience, `when_one_core` is called once the rest of the work uses but one."""
    edges, caps = before, caps_of(interests, options.max_links)
    if options.resilience > 1 and not options.is_resilient:
        edges = resilient_edges(
            interests,
            before,
            seed,
            anew=options.begins_anew,
            ties=getattr(options, "ties", "shuffled"),
            costs=costs,
            memory_limit=memory_limit,
            progress=progress,
            when_one_core=when_one_core,
        )
    if exceeds(edges, caps):
        edges = capped_edges(
            interests,
            before,
            caps,
            seed,
            resilience=options.resilience,
            costs=costs,
            memory_limit=memory_limit,
            progress=progress,
        )
    return edges


def warn_of_small_topics(interests: Interests, resilience: int) -> None:
    """Tell if no topic can survive a failure."""
    if resilience > 1 and not (np.diff(interests.topic_indptr) > 2).any():
        warnings.warn(
            f"resilience is {resilience}, but no topic has three subscribers or more, so none can survive "
            f"the failure of a node or link",
            MeshwrightWarning,
            stacklevel=2,
        )


def exceeds(edges: Ids, caps: Longs) -> bool:
    """Whether some node has more links than it may."""
    if not (caps < UNLIMITED).any():
        return False
    return bool((np.bincount(edges.ravel(), minlength=len(caps)) > caps).any())
