"""The claims of [3], overlays under churn, from its section VI."""

from meshwright.studies.claims import Claim
from meshwright.studies.shadows import backups, degrees, repairs
from meshwright.studies.shadows.runs import ChurnSetting

QUICK = ChurnSetting(nodes=200, topics=60, least=4, most=30, rounds=60, span=20, rebuilt=2)
"""A small fleet, in seconds."""


def claims(setting: ChurnSetting) -> tuple[Claim, ...]:
    """What the paper states, each with its way of measuring on a fleet of a setting."""
    return (
        *backups.claims(setting),
        *degrees.claims(setting),
        *repairs.claims(setting),
    )


CLAIMS = claims(ChurnSetting())
"""At the sizes of the paper."""


def claims_at(scale: str) -> tuple[Claim, ...]:
    """The claims, on small systems at the scale "quick"."""
    return claims(QUICK) if scale == "quick" else CLAIMS
