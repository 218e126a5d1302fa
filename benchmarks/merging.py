"""What merging costs beside building from scratch: python -m benchmarks.merging [--parts 2 10 40] [--seed N].

Parts of 100 nodes each and 100 topics, as in [1], VIII-B, over what that leaves open: the number of parts and
the topics of a node. Prints average degrees, new links, and of Star Merge the pn-ratio and its pairs examined
over those of Naive Merge.
"""

import argparse

import meshwright as mw
from meshwright.studies.divide_and_conquer.merging import region

_WORKLOADS = {"unif": mw.workloads.unif, "zipf": mw.workloads.zipf, "expo": mw.workloads.expo}
_TOPICS_EACH = (5, 10, 20, 50)


def print_row(name: str, count: int, topics_each: int, seed: int) -> None:
    """Print a line for one workload."""
    interests = _WORKLOADS[name](nodes=100 * count, topics=100, subscriptions=topics_each, seed=seed)
    parts = [mw.build(region(interests, part), "gm", seed=seed) for part in range(count)]
    scratch = mw.build(interests, "gm", seed=seed)
    naive, star = (mw.merge(parts, algorithm, seed=seed) for algorithm in ("nm", "sm"))
    degrees = "".join(f"{2 * len(found) / interests.node_count:>7.2f}" for found in (scratch, naive, star))
    new = "".join(f"{found.facts['outer_edges']:>7,}" for found in (naive, star))
    work = star.facts["pairs_examined"] / naive.facts["pairs_examined"]
    print(f"{name} {count:>5} {topics_each:>6}{degrees}{new}{star.facts['pn_ratio']:>9.1%}{work:>9.1%}")


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parts", type=int, nargs="+", default=[2, 10, 40])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    print("     parts topics     gm     nm     sm new nm new sm pn-ratio    pairs")
    for name in _WORKLOADS:
        for count in options.parts:
            for topics_each in _TOPICS_EACH:
                print_row(name, count, topics_each, options.seed)


if __name__ == "__main__":
    main()
