"""What Prometheus reads of a fleet."""

from collections.abc import Callable, Mapping

from meshwright.serve.reconciling.reconciler import Reconciler

GAUGES: Mapping[str, tuple[str, Callable[[Reconciler], float]]] = {
    "brokers": ("Brokers of the inventory.", lambda fleet: len(fleet.brokers())),
    "brokers_down": (
        "Brokers that don't answer.",
        lambda fleet: sum(own["up"] is False for own in fleet.brokers()),
    ),
    "fleet_links": (
        "Links that were probed.",
        lambda fleet: sum(own.carries is not None for own in fleet.health),
    ),
    "links_up": (
        "Links that are up, as brokers say.",
        lambda fleet: sum(own.up is True for own in fleet.health),
    ),
    "links_carrying": (
        "Links that probes have crossed.",
        lambda fleet: sum(own.carries is True for own in fleet.health),
    ),
    "links_silent": (
        "Links that are up and carry nothing.",
        lambda fleet: sum(own.is_silent for own in fleet.health),
    ),
    "uninterested_copies": (
        "Copies of probes at brokers that are no end of their link, at the last look.",
        lambda fleet: sum(own.astray for own in fleet.health),
    ),
    "apply_gap_seconds": (
        "From the first closing to the last opening, when last applied.",
        lambda fleet: fleet.last_applied.get("gap_seconds", 0.0),
    ),
    "plan_waiting": (
        "Whether a plan waits to be applied.",
        lambda fleet: float(fleet.waiting() is not None),
    ),
    "fleet_paused": ("Whether the kill switch is pulled.", lambda fleet: float(fleet.paused)),
    "fleet_troubles": (
        "What keeps the fleet from being looked after.",
        lambda fleet: len(fleet.troubles),
    ),
}


def gauges_of(fleet: Reconciler) -> dict[str, tuple[str, float]]:
    """The gauges of a fleet, each with its meaning, by name."""
    return {name: (words, value(fleet)) for name, (words, value) in GAUGES.items()}
