"""The algorithms by name: one table, which the command line, the docs and the tests read.

Algorithms of other packages join it by an entry point, or by `register`. Those packages are imported when
their algorithm is asked for, or all algorithms are.
"""

import json
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

from meshwright.construct import options as construct
from meshwright.plugins import installed
from meshwright.plugins.installed import Origin
from meshwright.runtime.checks import make_options
from meshwright.runtime.errors import MeshwrightWarning, OptionError, PluginError
from meshwright.runtime.wording import choose, type_of
from meshwright.smallworld.options import GrSwicoOptions, SmallWorldOptions
from meshwright.stan.options import StanOptions


@dataclass(frozen=True, kw_only=True)
class NoOptions:
    """The options of an algorithm that has none."""


@dataclass(frozen=True, kw_only=True)
class Algorithm:
    """An algorithm as the registry knows it; its module is imported when it is first used.

    Attributes:
        kind: "build" makes an overlay out of interests, "merge" one overlay out of several.
        summary: one line for people.
        topic_connected: whether it promises a topic-connected overlay; a merge, if all overlays given are.
        needs_costs: whether it chooses by the costs of links, and can't run without them.
        load: the function, or "module:function", of (interests, costs, options, seed, progress) -> Built,
            where costs are those of the interests' nodes by id, or None; a merge has the `Union` of the
            overlays instead of interests, and hands back its edges, in their order, before all others.
        options: the frozen dataclass of its options, which checks itself.
    """

    summary: str
    load: str | Callable[..., Any]
    options: type = NoOptions
    kind: str = "build"
    topic_connected: bool = True
    needs_costs: bool = False

    def make_options(self, values: Mapping[str, Any]) -> Any:
        """The options object, checked; an unknown name is refused with those that exist."""
        return make_options(self.options, values)


_BY_COST = partial(Algorithm, needs_costs=True)
_FOR_ROUTING = partial(Algorithm, topic_connected=False)

