"""The claims of [2], links that cost, from its section IX."""

from meshwright.studies.claims import Claim
from meshwright.studies.weighted import clusters, interests, nodes
from meshwright.studies.weighted.cases import CostSetting

QUICK = CostSetting(
    nodes=(100, 500), topics=(100, 400), middles=(60, 120), nodes_then=200, clustered_nodes=(1_000, 2_000)
)
"""Few systems, in seconds; with the verdicts of all."""


def claims(setting: CostSetting) -> tuple[Claim, ...]:
    """What the paper states, each with its way of measuring on the systems of a setting."""
    return (
        *nodes.claims(setting),
        *interests.claims(setting),
        *clusters.claims(setting),
    )


CLAIMS = claims(CostSetting())
"""At the sizes of the paper, with costs that are drawn by a rule."""


def claims_at(scale: str) -> tuple[Claim, ...]:
    """The claims, on small systems at the scale "quick"."""
    return claims(QUICK) if scale == "quick" else CLAIMS
