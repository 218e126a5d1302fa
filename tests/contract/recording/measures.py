"""What `evaluate`, `route` and `gossip` measure, and what workloads and costs are made of."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import meshwright as mw
from tests.contract.recording import inputs, values

_ARRAYS = ("degrees", "components_per_topic", "diameter_per_topic", "weighted_diameter_per_topic")


def _evaluation(overlay: mw.Overlay, **given: Any) -> dict[str, Any]:
    found = mw.evaluate(overlay, **given)
    arrays = {name: values.array_digest(getattr(found, name)) for name in _ARRAYS}
    spread = values.plain(found.distributions())
    return {"numbers": values.plain(found.to_json()), "arrays": arrays, "distributions": spread}


def _of_built(algorithm: str, name: str, **given: Any) -> dict[str, Any]:
    return _evaluation(inputs.build(inputs.interests(name), algorithm), **given)


def _of_sites() -> dict[str, Any]:
    who = inputs.interests("zipf")
    return _evaluation(inputs.build(who, "gm"), costs=inputs.site_costs(who))


def _of_broken() -> dict[str, Any]:
    """An overlay whose topics have fallen apart."""
    who = inputs.interests("unif")
    names = who.nodes.to_pylist()
    overlay = mw.Overlay.from_edges(who, list(zip(names[:-5:2], names[1::2], strict=False)))
    broken = mw.evaluate(overlay).disconnected_topic_components()
    return _evaluation(overlay) | {"broken": values.plain(broken)}


def _routing(algorithm: str, name: str, protocol: str, **given: Any) -> dict[str, Any]:
    overlay = inputs.build(inputs.interests(name), algorithm, seed=1)
    found = mw.route(overlay, protocol, 200, seed=3, **given)
    return {
        "numbers": values.plain(found.to_json()),
        "received": values.array_digest(found.received),
        "sent": values.array_digest(found.sent),
        "by_publication": values.table(found.by_publication),
    }


def _gossip(name: str, engine: str, conditions: dict[str, Any], **options: Any) -> dict[str, Any]:
    found = mw.gossip(
        inputs.interests(name),
        mw.StanOptions(**options),
        mw.SimulationOptions(**conditions),
        engine=engine,
        seed=2,
    )
    return {
        "numbers": values.plain(found.to_json()),
        "before": values.table(found.before.to_table()),
        "after": values.table(found.after.to_table()),
        "by node": values.table(found.view_table()),
    }


def _costs(make: Callable[[mw.Interests], mw.Costs]) -> dict[str, Any]:
    """Rounded, since the last bit of a distance is the machine's."""
    who = inputs.interests("unif")
    costs = make(who).of(who)
    forms = {"matrix": costs, "normalised": costs.normalised(seed=1)}
    return {name: values.array_digest(np.round(own.to_matrix(), 6)) for name, own in forms.items()}


def _star_sets() -> dict[str, Any]:
    return {name: values.plain(mw.star_set(inputs.interests(name))) for name in inputs.NAMES}


_LAWS: dict[str, Callable[[], mw.Interests]] = {
    **{name: partial(inputs.interests, name) for name in inputs.NAMES},
    "unif, independent": partial(mw.workloads.unif, 90, 20, subscriptions=4, independent=True, seed=2),
    "zipf, alpha": partial(mw.workloads.zipf, 90, 20, subscriptions=4, alpha=1.5, seed=2),
    "expo, exponent": partial(
        mw.workloads.expo, 90, 20, min_subscriptions=2, max_subscriptions=9, size_exponent=2.0, seed=2
    ),
    "grid": partial(mw.workloads.grid, 64, 16, seed=2),
    "grid, torus": partial(mw.workloads.grid, 64, 16, torus=True, seed=2),
}


CASES: dict[str, Callable[[], Any]] = {
    **{f"interests: {name}": lambda make=make: values.interests(make()) for name, make in _LAWS.items()},
    "star sets": _star_sets,
    "costs: matrix": partial(_costs, inputs.matrix_costs),
    "costs: sites": partial(_costs, inputs.site_costs),
    "costs: clusters": partial(_costs, inputs.cluster_costs),
    "costs: plane": partial(_costs, inputs.plane_costs),
    **{
        f"evaluate: {algorithm} on {name}": partial(_of_built, algorithm, name)
        for algorithm in ("gm", "gr-maw", "stan", "chord")
        for name in ("zipf", "awkward")
    },
    "evaluate: ring on social": partial(_of_built, "ring", "social"),
    "evaluate: without diameters and bound": partial(_of_built, "gm", "expo", diameters=False, bound=False),
    "evaluate: sites": _of_sites,
    "evaluate: not connected": _of_broken,
    "route: flood": partial(_routing, "gm", "zipf", "flood"),
    "route: flood, simulated": partial(_routing, "gm", "zipf", "flood", simulate=True),
    "route: flood, failures": partial(_routing, "dcbc", "social", "flood", loss=0.1, failed=0.1),
    "route: tree": partial(_routing, "gm", "zipf", "tree"),
    "route: cheapest tree": partial(_routing, "gr-maw", "zipf", "tree", tree="cheapest"),
    "route: nsmf on chord": partial(_routing, "chord", "zipf", "nsmf"),
    "route: nsmf on gr-swico": partial(_routing, "gr-swico", "social", "nsmf"),
    "route: nsmf, both ways": partial(_routing, "gr-swico", "zipf", "nsmf", both_ways=True),
    "route: nsmf, failures": partial(_routing, "random-sw", "zipf", "nsmf", loss=0.05, failed=["n00", "n07"]),
    "route: nsmf, simulated": partial(_routing, "gr-swico", "zipf", "nsmf", simulate=True),
    "gossip: rounds": partial(_gossip, "zipf", "rounds", {}, rounds=4),
    "gossip: rounds, loss": partial(_gossip, "social", "rounds", {}, rounds=3, loss=0.2, learn=True),
    "gossip: rounds, scamp": partial(_gossip, "unif", "rounds", {"membership": "scamp"}, rounds=3),
    "gossip: omniscient": partial(_gossip, "zipf", "rounds", {}, links="omniscient"),
    "gossip: simulator": partial(_gossip, "unif", "simulator", {}, rounds=3),
    "gossip: simulator, churn": partial(
        _gossip, "unif", "simulator", {"churn": 0.05, "membership": "scamp"}, rounds=4, loss=0.05
    ),
    "gossip: simulator, keep-alive": partial(
        _gossip, "expo", "simulator", {"keep_alive": True, "patience": 2, "delay": 0.1}, rounds=3
    ),
}