_BUILT_IN = {
    "gm": Algorithm(
        summary="Greedy Merge: the fewest links; time grows with the square of the nodes",
        load="meshwright.construct.greedy:greedy_merge",
        options=construct.GmOptions,
    ),
    "dg": Algorithm(
        summary="Dual-guided Greedy: fewer links than gm, guided by prices of topics; takes several times as "
        "long",
        load="meshwright.construct.dual.guided:dual_guided",
        options=construct.DgOptions,
    ),
    "exact": Algorithm(
        summary="the optimum, with its proof: the fewest links of all, for small interests; may take minutes",
        load="meshwright.construct.exact.optimum:optimum",
        options=construct.ExactOptions,
    ),
    "dc": Algorithm(
        summary="Divide and Conquer: Greedy Merge on parts; a few nodes of each part connect them; for "
        "large fleets",
        load="meshwright.construct.parts.conquer:divide_and_conquer",
        options=construct.DcOptions,
    ),
    "dcbc": Algorithm(
        summary="Bulk Clones: each part is built together with all bulk nodes (nodes with many topics); "
        "nearly as few links as gm, faster",
        load="meshwright.construct.parts.dcbc:bulk_clones",
        options=construct.DcbcOptions,
    ),
    "dcbc-direct": Algorithm(
        summary="Bulk Clones without parts: links only to bulk nodes (nodes with many topics); linear time, "
        "for large fleets",
        load="meshwright.construct.parts.dcbc_direct:bulk_clones_direct",
        options=construct.DcbcDirectOptions,
    ),
    "low-oda": Algorithm(
        summary="Low-ODA: a low maximum and average degree; time grows with the square of the nodes",
        load="meshwright.construct.low_oda:low_oda",
        options=construct.LowOdaOptions,
    ),
    "ring": Algorithm(
        summary="Ring-per-Topic: a ring for each topic; linear time, and about two links for each interest",
        load="meshwright.construct.ring:ring_per_topic",
    ),
    "tr-maw": _BY_COST(
        summary="a minimum spanning tree for each topic: cheap for one topic, expensive in total",
        load="meshwright.construct.weighted.tr_maw:tree_per_topic",
        options=construct.TrMawOptions,
    ),
    "gr-maw": _BY_COST(
        summary="greedy by cost and by topics joined: the lowest total cost; time grows with the square of "
        "the nodes",
        load="meshwright.construct.weighted.by_price:weighted_greedy",
        options=construct.GrMawOptions,
    ),
    "pd-maw": _BY_COST(
        summary="primal-dual algorithm: costs near gr-maw's, and a lower bound on the cost of any overlay",
        load="meshwright.construct.weighted.by_price:primal_dual",
        options=construct.PdMawOptions,
    ),
    "pdrd-maw": _BY_COST(
        summary="pd-maw without the links that no topic needs",
        load="meshwright.construct.weighted.by_price:primal_dual_reverse_delete",
        options=construct.PdMawOptions,
    ),
    "dg-maw": _BY_COST(
        summary="Dual-guided Greedy by cost: cheaper links than gr-maw and pdrd-maw; takes several times as "
        "long",
        load="meshwright.construct.dual.guided_by_cost:dual_guided_by_cost",
        options=construct.DgMawOptions,
    ),
    "dc-maw": _BY_COST(
        summary="gr-maw on parts of nodes near each other; a few nodes of each part connect them; "
        "for large fleets",
        load="meshwright.construct.weighted.dc_maw:weighted_divide_and_conquer",
        options=construct.DcMawOptions,
    ),
    "chord": _FOR_ROUTING(
        summary="Chord: nodes on a ring, with a link per doubling of distance; few links, for nsmf routing",
        load="meshwright.smallworld.algorithms:chord",
        options=SmallWorldOptions,
    ),
    "random-sw": _FOR_ROUTING(
        summary="RandomSW: as chord, but each link leads to a random node; few links, for nsmf routing",
        load="meshwright.smallworld.algorithms:random_sw",
        options=SmallWorldOptions,
    ),
    "gr-swico": _FOR_ROUTING(
        summary="GrSwico: as chord, but links lead to common interests; few links, fewer forwards by nsmf",
        load="meshwright.smallworld.algorithms:gr_swico",
        options=GrSwicoOptions,
    ),
    "stan": _FOR_ROUTING(
        summary="StaN: random views of topics, which come to share links; gossip without a central planner",
        load="meshwright.stan.api:stan",
        options=StanOptions,
    ),
    "nm": Algorithm(
        kind="merge",
        summary="Naive Merge: few new links, between any nodes; time grows with the square of the nodes",
        load="meshwright.construct.merge:naive_merge",
        options=construct.MergeOptions,
    ),
    "sm": Algorithm(
        kind="merge",
        summary="Star Merge: new links between a few nodes of each overlay; more links than nm, less work",
        load="meshwright.construct.merge:star_merge",
        options=construct.MergeOptions,
    ),
}


_REGISTERED: dict[str, tuple[Algorithm, Origin]] = {}
_BUILT_IN_ORIGIN = Origin("meshwright", "a built-in algorithm")
_NAME = re.compile("[a-z][a-z0-9-]*")


class Broken(NamedTuple):
    """An algorithm that an installed package offers and that can't be used, with the reason."""

    name: str
    origin: Origin
    reason: str


def algorithms() -> Mapping[str, Algorithm]:
    """All algorithms that can be used, by name; imports the packages that offer some.

    An algorithm that is broken is left out, with a MeshwrightWarning that names its package.

    Example:
        >>> import meshwright as mw
        >>> mw.algorithms()["gr-maw"].needs_costs
        True
    """
    working, broken = every_algorithm()
    for one in broken:
        warnings.warn(one.reason, MeshwrightWarning, stacklevel=2)
    return working


def every_algorithm() -> tuple[Mapping[str, Algorithm], list[Broken]]:
    """The algorithms that can be used, by name, and those that are broken."""
    working, broken = dict(_BUILT_IN), []
    for name, entries in installed.installed().items():
        try:
            working[name] = _of_entries(name)
        except PluginError as error:
            broken += [Broken(name, installed.origin_of(entry), str(error)) for entry in entries]
    return MappingProxyType(working | {name: known for name, (known, _) in _REGISTERED.items()}), broken


def register(name: str, algorithm: Algorithm) -> None:
    """Add an algorithm under a name that is free, for as long as this process runs.

    From then on `build`, `merge`, `compare` and `algorithms` know it. What it returns is checked.
    """
    where = getattr(algorithm, "load", None)
    module = where if isinstance(where, str) else getattr(where, "__module__", None)
    origin = Origin((module or "an unknown package").partition(":")[0], f"{name!r}, registered by a call,")
    taken = _owners(name)
    if taken:
        way = f", or call unregister({name!r}) first" if name in _REGISTERED else ""
        raise PluginError(f"{name!r} is already taken by {taken[0]}; choose another name{way}")
    _check(name, algorithm, origin)
    _REGISTERED[name] = algorithm, origin


