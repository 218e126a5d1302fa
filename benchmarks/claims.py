"""Measure every claim of the papers again and print the verdicts: python -m benchmarks.claims [--runs N]."""

import argparse

from meshwright.progress import ProgressBar
from meshwright.studies import divide_and_conquer
from meshwright.studies.claims import check


def main() -> None:
    """Print a line for each claim."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, help="those of the paper, unless given")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for claim in divide_and_conquer.CLAIMS:
        found = check(claim, runs=options.runs, seed=options.seed, progress=ProgressBar())
        print(f"{found.verdict.value:<14} {claim.name}: {claim.statement}")
        print(f"{'':<14} {claim.source} states {claim.relation} {claim.expected:g}; {claim.how}")
        ours = found.measured
        if ours is not None:
            print(
                f"{'':<14} ours {ours.mean:.4g}, variance {ours.variance:.3g}, "
                f"{ours.minimum:.4g} to {ours.maximum:.4g} in {ours.runs} runs"
            )


if __name__ == "__main__":
    main()
