"""`build` and `merge`: an algorithm of the registry, from its name and options to an overlay."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from meshwright.construct.options import LOAD, RobustOptions
from meshwright.construct.reverse_delete import delete_after
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay, priced
from meshwright.model.union import Union, union
from meshwright.plugins.checks import run_outside
from meshwright.registry import Algorithm, check_given, find, how_made, imported, outside_origin
from meshwright.runtime.checks import check_flag, check_whole, is_number
from meshwright.runtime.errors import InputError, OptionError
from meshwright.runtime.progress import Progress, StageTimer
from meshwright.runtime.wording import type_of


def build(
    interests: Interests,
    algorithm: str,
    *,
    costs: Costs | None = None,
    reverse_delete: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> Overlay:
    """Make an overlay out of `interests` by an algorithm of kind "build", with its own `options`.

    With `costs` every link gets what it costs; algorithms that need costs also choose by them, and the others
    don't. With `reverse_delete` links that no topic needs are removed afterwards, so that none is left which
    could be; `construct.reverse_delete` says in which order. Algorithms that promise no topic-connected
    overlay are refused there.

    The same seed gives the same overlay. `overlay.facts` say how it was made: the algorithm, its options, the
    seed, the seconds of each stage, and what the algorithm itself counted.

    The first call on a machine compiles what the algorithm needs, for seconds to a minute; to see that, give
    `progress=ProgressBar()`.

    Example:
        >>> import meshwright as mw
        >>> pairs = [("b1", "news"), ("b2", "news"), ("b2", "sport"), ("b3", "sport")]
        >>> interests = mw.Interests.from_pairs(pairs)
        >>> overlay = mw.build(interests, "gm")
        >>> overlay.to_pandas()[["source", "target"]].values.tolist()
        [['b1', 'b2'], ['b2', 'b3']]
        >>> overlay.facts["algorithm"]
        'gm'
    """
    chosen = find(algorithm, "build")
    checked = chosen.make_options(options)
    check_whole("seed", seed, 0, required=True)
    if not isinstance(interests, Interests):
        raise InputError(f"build got {type_of(interests)}; give Interests")
    check_flag("reverse_delete", reverse_delete)
    if reverse_delete and not chosen.topic_connected:
        raise OptionError(
            f"reverse_delete would remove links that {algorithm} needs for routing; leave it out"
        )
    if reverse_delete and isinstance(checked, RobustOptions) and checked.resilience > 1:
        _check_spares_stay(algorithm, checked)
    check_costs(algorithm, costs)
    own = None if costs is None else costs.of(interests)
    timer = StageTimer(progress)

    def make(options: Any) -> Built:
        return _robust(algorithm, chosen, interests, own, options, seed, reverse_delete, timer)

    by_load = isinstance(checked, RobustOptions) and getattr(checked, "ties", "") == LOAD
    built = _least_loaded(interests, make, checked) if by_load else make(checked)
    how = how_made(algorithm, checked, seed, reverse_delete)
    facts = how | dict(built.facts) | {"seconds": timer.seconds}
    overlay = Overlay.from_arrays(interests, built.edges, facts=facts, tables=built.tables)
    return overlay if own is None else priced(overlay, own)


def _check_spares_stay(algorithm: str, options: RobustOptions) -> None:
    """Refuse reverse delete after an algorithm that is resilient by itself: it would remove the spares."""
    if options.is_resilient:
        raise OptionError(
            f"reverse_delete would remove the spare links of {algorithm} that resilience needs; leave it out"
        )


_TIES_TRIED = (LOAD, "small-first", "shuffled")


def _least_loaded(interests: Interests, make: Callable[[Any], Built], options: Any) -> Built:
    """Of overlays that settle ties in several ways, that whose busiest node has the least expected load.

    Of equals, that of the fewest links. The facts say which ties it has, and the load.
    """
    from meshwright.routing.load import expected_load

    built = [make(replace(options, ties=ties)) for ties in _TIES_TRIED]
    loads = [expected_load(Overlay.from_arrays(interests, one.edges)).maximum for one in built]
    at = min(range(len(built)), key=lambda at: (loads[at], np.size(built[at].edges)))
    facts = {"ties_taken": _TIES_TRIED[at], "maximum_load": loads[at]}
    return replace(built[at], facts={**built[at].facts, **facts})


def _robust(
    algorithm: str,
    chosen: Algorithm,
    interests: Interests,
    own: Costs | None,
    checked: Any,
    seed: int,
    reverse_delete: bool,
    timer: StageTimer,
) -> Built:
    """What the algorithm builds, without idle links, and with what resilience and max_links ask for."""
    if isinstance(checked, RobustOptions) and checked.max_links is not None:
        from meshwright.construct.caps import check_possible

        check_possible(interests, checked.max_links, checked.resilience, timer)
    if _is_owed_nothing(interests, checked):
        built = Built(edges=np.empty((0, 2), np.int32))
    else:
        built = _plain(algorithm, chosen, interests, own, checked, seed, reverse_delete, timer)
    if isinstance(checked, RobustOptions) and (checked.asks_for_more or checked.resilience > 1):
        from meshwright.construct.robust import made_robust, warn_of_small_topics

        warn_of_small_topics(interests, checked.resilience)
        if checked.asks_for_more:
            limit = getattr(checked, "memory_limit", None)
            prices = own if chosen.needs_costs else None
            built = made_robust(
                interests, built, checked, seed, costs=prices, memory_limit=limit, progress=timer
            )
    return built


def _is_owed_nothing(interests: Interests, options: Any) -> bool:
    """Whether what the algorithm builds would not count, so that it need not run."""
    if not isinstance(options, RobustOptions) or options.resilience < 2:
        return False
    from meshwright.construct.resilient import owes_nothing

    return owes_nothing(interests, options)


def _plain(
    algorithm: str,
    chosen: Algorithm,
    interests: Interests,
    own: Costs | None,
    checked: Any,
    seed: int,
    reverse_delete: bool,
    timer: StageTimer,
) -> Built:
    """What the algorithm builds, without idle links."""
    built = _run(algorithm, chosen, interests, own, checked, seed, timer)
    if reverse_delete:
        built = delete_after(
            interests,
            built,
            costs=own,
            by_price=chosen.needs_costs,
            memory_limit=getattr(checked, "memory_limit", None),
            progress=timer,
        )
    return built


def _run(
    name: str,
    chosen: Algorithm,
    subject: Interests | Union,
    costs: Costs | None,
    options: Any,
    seed: int,
    progress: Progress,
) -> Built:
    """What the algorithm returns; that of another package is checked."""

    def run() -> Any:
        return imported(chosen.load)(subject, costs, options, seed, progress)

    origin = outside_origin(name)
    if origin is None:
        built: Built = run()
        return built
    built = run_outside(name, origin, run, subject, topic_connected=chosen.topic_connected, progress=progress)
    return replace(built, facts={"package": origin.package, **built.facts})


def check_costs(algorithm: str, costs: object) -> None:
    """Refuse to build with an algorithm that needs costs and has none, or with what are no costs."""
    check_given(algorithm, costs is not None)
    if costs is not None and not isinstance(costs, Costs):
        raise InputError(f"the costs are {type_of(costs)}; give Costs, such as Costs.from_csv(…)")


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

    Example:
        >>> import meshwright as mw
        >>> east = mw.build(mw.Interests.from_pairs([("e1", "news"), ("e2", "news")]), "gm")
        >>> west = mw.build(mw.Interests.from_pairs([("w1", "news"), ("w2", "news")]), "gm")
        >>> mw.merge([east, west], "sm")
        Overlay(4 nodes, 3 edges)
    """
    chosen = find(algorithm, "merge")
    checked = chosen.make_options(options)
    check_whole("seed", seed, 0, required=True)
    whole = union(overlays if isinstance(overlays, Overlay) else list(overlays))
    _check_link_cost(link_cost, whole.costs is not None)
    timer = StageTimer(progress)
    built = _run(algorithm, chosen, whole, None, checked, seed, timer)
    costs = None
    if whole.costs is not None:
        costs = np.append(whole.costs, np.full(len(np.asarray(built.edges)) - len(whole.edges), link_cost))
    how = how_made(algorithm, checked, seed) | {"link_cost": link_cost}
    facts = how | dict(built.facts) | {"seconds": timer.seconds}
    return Overlay.from_arrays(whole.interests, built.edges, costs, facts, built.tables)


def _check_link_cost(link_cost: float | None, wanted: bool) -> None:
    if wanted and link_cost is None:
        raise OptionError("the overlays have costs; set link_cost (--link-cost) to the cost of a new link")
    if link_cost is not None and not wanted:
        raise OptionError(
            f"link_cost is {link_cost}, but the overlays have no costs; leave it out", option="link_cost"
        )
    if link_cost is not None and (not is_number(link_cost) or not 0 < link_cost < np.inf):
        raise OptionError(
            f"link_cost is {link_cost!r}; a cost is a positive finite number", option="link_cost"
        )