def unregister(name: str) -> None:
    """Remove an algorithm that `register` added."""
    if _REGISTERED.pop(name, None) is None:
        raise OptionError(
            f"{name!r} was not added by register; only algorithms that register added can be removed"
        )


def _owners(name: str) -> list[Origin]:
    """Who has, or asks for, a name."""
    own = [_BUILT_IN_ORIGIN] if name in _BUILT_IN else []
    called = [_REGISTERED[name][1]] if name in _REGISTERED else []
    return [*own, *map(installed.origin_of, installed.installed().get(name, ())), *called]


@cache
def _of_entries(name: str) -> Algorithm:
    """The algorithm that installed packages offer under a name, if one alone does, and rightly."""
    owners = _owners(name)
    if len(owners) > 1:
        first, second = owners[:2]
        raise PluginError(
            f"{first} and {second} both have the name {name!r}; uninstall a package, or rename one"
        )
    (entry,) = installed.installed()[name]
    return _check(name, installed.load(entry), owners[0])


def _check(name: str, algorithm: object, origin: Origin) -> Algorithm:
    """Refuse what is no algorithm that the rest of the project could use."""
    wrong = None
    if not _NAME.fullmatch(name):
        wrong = "has a name with characters other than lower-case letters, digits and '-'"
    elif not isinstance(algorithm, Algorithm):
        wrong = f"is {type_of(algorithm)}, not a meshwright.Algorithm"
    elif algorithm.kind not in ("build", "merge"):
        wrong = f"is of kind {algorithm.kind!r}, not 'build' or 'merge'"
    elif not (callable(algorithm.load) or (isinstance(algorithm.load, str) and ":" in algorithm.load)):
        wrong = f"has load={algorithm.load!r}, not a function or 'module:function'"
    elif not is_dataclass(algorithm.options) or not _can_be_written(algorithm.options):
        wrong = "has options that are not a dataclass in which every field has a default that JSON can hold"
    if wrong is not None or not isinstance(algorithm, Algorithm):
        raise PluginError(f"{origin} {wrong}; correct it there")
    return algorithm


def _can_be_written(options: type) -> bool:
    """Whether the defaults can be listed and kept in a manifest."""
    try:
        made = options()
        json.dumps([getattr(made, field.name) for field in fields(options)])
    except Exception:
        return False
    return True


def outside_origin(name: str) -> Origin | None:
    """Which package an algorithm comes from; None if it is built in."""
    return None if name in _BUILT_IN else _owners(name)[0]


def _known(name: str) -> Algorithm | None:
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    if name in _REGISTERED:
        return _REGISTERED[name][0]
    return _of_entries(name) if name in installed.installed() else None


def check_given(algorithm: str, has_costs: bool) -> None:
    """Refuse to build without costs where the algorithm needs them."""
    if find(algorithm, "build").needs_costs and not has_costs:
        raise OptionError(
            f"{algorithm} needs the costs of links; give --costs, --sites or --places "
            f"(costs=Costs.from_csv(…), Costs.sites(…) or another form of costs in Python)"
        )


def how_made(algorithm: str, options: Any, seed: int, reverse_delete: bool = False) -> dict[str, Any]:
    """The facts that say how to make an overlay again."""
    chosen = {field.name: getattr(options, field.name) for field in fields(options)}
    how = {"algorithm": algorithm, "options": chosen, "seed": int(seed)}
    return how | ({"reverse_delete": True} if reverse_delete else {})


def find(name: str, kind: str) -> Algorithm:
    """The algorithm of that name and kind; an unknown one is refused with those that exist.

    Imports the package that offers it, and no other.
    """
    known = _known(name)
    if known is None or known.kind != kind:
        of_kind = [other for other, own in every_algorithm()[0].items() if own.kind == kind]
        rule = choose(name, sorted(of_kind))
        raise OptionError(f"there is no algorithm {name!r} to {kind} with; {rule}", option="algorithm")
    return known


def imported(where: str | Callable[..., Any]) -> Any:
    """What "module:function" names; a function is itself."""
    if not isinstance(where, str):
        return where
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)
