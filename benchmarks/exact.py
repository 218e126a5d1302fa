"""How far are gm and dg from the optimum, and how large are the interests that exact solves?

    python -m benchmarks.exact [--seeds 25] [--budget 30]
    python -m benchmarks.exact --largest [--law unif …] [--budget 600]

Small interests, by law and shape: nodes x topics, and the topics of each node. A ratio is the links of an
overlay over those of the optimum; only instances that exact has proved within the budget count, and the table
says how many that are. With `largest`, growing interests with a quarter as many topics as nodes, and 5 topics
for each node, by law, until one is not solved: all those of a law share one budget of seconds on the clock,
ten minutes for each law, so that the largest is solved in less than that. The links of gm, dg and exact, the
bound where the time was over, and the seconds of the processor and of the clock.
"""

import argparse
from time import perf_counter, process_time

import numpy as np

import meshwright as mw

_LAWS = ("unif", "zipf", "expo")
_FIRST_NODES = 80
_SHAPES = ((15, 8, 3), (20, 20, 4), (30, 12, 4), (40, 20, 5))


def interests_of(law: str, nodes: int, topics: int, each: int, seed: int) -> mw.Interests:
    """Interests of a law."""
    made: mw.Interests = getattr(mw.workloads, law)(nodes, topics, subscriptions=each, seed=seed)
    return made


def show_ratios(law: str, shape: tuple[int, int, int], seeds: int, budget: float) -> list[tuple[float, ...]]:
    """One line of the table; and the ratios, for the total."""
    found = []
    for seed in range(seeds):
        interests = interests_of(law, *shape, seed)
        least = mw.build(interests, "exact", budget=budget)
        if least.facts["optimal"]:
            found.append(tuple(len(mw.build(interests, name)) / len(least) for name in ("gm", "dg")))
    nodes, topics, each = shape
    print_ratios(f"{law} {nodes} x {topics}, {each} each", seeds, found)
    return found


def print_ratios(name: str, tried: int, found: list[tuple[float, ...]]) -> None:
    """Mean and worst ratio of gm and dg, and how often they are optimal."""
    cells = [
        f"{own.mean():.3f} | {own.max():.3f} | {np.mean(own == 1):.0%}"
        for own in np.array(found).reshape(-1, 2).T
    ]
    print(f"| {name} | {len(found)} of {tried} | {' | '.join(cells)} |", flush=True)


def show_largest(law: str, budget: float) -> None:
    """A line for each size that exact solves in what is left of the budget, and for the first it does not."""
    end, nodes, largest = perf_counter() + budget, _FIRST_NODES, "none"
    while True:
        interests = interests_of(law, nodes, nodes // 4, 5, 1)
        gm, dg = (len(mw.build(interests, name)) for name in ("gm", "dg"))
        clock, begin = perf_counter(), process_time()
        try:
            found = mw.build(interests, "exact", budget=max(1.0, end - clock))
        except mw.CapacityError as error:
            print(f"{law}: {error}")
            break
        is_solved = found.facts["optimal"]
        proved = "optimal" if is_solved else f"at least {found.facts['lower_bound']}"
        print(
            f"| {law} {nodes} x {nodes // 4} | {gm} | {dg} | {len(found)} | {proved} | "
            f"{found.facts['branches']} | {found.facts['inequalities']} | {process_time() - begin:.0f} | "
            f"{perf_counter() - clock:.0f} |",
            flush=True,
        )
        if not is_solved:
            break
        largest, nodes = f"{nodes} x {nodes // 4}", nodes * 5 // 16 * 4
    print(f"{law}: the largest solved is {largest}\n", flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=25)
    parser.add_argument("--budget", type=float)
    parser.add_argument("--largest", action="store_true")
    parser.add_argument("--law", nargs="+", choices=_LAWS, default=list(_LAWS))
    given = parser.parse_args()
    mw.build(interests_of("unif", 12, 6, 3, 0), "exact")
    if given.largest:
        print("| interests | gm | dg | exact | proved | branches | inequalities | processor s | clock s |")
        print("|" + " --- |" * 9)
        for law in given.law:
            show_largest(law, given.budget or 600)
        return
    print("| interests | proved | gm mean | gm worst | gm optimal | dg mean | dg worst | dg optimal |")
    print("|" + " --- |" * 8)
    every = [
        ratio
        for law in given.law
        for shape in _SHAPES
        for ratio in show_ratios(law, shape, given.seeds, given.budget or 30)
    ]
    print_ratios("all", given.seeds * len(_SHAPES) * len(given.law), every)


if __name__ == "__main__":
    main()
