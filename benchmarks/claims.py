"""Measure every claim of the papers again and print the verdicts.

    python -m benchmarks.claims [--study weighted] [--costs FILE] [--local 1] [--runs N] [--seed N]
    python -m benchmarks.claims --study stan [--universes STRONG MILD GROWING…] [--only figure-9]

Links of the study `weighted` cost what a rule draws, or, with a matrix of costs between sites, what that says
of the sites that nodes are put on; `local` is then what a link inside a site costs. Pairs that the matrix has
no number for cost as much as the cheapest path.

Universes of the study `stan` are synthetic, or datasets: one of strong and one of mild correlation, and some
of growing size.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from functools import partial

from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests
from meshwright.runtime.progress import ProgressBar
from meshwright.studies.claims import Claim, Finding, Scope, Verdict, check
from meshwright.studies.divide_and_conquer import study as divide_and_conquer
from meshwright.studies.shadows import study as shadows
from meshwright.studies.small_world import study as small_world
from meshwright.studies.stan import study as stan
from meshwright.studies.stan.study import Universes
from meshwright.studies.weighted import study as weighted
from meshwright.studies.weighted.cases import CostSetting, placed_on

_PAPER = Scope("paper")
_STUDIES: dict[str, Callable[[argparse.Namespace], Sequence[Claim]]] = {
    "divide-and-conquer": lambda options: divide_and_conquer.claims_at(_PAPER),
    "small-world": lambda options: tuple(small_world.claims_at(_PAPER)),
    "shadows": lambda options: shadows.claims_at(_PAPER),
    "weighted": lambda options: tuple(weighted.claims(_setting(options.costs, options.local))),
    "stan": lambda options: stan.claims(_universes(options.universes)),
}


def _universes(folders: Sequence[str]) -> Universes | None:
    if not folders:
        return None
    strong, mild, *growing = (partial(_same, Interests.read(folder)) for folder in folders)
    return Universes(strong=strong, mild=mild, growing=growing, told=", ".join(folders))


def _same(interests: Interests, seed: int) -> Interests:
    del seed
    return interests


def _setting(costs: str | None, local: float) -> CostSetting:
    if costs is None:
        return CostSetting()
    return CostSetting(underlay=placed_on(Costs.from_file(costs, missing="path"), local=local))


def show(found: Finding) -> None:
    """Print a claim, what came out, and why where it differs."""
    claim, ours = found.claim, found.measured
    print(f"{found.verdict.value:<14} {claim.name}: {claim.statement}")
    stated = f"{claim.expected.relation} {claim.expected.number:g}"
    print(f"{'':<14} {claim.source} states {stated}; {claim.how}")
    if ours is not None:
        print(
            f"{'':<14} ours {ours.mean:.4g}, variance {ours.variance:.3g}, "
            f"{ours.minimum:.4g} to {ours.maximum:.4g} in {ours.runs} runs"
        )
    if found.verdict is not Verdict.REPRODUCED:
        print(f"{'':<14} {claim.reason}")


def main() -> None:
    """Print some lines for each claim."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--study", nargs="+", choices=_STUDIES, default=list(_STUDIES))
    parser.add_argument("--costs", help="a matrix of costs between sites: CSV, Parquet or NPY")
    parser.add_argument("--local", type=float, default=1.0)
    parser.add_argument("--universes", nargs="*", default=[], help="datasets for the study stan")
    parser.add_argument("--only", default="", help="claims whose name has this in it")
    parser.add_argument("--runs", type=int, help="those of the paper, unless given")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print JSON, all of it at the end")
    options = parser.parse_args()
    found = []
    for study in options.study:
        for claim in _STUDIES[study](options):
            if options.only not in claim.name:
                continue
            found.append(check(claim, runs=options.runs, seed=options.seed, progress=ProgressBar()))
            if not options.json:
                show(found[-1])
    if options.json:
        print(json.dumps([one.to_json() for one in found], indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
