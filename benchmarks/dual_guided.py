"""How many links does Dual-guided Greedy save, how near to the optimum is it, and what does that take?

    python -m benchmarks.dual_guided [--workload NAME …] [--seeds 1]

Degrees are averages, 2 |E| / |V|, over the seeds; `saved` is how much less dg has than gm, `above` how far it
is above the tight bound, and `most` the maximum degree. Seconds are the processor's, which other work on the
machine disturbs less than the clock, after a call that compiles; those of the checker are for a certificate
that was read before.
"""

import argparse
import itertools
from collections.abc import Callable
from time import process_time
from typing import Any, NamedTuple

import numpy as np

import meshwright as mw
from meshwright.construct.dual.bound import LineCertificate
from meshwright.metrics.certificate_checker import FORMAT, VERSION, check

_WORKLOADS: dict[str, Callable[[], mw.Interests]] = {
    "unif 400 x 60": lambda: mw.workloads.unif(400, 60, subscriptions=12, seed=1),
    "zipf 400 x 200": lambda: mw.workloads.zipf(400, 200, subscriptions=15, seed=1),
    "expo 400 x 200": lambda: mw.workloads.expo(400, 200, subscriptions=15, seed=1),
    "unif 1,000 x 100": lambda: mw.workloads.unif(1_000, 100, subscriptions=20, seed=1),
    "unif 1,000 x 200": lambda: mw.workloads.unif(1_000, 200, seed=1),
    "zipf 1,000 x 200": lambda: mw.workloads.zipf(1_000, 200, seed=1),
    "expo 1,000 x 200": lambda: mw.workloads.expo(1_000, 200, seed=1),
    "unif 10,000 x 1,000": lambda: mw.workloads.unif(10_000, 1_000, seed=1),
    "zipf 10,000 x 1,000": lambda: mw.workloads.zipf(10_000, 1_000, seed=1),
    "expo 10,000 x 1,000": lambda: mw.workloads.expo(10_000, 1_000, seed=1),
}


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What some work gives, and its processor seconds."""
    begin = process_time()
    found = work()
    return found, process_time() - begin


def as_file(certificate: LineCertificate, interests: mw.Interests) -> dict[str, Any]:
    """A certificate as it is in a file."""
    ends = interests.topic_indptr
    lines = [
        {"nodes": certificate.nodes[a:b].tolist(), "gaps": certificate.gaps[a:b].tolist()}
        for a, b in itertools.pairwise(ends)
    ]
    head = {"format": FORMAT, "version": VERSION, "scale": certificate.scale, "edges": certificate.edges}
    return head | {"lines": lines}


class Builds(NamedTuple):
    """Means over some seeds."""

    degree: float
    most: float
    seconds: float


def built(interests: mw.Interests, algorithm: str, seeds: int) -> Builds:
    """What an algorithm builds."""
    found = [timed(lambda seed=seed: mw.build(interests, algorithm, seed=seed)) for seed in range(seeds)]
    degrees = [overlay.degrees() for overlay, _ in found]
    return Builds(
        float(np.mean(degrees)),
        float(np.mean([own.max() for own in degrees])),
        float(np.mean([seconds for _, seconds in found])),
    )


def show(name: str, interests: mw.Interests, seeds: int) -> None:
    """One line of the table."""
    gm, dg = (built(interests, algorithm, seeds) for algorithm in ("gm", "dg"))
    overlay = mw.build(interests, "gm")
    quick, quick_seconds = timed(lambda: mw.evaluate(overlay, diameters=False))
    tight, tight_seconds = timed(lambda: mw.evaluate(overlay, diameters=False, bound="tight"))
    bounds = interests.indptr
    topics = [interests.topic_ids[a:b].tolist() for a, b in itertools.pairwise(bounds)]
    file = as_file(tight.certificate, interests)
    edges, check_seconds = timed(lambda: check(topics, file))
    if 2 * edges != round(tight.lower_bound_average_degree * interests.node_count):
        raise SystemExit(f"{name}: the checker proves {edges} links, the evaluation says otherwise")
    bound = tight.lower_bound_average_degree
    print(
        f"| {name} | {gm.degree:.2f} | {dg.degree:.2f} | {1 - dg.degree / gm.degree:.1%} | "
        f"{gm.most:.0f} | {dg.most:.0f} | {quick.lower_bound_average_degree:.2f} | {bound:.2f} | "
        f"{dg.degree / bound - 1:.1%} | {gm.seconds:.1f} | {dg.seconds:.1f} | "
        f"{tight_seconds - quick_seconds:.1f} | {check_seconds:.1f} |",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workload", action="append", choices=_WORKLOADS)
    parser.add_argument("--seeds", type=int, default=1)
    given = parser.parse_args()
    small = mw.workloads.unif(50, 10, subscriptions=4, seed=1)
    mw.evaluate(mw.build(small, "dg"), bound="tight")
    print("| workload | gm | dg | saved | gm most | dg most | quick | tight | above | gm s | dg s | tight s "
          "| checker s |")  # fmt: skip
    print("|" + " --- |" * 13)
    for name in given.workload or list(_WORKLOADS):
        show(name, _WORKLOADS[name](), given.seeds)


if __name__ == "__main__":
    main()
