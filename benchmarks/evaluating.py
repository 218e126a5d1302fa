"""How the time to evaluate grows with the nodes: `python -m benchmarks.evaluating [--nodes 100000 1000000]`.

Interests: 1,000 topics, 28 subscriptions each, unif and zipf; the overlays are those of dcbc-direct. With
zipf, a few topics have nearly all nodes: here the budget for diameters counts. Seconds are those of all
processors, in this process, without compiling; the lower bound on links is included.
"""

import argparse
from time import process_time

import meshwright as mw
from meshwright.runtime.progress import StageTimer

_TOPICS = 1_000
_SUBSCRIPTIONS = 28
_LAWS = {"unif": mw.workloads.unif, "zipf": mw.workloads.zipf}


def measured(law: str, nodes: int) -> dict[str, object]:
    """A row of the table."""
    interests = _LAWS[law](nodes, _TOPICS, subscriptions=_SUBSCRIPTIONS, seed=1)
    overlay = mw.build(interests, "dcbc-direct", seed=1)
    timer = StageTimer(None)
    begin = process_time()
    found = mw.evaluate(overlay, progress=timer)
    seconds = process_time() - begin
    return {
        "law": law,
        "nodes": nodes,
        "links": len(overlay),
        "seconds": round(seconds, 1),
        "per million interests": round(seconds / len(interests) * 1e6, 2),
        "longest path": f"{found.maximum_topic_diameter_lower_bound} to {found.maximum_topic_diameter}",
        "mean": f"{found.mean_topic_diameter_lower_bound:.3f} to {found.mean_topic_diameter:.3f}",
    }


def main() -> None:
    """Print a row for each law and number of nodes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--nodes", type=int, nargs="+", default=[100_000, 300_000, 1_000_000])
    given = parser.parse_args()
    for law in _LAWS:
        measured(law, 2_000)
        for nodes in given.nodes:
            row = measured(law, nodes)
            print(
                "| "
                + " | ".join(f"{value:,}" if isinstance(value, int) else str(value) for value in row.values())
                + " |",
                flush=True,
            )


if __name__ == "__main__":
    main()
