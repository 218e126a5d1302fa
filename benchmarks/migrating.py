"""What planning a migration costs: python -m benchmarks.migrating [--nodes 2000 10000] [--steps-of 20].

From the rings of all topics to gm, from gm to low-oda and back, on expo with a topic for every ten nodes and
20 topics a node. Prints a row of the table in `docs/migrate.md` for each. A small migration goes first, so
that compiling is not counted.
"""

import argparse
from time import process_time

import meshwright as mw


def print_rows(nodes: int, steps_of: int) -> None:
    """Print three rows."""
    interests = mw.workloads.expo(nodes, nodes // 10, subscriptions=20, seed=1)
    ring, gm, low_oda = (mw.build(interests, name) for name in ("ring", "gm", "low-oda"))
    for today, target in ((ring, gm), (gm, low_oda), (low_oda, gm)):
        begin = process_time()
        way = mw.migrate(today, target, steps_of)
        seconds = process_time() - begin
        print(
            f"| {nodes:,} | {nodes // 10:,} | {len(today):,} → {len(target):,} | {way.changes.num_rows:,} "
            f"| {way.most_links:,} | {seconds:.2f} |"
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=[500, 2_000, 10_000])
    parser.add_argument("--steps-of", type=int, default=20)
    options = parser.parse_args()
    small = mw.workloads.unif(50, 10, subscriptions=4)
    mw.migrate(mw.build(small, "ring"), mw.build(small, "gm"))
    for nodes in options.nodes:
        print_rows(nodes, options.steps_of)


if __name__ == "__main__":
    main()
