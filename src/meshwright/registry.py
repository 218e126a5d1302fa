"""The algorithms by name: one table, which the command line, the docs and the tests read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np

from meshwright.construct.options import (
    DcbcDirectOptions,
    DcbcOptions,
    DcOptions,
    GmOptions,
    MergeOptions,
    RingOptions,
)
from meshwright.errors import InputError, OptionError
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.model.union import union
from meshwright.progress import Progress, StageTimer


@dataclass(frozen=True, kw_only=True)
class Algorithm:
    """An algorithm as the registry knows it; its module is imported when it is first used.

    Attributes:
        kind: "build" makes an overlay out of interests, "merge" one overlay out of several.
        summary: one line for people.
        topic_connected: whether it promises a topic-connected overlay; a merge, if all overlays given are.
        needs_costs: whether it can't run without the costs of links.
        load: "module:function" of (interests, options, seed, progress) -> Built; a merge has the `Union` of
            the overlays instead of interests, and hands back its edges, in their order, before all others.
        options: the frozen dataclass of its options, which checks itself.
        spread: "module:function" of (job, options, seed) -> Spread, which builds the same in Spark's tasks;
            none where the algorithm needs all interests in one place.
    """

    kind: str
    summary: str
    topic_connected: bool
    needs_costs: bool
    load: str
    options: type
    spread: str | None = None

    def make_options(self, values: Mapping[str, Any]) -> Any:
        """The options object, checked; an unknown name is refused with those that exist."""
        known = [field.name for field in fields(self.options)]
        for name in values:
            if name not in known:
                raise OptionError(f"there is no option {name!r}; {_listed('choose among', known)}")
        return self.options(**values)


_ALGORITHMS = {
    "gm": Algorithm(
        kind="build",
        summary="Greedy Merge: the fewest links; time grows with the square of the nodes",
        topic_connected=True,
        needs_costs=False,
        load="meshwright.construct.gm:greedy_merge",
        options=GmOptions,
    ),
    "dc": Algorithm(
        kind="build",
        summary="Divide and Conquer: Greedy Merge on parts, linked through a few nodes each; large fleets",
        topic_connected=True,
        needs_costs=False,
        load="meshwright.construct.dc:divide_and_conquer",
        options=DcOptions,
        spread="meshwright.pipeline.build.spread_dc:divide_and_conquer",
    ),
    "dcbc": Algorithm(
        kind="build",
        summary="Bulk Clones: parts of nodes, each with all nodes of many topics; near gm in links, faster",
        topic_connected=True,
        needs_costs=False,
        load="meshwright.construct.dcbc:bulk_clones",
        options=DcbcOptions,
        spread="meshwright.pipeline.build.spread_bulk:bulk_clones",
    ),
    "dcbc-direct": Algorithm(
        kind="build",
        summary="Bulk Clones without parts: links to nodes of many topics alone; linear, for large fleets",
        topic_connected=True,
        needs_costs=False,
        load="meshwright.construct.dcbc_direct:bulk_clones_direct",
        options=DcbcDirectOptions,
        spread="meshwright.pipeline.build.spread_bulk:bulk_clones_direct",
    ),
    "ring": Algorithm(
        kind="build",
        summary="Ring-per-Topic: a ring for each topic; linear, and about two links for each interest",
        topic_connected=True,
        needs_costs=False,
        load="meshwright.construct.ring:ring_per_topic",
        options=RingOptions,
    ),
    "nm": Algorithm(
        kind="merge",
        summary="Naive Merge: few new links, between any nodes; time grows with the square of the nodes",
        topic_connected=True,
        needs_costs=False,
        load="meshwright.construct.merging:naive_merge",
        options=MergeOptions,
    ),
    "sm": Algorithm(
        kind="merge",
        summary="Star Merge: new links between a few nodes of each overlay; some more links, much less work",
        topic_connected=True,
        needs_costs=False,
        load="meshwright.construct.merging:star_merge",
        options=MergeOptions,
    ),
}


def algorithms() -> Mapping[str, Algorithm]:
    """All algorithms by name."""
    return MappingProxyType(_ALGORITHMS)


def build(
    interests: Interests, algorithm: str, *, seed: int = 0, progress: Progress | None = None, **options: Any
) -> Overlay:
    """Make an overlay out of `interests` by an algorithm of kind "build", with its own `options`.

    The same seed gives the same overlay. `overlay.facts` say how it was made: the algorithm, its options, the
    seed, the seconds of each stage, and what the algorithm itself counted.
    """
    chosen = find(algorithm, "build")
    checked = chosen.make_options(options)
    if not isinstance(interests, Interests):
        raise InputError(f"build got a {type(interests).__name__}; give Interests")
    timer = StageTimer(progress)
    built = imported(chosen.load)(interests, checked, seed, timer)
    facts = how_made(algorithm, checked, seed) | built.facts | {"seconds": timer.seconds}
    return Overlay.from_arrays(interests, built.edges, facts=facts, tables=built.tables)


def merge(
    overlays: Sequence[Overlay],
    algorithm: str,
    *,
    link_cost: float | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> Overlay:
    """Make one overlay out of several by an algorithm of kind "merge", with its own `options`.

    Nodes and topics are matched by name; a node that two of the overlays have is refused. Every edge is kept,
    with its cost. Where links cost, `link_cost` is what a new one costs. Edges are added between nodes of
    different overlays only: every topic that several overlays have becomes connected, and the whole is
    topic-connected if each overlay is. The facts and extra tables of the overlays are not taken over.
    """
    chosen = find(algorithm, "merge")
    checked = chosen.make_options(options)
    whole = union(overlays if isinstance(overlays, Overlay) else list(overlays))
    _check_link_cost(link_cost, whole.costs is not None)
    timer = StageTimer(progress)
    built = imported(chosen.load)(whole, checked, seed, timer)
    costs = None
    if whole.costs is not None:
        costs = np.append(whole.costs, np.full(len(built.edges) - len(whole.edges), link_cost))
    how = how_made(algorithm, checked, seed) | {"link_cost": link_cost}
    facts = how | built.facts | {"seconds": timer.seconds}
    return Overlay.from_arrays(whole.interests, built.edges, costs, facts, built.tables)


def _check_link_cost(link_cost: float | None, wanted: bool) -> None:
    if wanted and link_cost is None:
        raise OptionError("the overlays have costs; say with link_cost what a new link costs")
    if link_cost is not None and not wanted:
        raise OptionError(f"link_cost is {link_cost}, but the overlays have no costs; leave it out")
    number = isinstance(link_cost, int | float | np.integer | np.floating) and not isinstance(link_cost, bool)
    if link_cost is not None and (not number or not 0 < link_cost < np.inf):
        raise OptionError(f"link_cost is {link_cost!r}; a cost is a positive finite number")


def how_made(algorithm: str, options: Any, seed: int) -> dict[str, Any]:
    """The facts that say how to make an overlay again."""
    chosen = {field.name: getattr(options, field.name) for field in fields(options)}
    return {"algorithm": algorithm, "options": chosen, "seed": int(seed)}


def find(name: str, kind: str) -> Algorithm:
    """The algorithm of that name and kind; an unknown one is refused with those that exist."""
    of_kind = [known for known, algorithm in _ALGORITHMS.items() if algorithm.kind == kind]
    if name not in of_kind:
        raise OptionError(
            f"there is no algorithm {name!r} to {kind} with; {_listed('choose among', of_kind)}"
        )
    return _ALGORITHMS[name]


def _listed(lead: str, names: list[str]) -> str:
    return f"{lead} {', '.join(sorted(names))}" if names else "there is none to choose"


def imported(where: str) -> Any:
    """What "module:function" names."""
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)
