"""The claims of [2], links that cost, from its section IX."""

from collections.abc import Iterator
from dataclasses import replace

from meshwright.studies.claims import Claim, Scope
from meshwright.studies.weighted import clusters, interests, nodes
from meshwright.studies.weighted.cases import SETTINGS, CostSetting, access_delays, detours

_UNDERLAYS = {
    "detours": ("Every link has a factor of its own, so that nearness is no matter of place alone.", detours),
    "delays": (
        "Every node adds a delay of its own to its links, so that few links are cheap.",
        access_delays,
    ),
}
"""Other shapes of costs: those of [2], King and Meridian, can't be shipped."""


def claims(setting: CostSetting) -> Iterator[Claim]:
    """What the paper states, each with its way of measuring, and variants of all claims by underlay."""
    others = {
        suffix: {one.name: one for one in _placed(replace(setting, underlay=underlay))}
        for suffix, (_, underlay) in _UNDERLAYS.items()
    }
    for claim in _placed(setting):
        yield claim
        if claim.measure and not claim.variant_of:
            for suffix, (words, _) in _UNDERLAYS.items():
                yield claim.variant(suffix, words, others[suffix][claim.name].measure)
    yield from clusters.claims(setting)


def _placed(setting: CostSetting) -> tuple[Claim, ...]:
    return (*nodes.claims(setting), *interests.claims(setting))


def claims_at(scope: Scope) -> tuple[Claim, ...]:
    """The claims at a scale, with costs that are drawn by a rule."""
    return tuple(claims(SETTINGS[scope.scale]))
