"""Table II of [1] on other samples of the same kind: do its orders hold?

    python -m benchmarks.social_tables --facebook ego-facebook.txt.gz --twitter ego-twitter.txt.gz

The Facebook file has a friendship `u v` a line and is taken whole; of the Twitter file, `follower followee` a
line, a breadth-first sample is taken. For each workload: degrees and topic diameters, with the number of
parts by Algorithm 5 and at most 20% bulk nodes, as in the paper. The greatest diameter is that of a single
topic and turns on how ties are settled: for `gm` on the Facebook file it is 9 with large-first ties, 27
shuffled and 47 with small-first. The mean over the topics does not.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import meshwright as mw
from benchmarks.social import follows_sample, friendships

_NAMES = ("dc", "dcbc", "dcbc-direct", "gm")
_FACTS = ("partitions", "threshold", "bulk")


def measure(interests: mw.Interests, seed: int) -> dict[str, mw.Evaluation]:
    """Every algorithm on the same interests."""
    found = {}
    for name in _NAMES:
        overlay = mw.build(interests, name, seed=seed)
        one = found[name] = mw.evaluate(overlay, bound=False)
        facts = {key: overlay.facts[key] for key in _FACTS if key in overlay.facts}
        print(
            f"  {name:12} degree {one.average_degree:6.2f}, greatest {one.maximum_degree:5,}; "
            f"topic diameter {one.mean_topic_diameter:5.2f}, greatest {one.maximum_topic_diameter:3} {facts}",
            flush=True,
        )
    return found


def orders(found: dict[str, mw.Evaluation]) -> Iterator[str]:
    """Which orders of Table II hold, and that of the diameters also in the mean of all topics."""
    by_diameter = ("dcbc", "gm", "dc")
    stated = {
        "degree: gm < dcbc < dc": [found[name].average_degree for name in ("gm", "dcbc", "dc")],
        "greatest diameter: dcbc < gm < dc": [found[name].maximum_topic_diameter for name in by_diameter],
        "mean diameter: dcbc < gm < dc": [found[name].mean_topic_diameter for name in by_diameter],
    }
    for label, (low, middle, high) in stated.items():
        yield f"  {label}: {'holds' if low < middle < high else 'does not hold'}"


def main() -> None:
    """Print a block for each workload."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--facebook", type=Path)
    parser.add_argument("--twitter", type=Path)
    parser.add_argument("--sample", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    workloads = {}
    if options.facebook:
        workloads["Facebook, whole"] = friendships(options.facebook)
    if options.twitter:
        sample = follows_sample(options.twitter, options.sample, options.seed)
        workloads[f"Twitter, {options.sample:,} nodes breadth first"] = sample
    for label, interests in workloads.items():
        print(
            f"{label}: {interests.node_count:,} nodes, {interests.topic_count:,} topics, "
            f"{len(interests):,} interests"
        )
        print("\n".join(orders(measure(interests, options.seed))))


if __name__ == "__main__":
    main()
