"""What costs add to the time of repairs, and what they save.

    python -m benchmarks.churn_costs [--nodes N] [--rounds N]

Interests as in the paper on churn: unif, 200 topics, 10 to 90 subscriptions. Nodes are at random places in
the plane, and a link costs 1 plus the distance. The same rounds of churn are repaired without costs and with
them; of five passes, the least time of each round counts. Costs of links that were chosen without costs are
looked up afterwards. Then the links of a start are chosen, for an overlay without links.
"""

import argparse
from time import process_time

import numpy as np

import meshwright as mw

_PASSES = 5


def places(names: list[str]) -> mw.Costs:
    """Costs by distance."""
    drawn = np.random.default_rng(0).uniform(0, 100, (len(names), 2))
    return mw.Costs.coordinates(dict(zip(names, drawn.tolist(), strict=True)), base=1, metric="euclidean")


def milliseconds(
    overlay: mw.Overlay, events: list[mw.Event], policy: str, costs: mw.Costs | None
) -> tuple[dict[str, float], mw.Maintainer]:
    """The median time of a join and of a leave, and the maintainer afterwards."""
    passes = []
    for _ in range(_PASSES):
        live = mw.Maintainer(overlay, policy, costs=costs)
        passes.append([live.apply([event]).repair_seconds for event in events])
    least = 1e3 * np.min(passes, axis=0)
    kinds = np.array([event.event for event in events])
    return {kind: float(np.median(least[kinds == kind])) for kind in ("join", "leave")}, live


def spent(live: mw.Maintainer, costs: mw.Costs) -> float:
    """What all links cost, whether or not the maintainer knew."""
    overlay = live.overlay
    return float(costs.of(overlay.interests).between(overlay.edges[:, 0], overlay.edges[:, 1]).sum())


def repairs(overlay: mw.Overlay, events: list[mw.Event], costs: mw.Costs) -> None:
    """Print the time of repairs, and the overlay after them."""
    print(
        f"{'policy':<8} {'costs':<6} {'join ms':>8} {'leave ms':>8} {'links':>7} {'cost':>9} {'maximum':>8}"
    )
    for policy in ("shadow", "naive"):
        for given in (None, costs):
            times, live = milliseconds(overlay, events, policy, given)
            numbers = (
                f"{times['join']:8.3f} {times['leave']:8.3f} {live.link_count:7,} {spent(live, costs):9,.0f}"
            )
            print(
                f"{policy:<8} {'no' if given is None else 'yes':<6} {numbers} {live.maximum_degree:8}",
                flush=True,
            )


def start(interests: mw.Interests, costs: mw.Costs) -> None:
    """Print the time to connect an overlay without links."""
    bare = mw.Overlay.from_edges(interests, [])
    for given in (None, costs):
        begin = process_time()
        live = mw.Maintainer(bare, "naive", costs=given)
        seconds, links = process_time() - begin, f"{live.link_count:,} links"
        name = "without" if given is None else "with"
        print(f"start {name} costs: {seconds:.2f} s, {links} at a cost of {spent(live, costs):,.0f}")


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--nodes", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=1_000)
    given = parser.parse_args()
    interests = mw.workloads.unif(given.nodes, 200, min_subscriptions=10, max_subscriptions=90, seed=1)
    events = mw.workloads.churn(interests, given.rounds, seed=2)
    joining = [event.node for event in events if event.event == "join"]
    costs = places([*interests.nodes.to_pylist(), *joining])
    repairs(mw.build(interests, "low-oda"), events, costs)
    start(interests, costs)


if __name__ == "__main__":
    main()
