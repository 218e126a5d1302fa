"""Divide and Conquer: Greedy Merge on parts, and Star Merge between them."""

import numpy as np

from meshwright.construct.lists import lists_of, split_lists
from meshwright.construct.options import DcOptions
from meshwright.construct.parts import (
    Part,
    Plan,
    combine,
    conquer,
    group_parts,
    map_parts,
    plan,
    threads_each,
)
from meshwright.construct.source import InProcess, shared_topics
from meshwright.kernels.arrays import Flags
from meshwright.model.built import Built
from meshwright.model.interests import Interests
from meshwright.progress import Progress, Ticks, run_with_ticks


def divide_and_conquer(
    interests: Interests, options: DcOptions, seed: int, progress: Progress | None
) -> Built:
    """Divide and Conquer (DC).

    Guarantee: topic-connected; at most O(p log(|V||T|)) times the least number of edges, for p parts. With
    one part it is Greedy Merge, edge for edge, and with a part for each node a greedy with other ties. The
    same seed gives the same overlay on any number of cores.

    Cost: that of Greedy Merge on each part, so |V|²|T|/p in all, and that of the stars, (p k̃)²|T| for
    star sets of k̃ nodes. Parts run in threads; each core needs the memory of one.

    Source: [1], Alg. 4 with Alg. 3 and 5. Where [1] combines all parts at once, we combine in a tree when
    they have more than `DcOptions.most_stars` stars.

    [1] Chen, Jacobsen, Vitenberg: Algorithms Based on Divide and Conquer for Topic-Based Publish/Subscribe
    Overlay Design, IEEE/ACM Transactions on Networking, 2016.
    """
    planned = plan(InProcess(interests), options, seed, progress)
    parts = _conquer_all(interests, planned, options, seed, progress)
    levels = 0
    while len(parts) > 1:
        parts = _combine_once(parts, interests.topic_count, options, progress)
        levels += 1
    return Built(edges=parts[0].edges, facts=facts_of(parts[0], levels, interests.node_count))


def _conquer_all(
    interests: Interests, planned: Plan, options: DcOptions, seed: int, progress: Progress | None
) -> list[Part]:
    members = split_lists(lists_of(interests), planned.part_of, planned.partitions)
    threads = threads_each(planned.partitions)

    def work(ticks: Ticks) -> list[Part]:
        def one(part: int) -> Part:
            return conquer(part, members[part], planned.shared, options, seed, ticks, threads)

        return map_parts(one, range(planned.partitions), ticks)

    # An interest is united with its topic's others in the part, but for one in each topic of each part.
    return run_with_ticks(work, "building the parts", len(interests), progress)


def _combine_once(
    parts: list[Part], topic_count: int, options: DcOptions, progress: Progress | None
) -> list[Part]:
    """One level of the tree of combines."""
    runs = group_parts([len(part.stars.nodes) for part in parts], options.most_stars)
    shared = _shared_by_run(parts, runs, topic_count)
    threads = threads_each(len(runs))

    def work(ticks: Ticks) -> list[Part]:
        def one(run: range) -> Part:
            if len(run) == 1:
                return parts[run.start]
            return combine(parts[run.start : run.stop], shared, options, ticks, threads)

        return map_parts(one, runs, ticks)

    return run_with_ticks(work, "combining the parts", 0, progress)


def _shared_by_run(parts: list[Part], runs: list[range], topic_count: int) -> Flags:
    """The topics that stars of more than one run have: a star set has all that another part has too."""
    owner_of = np.repeat(np.arange(len(runs), dtype=np.int32), [len(run) for run in runs])
    owners = np.repeat(owner_of, [len(part.stars.topic_ids) for part in parts])
    return shared_topics(np.concatenate([part.stars.topic_ids for part in parts]), owners, topic_count)


def facts_of(part: Part, levels: int, nodes: int) -> dict[str, int | float]:
    """What the algorithm reports of the part that all `nodes` have become by so many `levels` of combines."""
    counts = dict(part.facts)
    partitions, stars = counts.pop("parts"), counts.pop("stars")
    return {
        "partitions": partitions,
        "average_star_set_size": stars / partitions,
        **counts,
        "pn_ratio": counts["pn_size"] / max(1, nodes),
        "combine_levels": levels,
    }
