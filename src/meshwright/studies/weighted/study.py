"""The claims of [2], links that cost, from its section IX."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from meshwright.studies.claims import Claim, Scope
from meshwright.studies.weighted import clusters, interests, nodes
from meshwright.studies.weighted.cases import SETTINGS, CostSetting, access_delays, detours

_Readings = dict[str, tuple[str, dict[str, Any]]]

_UNDERLAYS: _Readings = {
    "detours": (
        "Every link has a factor of its own, so that nearness is no matter of place alone.",
        {"underlay": detours},
    ),
    "delays": (
        "Every node adds a delay of its own to its links, so that few links are cheap.",
        {"underlay": access_delays},
    ),
}
"""Other shapes of costs: those of [2], King and Meridian, can't be shipped."""

_FITTED: _Readings = {
    "fitted": (
        "All sizes of subscriptions between the bounds are equally likely, which of the laws tried fits "
        "Fig. 4 best.",
        {"size_exponent": 0.0},
    ),
}
"""A law that was fitted to numbers of the paper."""


def claims(setting: CostSetting) -> Iterator[Claim]:
    """What the paper states, each with its way of measuring, and variants by underlay and by law of sizes."""
    yield from _with_variants(setting, _placed, _FITTED | _UNDERLAYS)
    yield from _with_variants(setting, clusters.claims, _FITTED)


def _with_variants(
    setting: CostSetting, make: Callable[[CostSetting], Iterable[Claim]], readings: _Readings
) -> Iterator[Claim]:
    others = {
        suffix: {one.name: one for one in make(replace(setting, **changes))}
        for suffix, (_, changes) in readings.items()
    }
    for claim in make(setting):
        yield claim
        if claim.measure and not claim.variant_of:
            for suffix, (words, _) in readings.items():
                yield claim.variant(suffix, words, others[suffix][claim.name].measure)


def _placed(setting: CostSetting) -> tuple[Claim, ...]:
    return (*nodes.claims(setting), *interests.claims(setting))


def claims_at(scope: Scope) -> tuple[Claim, ...]:
    """The claims at a scale, with costs that are drawn by a rule."""
    return tuple(claims(SETTINGS[scope.scale]))
