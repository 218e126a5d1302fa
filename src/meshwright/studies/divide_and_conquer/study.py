"""The claims of [1], divide and conquer."""

from meshwright.studies.claims import Claim, Scope
from meshwright.studies.divide_and_conquer import merging, parts, scaling_figures, social


def claims_at(scope: Scope) -> tuple[Claim, ...]:
    """What the paper states, each with its way of measuring."""
    return (
        *social.claims(scope.scale, scope.data),
        *merging.claims(scope.scale),
        *parts.claims(scope.scale),
        *scaling_figures.claims(scope.scale),
    )
