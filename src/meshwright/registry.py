"""The algorithms by name: one table, which the command line, the docs and the tests read."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from types import MappingProxyType
from typing import Any

from meshwright.construct.options import (
    DcbcDirectOptions,
    DcbcOptions,
    DcMawOptions,
    DcOptions,
    GmOptions,
    GrMawOptions,
    LowOdaOptions,
    MergeOptions,
    PdMawOptions,
    RingOptions,
    TrMawOptions,
)
from meshwright.runtime.errors import OptionError
from meshwright.smallworld.options import GrSwicoOptions, SmallWorldOptions
from meshwright.stan.options import StanOptions


@dataclass(frozen=True, kw_only=True)
class Algorithm:
    """An algorithm as the registry knows it; its module is imported when it is first used.

    Attributes:
        kind: "build" makes an overlay out of interests, "merge" one overlay out of several.
        summary: one line for people.
        topic_connected: whether it promises a topic-connected overlay; a merge, if all overlays given are.
        needs_costs: whether it chooses by the costs of links, and can't run without them.
        load: "module:function" of (interests, costs, options, seed, progress) -> Built, where costs are those
            of the interests' nodes by id, or None; a merge has the `Union` of the overlays instead of
            interests, and hands back its edges, in their order, before all others.
        options: the frozen dataclass of its options, which checks itself.
    """

    summary: str
    load: str
    options: type
    kind: str = "build"
    topic_connected: bool = True
    needs_costs: bool = False

    def make_options(self, values: Mapping[str, Any]) -> Any:
        """The options object, checked; an unknown name is refused with those that exist."""
        known = [field.name for field in fields(self.options)]
        for name in values:
            if name not in known:
                raise OptionError(
                    f"there is no option {name!r}; {_listed('choose among', known)}", option=name
                )
        return self.options(**values)


_ALGORITHMS = {
    "gm": Algorithm(
        summary="Greedy Merge: the fewest links; time grows with the square of the nodes",
        load="meshwright.construct.gm:greedy_merge",
        options=GmOptions,
    ),
    "dc": Algorithm(
        summary="Divide and Conquer: Greedy Merge on parts, linked through a few nodes each; large fleets",
        load="meshwright.construct.parts.dc:divide_and_conquer",
        options=DcOptions,
    ),
    "dcbc": Algorithm(
        summary="Bulk Clones: parts of nodes, each with all nodes of many topics; near gm in links, faster",
        load="meshwright.construct.parts.dcbc:bulk_clones",
        options=DcbcOptions,
    ),
    "dcbc-direct": Algorithm(
        summary="Bulk Clones without parts: links to nodes of many topics alone; linear, for large fleets",
        load="meshwright.construct.parts.dcbc_direct:bulk_clones_direct",
        options=DcbcDirectOptions,
    ),
    "low-oda": Algorithm(
        summary="Low-ODA: a low maximum degree beside a low average; time grows with the square of the nodes",
        load="meshwright.construct.low_oda:low_oda",
        options=LowOdaOptions,
    ),
    "ring": Algorithm(
        summary="Ring-per-Topic: a ring for each topic; linear, and about two links for each interest",
        load="meshwright.construct.ring:ring_per_topic",
        options=RingOptions,
    ),
    "tr-maw": Algorithm(
        summary="a minimum spanning tree for each topic: cheap inside a topic, dear in all",
        needs_costs=True,
        load="meshwright.construct.weighted.tr_maw:tree_per_topic",
        options=TrMawOptions,
    ),
    "gr-maw": Algorithm(
        summary="the greedy by cost for each component removed: the cheapest links; grows with the square",
        needs_costs=True,
        load="meshwright.construct.weighted.gr_maw:weighted_greedy",
        options=GrMawOptions,
    ),
    "pd-maw": Algorithm(
        summary="the primal-dual algorithm: near gr-maw, and a lower bound on what any overlay costs",
        needs_costs=True,
        load="meshwright.construct.weighted.pd_maw:primal_dual",
        options=PdMawOptions,
    ),
    "pdrd-maw": Algorithm(
        summary="pd-maw without the links that no topic needs",
        needs_costs=True,
        load="meshwright.construct.weighted.pd_maw:primal_dual_reverse_delete",
        options=PdMawOptions,
    ),
    "dc-maw": Algorithm(
        summary="gr-maw on parts that are near to each other, linked through a few nodes; large fleets",
        needs_costs=True,
        load="meshwright.construct.weighted.dc_maw:weighted_divide_and_conquer",
        options=DcMawOptions,
    ),
    "chord": Algorithm(
        summary="Chord: nodes on a ring, the first node of each phase as finger; few links, for nsmf routing",
        topic_connected=False,
        load="meshwright.smallworld.ring:chord",
        options=SmallWorldOptions,
    ),
    "random-sw": Algorithm(
        summary="RandomSW: nodes on a ring, any node of each phase as finger; few links, for nsmf routing",
        topic_connected=False,
        load="meshwright.smallworld.ring:random_sw",
        options=SmallWorldOptions,
    ),
    "gr-swico": Algorithm(
        summary="GrSwico: nodes on a ring, fingers to common interests; few links, fewer forwards by nsmf",
        topic_connected=False,
        load="meshwright.smallworld.gr_swico:gr_swico",
        options=GrSwicoOptions,
    ),
    "stan": Algorithm(
        summary="StaN: random views in every topic that come to share links; without a planner, for gossip",
        topic_connected=False,
        load="meshwright.stan.api:stan",
        options=StanOptions,
    ),
    "nm": Algorithm(
        kind="merge",
        summary="Naive Merge: few new links, between any nodes; time grows with the square of the nodes",
        load="meshwright.construct.merge:naive_merge",
        options=MergeOptions,
    ),
    "sm": Algorithm(
        kind="merge",
        summary="Star Merge: new links between a few nodes of each overlay; some more links, much less work",
        load="meshwright.construct.merge:star_merge",
        options=MergeOptions,
    ),
}


def algorithms() -> Mapping[str, Algorithm]:
    """All algorithms by name."""
    return MappingProxyType(_ALGORITHMS)


def check_given(algorithm: str, has_costs: bool) -> None:
    """Refuse to build without costs where the algorithm needs them."""
    if _ALGORITHMS[algorithm].needs_costs and not has_costs:
        raise OptionError(
            f"{algorithm} needs what links cost; give costs=Costs.from_csv(…), Costs.sites(…) or another "
            f"(--costs, --sites or --places on the command line)"
        )


def how_made(algorithm: str, options: Any, seed: int, reverse_delete: bool = False) -> dict[str, Any]:
    """The facts that say how to make an overlay again."""
    chosen = {field.name: getattr(options, field.name) for field in fields(options)}
    how = {"algorithm": algorithm, "options": chosen, "seed": int(seed)}
    return how | ({"reverse_delete": True} if reverse_delete else {})


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
