"""Claims of [3], VI-A, on backups and primaries: Fig. 2 and 3."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from meshwright.studies.claims import Claim, about
from meshwright.studies.shadows.runs import (
    BY_LINKS,
    COVER,
    MORE_COVERS,
    Burdens,
    ChurnSetting,
    OtherWay,
    Way,
    burdens,
)
from meshwright.studies.tolerances import QUOTIENT, RANDOM

GREEDY, PRIMAL_DUAL = Way(backups="greedy"), Way()
_OTHER_WAYS: dict[Way, tuple[OtherWay, ...]] = {GREEDY: (BY_LINKS, COVER), PRIMAL_DUAL: (MORE_COVERS,)}
_CONTRADICTED = (
    "The paper's numbers contradict each other. A shadow set holds the backup set of the node that left, so "
    "it can't be smaller; but its mean is given as 1.59% of the nodes, and that of backup sets as 2.8%. And "
    "there are as many primaries as backups in all, so 2.8% of 2,000 nodes are 56 primaries on average; but "
    "they are said to rise linearly from 21 to 59."
)


class _Stated(NamedTuple):
    figure: str
    name: str
    statement: str
    expected: float
    value: Callable[[Burdens], float]
    reason: str = ""


def _share(found: Burdens) -> float:
    return float(found.backups.mean() / len(found.backups))


_STATED = (
    _Stated(
        "2", "greedy-backups", "Backup sets by the greedy algorithm have 1.1% of the nodes.", 0.011, _share
    ),
    _Stated(
        "2",
        "greedy-most-primaries",
        "By the greedy algorithm the highest primary degree is 581.",
        581,
        lambda found: float(found.primaries.max()),
    ),
    _Stated(
        "2",
        "greedy-few-primaries",
        "By the greedy algorithm 42.9% of the nodes have less than 5 primaries.",
        0.429,
        lambda found: float((found.primaries < 5).mean()),
    ),
    _Stated(
        "3",
        "primal-dual-backups",
        "Backup sets by the primal-dual algorithm have 2.8% of the nodes.",
        0.028,
        _share,
        _CONTRADICTED,
    ),
    _Stated(
        "3",
        "primal-dual-fewest-primaries",
        "By the primal-dual algorithm the lowest primary degree is 21.",
        21,
        lambda found: float(found.primaries.min()),
        _CONTRADICTED,
    ),
    _Stated(
        "3",
        "primal-dual-most-primaries",
        "By the primal-dual algorithm the highest primary degree is 59.",
        59,
        lambda found: float(found.primaries.max()),
        _CONTRADICTED,
    ),
)
_claim = partial(Claim, source="[3], VI-A, Fig. 2 and 3")


def claims(setting: ChurnSetting) -> Iterator[Claim]:
    """What the paper states on backups, before any churn."""
    for stated in _STATED:
        way = GREEDY if stated.figure == "2" else PRIMAL_DUAL
        claim = _claim(
            name=f"shadows-figure-{stated.figure}-{stated.name}",
            statement=stated.statement,
            expected=about(stated.expected, RANDOM),
            how=f"Coverage {way.coverage}; unif, {setting.nodes:,} nodes, {setting.topics:,} topics.",
            measure=partial(_measure, setting, way, stated.value),
            reason=stated.reason,
        )
        yield claim
        for other in _OTHER_WAYS[way]:
            yield claim.variant(
                other.suffix, other.hypothesis, partial(_measure, setting, other.way, stated.value)
            )
    yield _claim(
        name="shadows-figure-3-over-2-backups",
        statement="Greedy gives smaller backup sets than primal-dual: by 2.8 to 1.1.",
        expected=about(2.8 / 1.1, QUOTIENT),
        how="Mean size by primal-dual over that by greedy.",
        measure=lambda seed: float(
            burdens(setting, PRIMAL_DUAL, seed).backups.sum() / burdens(setting, GREEDY, seed).backups.sum()
        ),
    )


def _measure(setting: ChurnSetting, way: Way, value: Callable[[Burdens], float], seed: int) -> float:
    return value(burdens(setting, way, seed))
