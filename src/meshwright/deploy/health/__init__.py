"""Whether links carry: probe messages find one that is up and carries nothing; one file a kind of broker."""

from collections.abc import Callable, Collection
from importlib import import_module

from meshwright.deploy.health.probes import Health, unknown
from meshwright.deploy.plan.plan import Plan

_KINDS = ("mosquitto", "nats")

Look = Callable[[Plan, Collection[str], float], list[Health]]


def look_at_links(plan: Plan, away: Collection[str], patience: float) -> list[Health]:
    """The health of every link of a plan that is applied; ends that are `away` are not asked.

    Guarantee: subscribers of the operator get nothing of it. It takes little more than `patience` seconds,
    and only if some link carries nothing.
    """
    if plan.driver not in _KINDS:
        return [unknown(link, "links of this kind of broker are not probed") for link in plan.links]
    look: Look = import_module(f"{__name__}.{plan.driver}").look_at_links
    return look(plan, away, patience)
