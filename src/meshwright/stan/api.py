"""`gossip`: StaN on interests, from the first views to the measures."""

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from meshwright.metrics.statistics import summary
from meshwright.metrics.views import count_links
from meshwright.model.costs.costs import Costs
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.model.views import TABLE as VIEWS
from meshwright.model.views import Views
from meshwright.runtime.checks import check_choice
from meshwright.runtime.errors import InputError, OptionError
from meshwright.runtime.progress import Progress
from meshwright.runtime.wording import type_of
from meshwright.stan.lock_step import Watch, draw_views, omniscient_views, run_rounds
from meshwright.stan.measures import TABLE as BY_NODE
from meshwright.stan.measures import Course, Gossip, measured, view_table
from meshwright.stan.messages import Traffic
from meshwright.stan.options import SimulationOptions, StanOptions
from meshwright.stan.simulation import run_simulation, scamp_views

Engine = Callable[
    [Views, StanOptions, SimulationOptions, int, Watch | None, Progress | None], tuple[Views, Traffic]
]
"""(views, options, conditions, seed, watch, progress) -> views after the last round, and what it took."""


def gossip(
    interests: Interests,
    options: StanOptions | None = None,
    conditions: SimulationOptions | None = None,
    *,
    engine: str | Engine = "rounds",
    diameters: bool = True,
    seed: int = 0,
    progress: Progress | None = None,
) -> Gossip:
    """Let views of the nodes' topics come to share links, and measure them before and after.

    Args:
        interests: who subscribes to what.
        options: of StaN.
        conditions: how views begin, and what goes wrong; lock step has neither churn nor
            keep-alive, and delay is the simulator's alone.
        engine: `rounds` in lock step by kernels, the `simulator` with the protocols themselves, or what
            carries their messages otherwise: `LiveEngine` of meshwright.stan.live, over sockets.
        diameters: whether to measure them, which takes longest in large topics.
        seed: the same seed gives the same run.
        progress: shows how far it is.

    Example:
        >>> import meshwright as mw
        >>> interests = mw.workloads.unif(60, 8, subscriptions=4, seed=1)
        >>> result = mw.gossip(interests, seed=1)
        >>> result.final_physical_view_size < result.initial_physical_view_size
        True
    """
    if not isinstance(interests, Interests):
        raise InputError(f"gossip got {type_of(interests)}; give Interests")
    options, conditions = options or StanOptions(), conditions or SimulationOptions()
    name, run = _engine(engine)
    if name == "rounds" and (conditions.churn or conditions.keep_alive):
        raise OptionError(
            "--engine rounds has neither churn nor keep-alive; use --engine simulator, or --live"
        )
    if name != "rounds" and options.links != "walks":
        raise OptionError(
            f"--links {options.links} sends no messages, so only --engine rounds can run it; use "
            f"--links walks, or --engine rounds"
        )
    before = first_views(interests, options, conditions, seed, progress)
    course = Course(before)
    after, traffic = _linked(run, before, options, conditions, seed, course, progress)
    return measured(name, (before, after), course.rounds, traffic, diameters=diameters, progress=progress)


def first_views(
    interests: Interests,
    options: StanOptions,
    conditions: SimulationOptions,
    seed: int,
    progress: Progress | None = None,
) -> Views:
    """The views before the first round."""
    if conditions.membership == "scamp":
        return scamp_views(interests, conditions, seed, progress)
    return draw_views(interests, options, seed, progress)


def stan(
    interests: Interests, costs: Costs | None, options: StanOptions, seed: int, progress: Progress | None
) -> Built:
    """StaN: random views in every topic, whose links come to be shared.

    Guarantee: every node has in each of its topics min(n - 1, ⌈ln n + 4.60⌉) peers of n subscribers, or as
    many as asked for, and keeps as many. A topic is connected with the probability asked for, in the limit,
    not for sure. Costs change nothing. The overlay has a link wherever one end has the other in a view; the
    views themselves are in the table `views`, and `views_by_node` says what each node was freed of.

    Cost: `stan.lock_step`, O((ttl + 1) k) for each round, interest and its view of k peers.

    Source: [5], Alg. 1 and 2, in lock step as in its simulator (3.3).
    """
    del costs
    before = draw_views(interests, options, seed, progress)
    after, traffic = _linked(_ENGINES["rounds"], before, options, SimulationOptions(), seed, None, progress)
    counts = count_links(before, progress), count_links(after, progress)
    facts = {"logical_links": len(after.slots), "walk_messages": traffic.messages, "walk_ids": traffic.ids}
    return Built(edges=after.edges(), facts=facts, tables=_tables(after, view_table((before, after), counts)))


def overlay_of(found: Gossip, how: Mapping[str, Any]) -> Overlay:
    """The overlay of the views after a run, with its numbers as facts."""
    spread = {name: summary(own) for name, own in found.distributions().items()}
    facts = {**how, **found.to_json(), "distributions": spread}
    tables = _tables(found.after, found.view_table())
    return Overlay.from_arrays(found.after.interests, found.after.edges(), facts=facts, tables=tables)


def _tables(after: Views, by_node: pa.Table) -> dict[str, pa.Table]:
    return {VIEWS: after.to_table(), BY_NODE: by_node}


def _linked(
    run: Engine,
    views: Views,
    options: StanOptions,
    conditions: SimulationOptions,
    seed: int,
    watch: Watch | None,
    progress: Progress | None,
) -> tuple[Views, Traffic]:
    """The views with the links that are asked for: the engine runs walks alone."""
    if options.links == "walks":
        return run(views, options, conditions, seed, watch, progress)
    if watch is not None:
        watch(0, views, Traffic())
    chosen = omniscient_views(views, seed, progress) if options.links == "omniscient" else views
    return chosen, Traffic()


_ENGINES: Mapping[str, Engine] = {
    "rounds": lambda views, options, _, *rest: run_rounds(views, options, *rest),
    "simulator": run_simulation,
}


def _engine(engine: str | Engine) -> tuple[str, Engine]:
    if callable(engine):
        return "live", engine
    check_choice("engine", engine, tuple(_ENGINES))
    return engine, _ENGINES[engine]
