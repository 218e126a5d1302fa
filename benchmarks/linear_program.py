"""Which part of the proved distance of dg to the optimum is the bound's, and stays however long it is raised?

    python -m benchmarks.linear_program [--workload NAME …] [--over 0.08] [--steps 6000] [--twitter FILE] …

The tight bound comes near the value of a linear program, the longer prices are raised. Here they are raised
for as long as they rise, and then moved further, to mix the trees under them: for each topic, a mean of
spanning trees; for each link, the greatest share over its topics. Such a mixture is a solution of the
program, so the program's value is at most that of the mixture, and at least what the certificate proves.

The workloads are those of `benchmarks.dual_guided`, with the same files, of at most 2,000 nodes, where dg is
above the tight bound by more than `over`. `tight` is what `evaluate --bound tight` proves, `longer` what the
longer search proves (the checker has checked it), `program` what the linear program is worth at most, all as
average degrees. `above` is how far dg is above what is proved, and `at least` how far above `program`: no
bound of this kind proves less. Seconds are the processor's.
"""

import argparse
import itertools
from concurrent.futures import ThreadPoolExecutor
from time import process_time

import numpy as np

import meshwright as mw
from benchmarks.dual_guided import WORKLOADS, add_file_options, chosen
from meshwright.construct.dual.ascent import Ascent, Climber
from meshwright.construct.dual.bound import Pricing, raised
from meshwright.kernels.dual.guiding import greatest_of_edges
from meshwright.kernels.dual.shares import Shares
from meshwright.kernels.dual.steps import average, step
from meshwright.kernels.dual.trees import span_topics, tree_room
from meshwright.metrics.certificate_checker import check
from meshwright.metrics.certificates import as_file
from meshwright.runtime.arrays import Flags, Floats

_MOST_NODES = 2_000
_RAISING = 1_500
"""Steps until the mixture begins."""

_WEIGHT = 0.03
"""Of the latest trees in the mean that gives the direction of a step."""

_LOOK = 100
"""Steps between two looks at the value of the mixture."""

_NEAR = 0.002
"""How near the mixture's value is to the prices' when the search ends."""


def span(shares: Shares, prices: Floats, taken: Flags) -> None:
    """Mark the minimum spanning trees of all topics."""
    taken[:] = False
    count = len(shares.components)
    span_topics(shares, prices, (0, count), taken, np.zeros(count), tree_room(shares))


def mixture_value(ascent: Ascent, steps: int) -> float:
    """The least value of a mixture of the trees that come up while prices move.

    A step goes along the mean of the latest trees, without a return to the best prices, and is as long as
    Polyak's rule asks for with the gap that is left. When the number of trees doubles, the first half of the
    mixture counts less: it is from worse prices.
    """
    shares, prices, trial = ascent.shares, ascent.prices.copy(), np.empty_like(ascent.prices)
    mean, mixture, taken = ascent.mean.copy(), np.zeros_like(ascent.mean), np.zeros(len(prices), np.bool_)
    least, weight, whole = float(greatest_of_edges(shares, mean).sum()), 0.0, (0, len(shares.edges))
    for done in range(1, steps + 1):
        length = (least - ascent.value) / float(np.sum(np.square(mean)))
        step(shares, prices, mean, length, whole, trial)
        prices, trial = trial, prices
        span(shares, prices, taken)
        average(mean, taken, _WEIGHT)
        weight = weight / 4 + 1 if done >= 2 * _LOOK and done.bit_count() == 1 else weight + 1
        average(mixture, taken, 1 / weight)
        if done % _LOOK == 0:
            least = min(least, float(greatest_of_edges(shares, mixture).sum()))
            if least <= ascent.value * (1 + _NEAR):
                break
    return least


def converged(interests: mw.Interests, steps: int) -> tuple[int, float]:
    """The links that a long search proves, and the value of the linear program at most."""
    pricing = Pricing(interests, None, with_demands=True)
    with ThreadPoolExecutor(1) as pool:
        climber = Climber(pool, 1)
        ascent = raised(pricing, climber, _RAISING)
        certificate = pricing.certificate(climber, ascent)
    topics = [interests.topic_ids[a:b].tolist() for a, b in itertools.pairwise(interests.indptr)]
    proved = check(topics, as_file(certificate, interests))
    return proved, mixture_value(ascent, steps)


def show(name: str, interests: mw.Interests, over: float, steps: int) -> None:
    """One line of the table, where dg is far enough above the tight bound."""
    begin = process_time()
    overlay = mw.build(interests, "dg")
    each = 2 / interests.node_count
    tight = mw.evaluate(overlay, diameters=False, bound="tight").lower_bound_average_degree or 0.0
    dg = each * len(overlay)
    if dg <= tight * (1 + over):
        seconds = process_time() - begin
        print(f"| {name} | {dg:.2f} | {tight:.2f} | | | {dg / tight - 1:.1%} | | {seconds:.0f} |", flush=True)
        return
    proved, program = (each * value for value in converged(interests, steps))
    print(
        f"| {name} | {dg:.2f} | {tight:.2f} | {proved:.2f} | {program:.2f} | {dg / proved - 1:.1%} | "
        f"{dg / program - 1:.1%} | {process_time() - begin:.0f} |",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workload", action="append", choices=WORKLOADS)
    parser.add_argument("--over", type=float, default=0.08)
    parser.add_argument("--steps", type=int, default=6_000)
    add_file_options(parser)
    given = parser.parse_args()
    print("| workload | dg | tight | longer | program | above | at least | seconds |")
    print("|" + " --- |" * 8)
    for name, load, file in chosen(given):
        interests = load.make(file)
        if interests.node_count <= _MOST_NODES:
            show(name, interests, given.over, given.steps)


if __name__ == "__main__":
    main()
