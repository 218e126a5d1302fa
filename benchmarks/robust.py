"""What do overlays cost that survive a failure, or keep to a cap, and what do they deliver?

    python -m benchmarks.robust resilience|parts|load|caps|costs|failing|random|churn [--workload NAME …]
                                [--data FOLDER] [--nodes 1000] [--count 1000] [--resilience 1 2]

resilience: links per node of gm and dg, of their resilient forms, and the lower bound; whether all topics of
three or more survive every single failure, by networkx; and processor seconds beside gm's, medians of five in
turn, and the ratio of both by the clock.
parts: links per node of the algorithms in parts, and of their resilient forms.
load: the greatest expected load of a node by ties of gm, with random rates of topics (Pareto, 1.2).
caps: links per node within max_links from 4 to 64, the answer where there is none, and gm at the maximum
degree of low-oda. costs: what gr-maw and dg-maw cost within caps, and with spares, where a link costs 1 and
the distance of its ends, random points of a square of 100 x 100; the seconds are for all six overlays.
failing: the share of live subscribers that a publication of a random live subscriber still reaches while some
of all nodes are down.
Unless named, the workloads are those of 400 and 1,000 nodes, and, with a folder of real data (as for
`benchmarks.which_algorithm`), `--nodes` of each.
random: small random interests, each checked by networkx. churn: `--count` random events on 2,000 nodes with
resilience 2 and a cap of 24; every thousandth overlay is checked by networkx.
"""

import argparse
import itertools
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import networkx as nx
import numpy as np
import pyarrow as pa
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import meshwright as mw
from benchmarks.which_algorithm import workloads as social_workloads

WORKLOADS: dict[str, Callable[[], mw.Interests]] = {
    "unif 400 x 60": lambda: mw.workloads.unif(400, 60, subscriptions=12, seed=1),
    "zipf 400 x 200": lambda: mw.workloads.zipf(400, 200, subscriptions=15, seed=1),
    "expo 400 x 200": lambda: mw.workloads.expo(400, 200, subscriptions=15, seed=1),
    "unif 1,000 x 100": lambda: mw.workloads.unif(1_000, 100, subscriptions=20, seed=1),
    **{
        f"{law} {nodes:,} x {topics:,}": partial(getattr(mw.workloads, law), nodes, topics, seed=1)
        for nodes in (1_000, 10_000)
        for topics in (200, 1_000)
        for law in ("unif", "zipf", "expo")
    },
}


def real(folder: Path, nodes: int) -> dict[str, Callable[[], mw.Interests]]:
    """A sample of each set of real data in a folder."""
    synthetic = ("unif", "zipf", "expo")
    found = {name: own for name, own in social_workloads(folder, nodes) if name not in synthetic}
    return {name: lambda own=own: own for name, own in found.items()}


_SMALL = [name for name, make in WORKLOADS.items() if "10,000" not in name]
_CAPS = (4, 8, 16, 32, 64)
_DOWN = (0.01, 0.05, 0.1)
_DRAWS = 20

_TURNS = 5


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """What some work gives, its processor seconds, and its seconds by the clock."""
    begin, began = process_time(), perf_counter()
    found = work()
    return found, process_time() - begin, perf_counter() - began


def in_turn(*works: Callable[[], Any]) -> list[tuple[Any, float, float]]:
    """`timed` for several: medians over turns, in each of which all are done. The first is not counted."""
    turns = [[timed(work) for work in works] for _ in range(_TURNS + 1)][1:]
    return [
        (done[0][0], median(own[1] for own in done), median(own[2] for own in done))
        for done in zip(*turns, strict=True)
    ]


def topics_of(overlay: mw.Overlay) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Of each topic: its subscribers, and its links as pairs of their ranks."""
    interests, edges = overlay.interests, overlay.edges
    rank = np.full(interests.node_count, -1)
    for first, last in itertools.pairwise(interests.topic_indptr.tolist()):
        members = interests.node_ids[first:last]
        rank[members] = np.arange(len(members))
        ends = rank[edges]
        yield members, ends[(ends >= 0).all(axis=1)]
        rank[members] = -1


def survives(size: int, links: np.ndarray) -> bool:
    """Whether a topic stays connected without any one of its subscribers; by networkx."""
    graph = nx.empty_graph(size)
    graph.add_edges_from(links.tolist())
    return size < 2 or (nx.is_connected(graph) and (size < 3 or nx.is_biconnected(graph)))


def surviving(overlay: mw.Overlay) -> str:
    """How many of the topics of three or more survive every single failure."""
    found = [survives(len(members), links) for members, links in topics_of(overlay) if len(members) > 2]
    return f"{sum(found)} of {len(found)}"


def resilience(names: list[str]) -> None:
    """Print the table of resilient overlays."""
    print("| workload | gm | resilient gm | dg | resilient dg | lower bound | surviving | most links: gm | "
          "resilient gm | gm s | resilient gm s | times | by the clock |")  # fmt: skip
    print("|" + " --- |" * 13)
    for name in names:
        interests = WORKLOADS[name]()
        (gm, gm_seconds, gm_clock), (ours, seconds, clock) = in_turn(
            partial(mw.build, interests, "gm"), partial(mw.build, interests, "gm", resilience=2)
        )
        dual = [mw.build(interests, "dg", resilience=k) for k in (1, 2)]
        degrees = [f"{2 * len(own) / interests.node_count:.2f}" for own in dual]
        bound = ours.facts["least_links"]
        least = float("nan") if bound is None else 2 * bound / interests.node_count
        print(
            f"| {name} | {2 * len(gm) / interests.node_count:.2f} | "
            f"{2 * len(ours) / interests.node_count:.2f} | "
            f"{degrees[0]} | {degrees[1]} | {least:.2f} | {surviving(ours)} | {gm.degrees().max()} | "
            f"{ours.degrees().max()} | {gm_seconds:.2f} | {seconds:.2f} | {seconds / gm_seconds:.1f} | "
            f"{clock / gm_clock:.1f} |",
            flush=True,
        )


def parts(names: list[str]) -> None:
    """Print the table of overlays that are built in parts, with the most links of a node."""
    kinds = ("dc", "dcbc", "dcbc-direct")
    print(f"| workload | {' | '.join(f'{name} | resilient' for name in kinds)} | topics cut by a failure |")
    print("|" + " --- |" * (2 * len(kinds) + 2))
    for name in names:
        interests = WORKLOADS[name]()
        built = [mw.build(interests, kind, resilience=k) for kind in kinds for k in (1, 2)]
        cells = [f"{2 * len(own) / interests.node_count:.2f} ({own.degrees().max()})" for own in built]
        cut = sum(mw.evaluate(own).cut_nodes_topics for own in built[1::2])
        print(f"| {name} | {' | '.join(cells)} | {cut} |", flush=True)


def load(names: list[str]) -> None:
    """Print the greatest expected load, and links per node, by how ties are settled."""
    kinds = ("shuffled", "small-first", "load")
    print(f"| workload | {' | '.join(kinds)} |")
    print("|" + " --- |" * (len(kinds) + 1))
    for name in names:
        interests = WORKLOADS[name]()
        rates = np.random.default_rng(1).pareto(1.2, interests.topic_count) + 0.1
        interests = replace(interests, topic_attributes=pa.table({"rate": rates}))
        built = [mw.build(interests, "gm", ties=ties) for ties in kinds]
        cells = [
            f"{mw.expected_load(own).maximum:,.0f} ({2 * len(own) / interests.node_count:.2f})"
            for own in built
        ]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def capped(interests: mw.Interests, cap: int, resilience: int, why: list[str] | None = None) -> str:
    """Links per node within a cap, or why there are none."""
    try:
        overlay = mw.build(interests, "gm", max_links=cap, resilience=resilience)
    except mw.InfeasibleError as error:
        if why is not None:
            why.append(f"cap {cap}, resilience {resilience}: {error}")
        return "proved impossible" if error.proved else f"not found ({error.missing:,} joins missing)"
    assert overlay.degrees().max() <= cap
    return f"{2 * len(overlay) / interests.node_count:.2f}"


def caps(names: list[str], levels: Sequence[int] = (1, 2)) -> None:
    """Print the table of capped overlays, without and with resilience."""
    heads = " | ".join(f"cap {cap}" for cap in _CAPS)
    print(f"| workload | resilience | uncapped (most) | {heads} | low-oda (most) | gm with this cap |")
    print("|" + " --- |" * (len(_CAPS) + 5))
    for name in names:
        interests, why = WORKLOADS[name](), list[str]()
        for k in levels:
            free = mw.build(interests, "gm", resilience=k)
            cells = [capped(interests, cap, k, why) for cap in _CAPS]
            beside = ["", ""]
            if k == 1:
                low = mw.build(interests, "low-oda")
                most = int(low.degrees().max())
                beside = [f"{2 * len(low) / interests.node_count:.2f} ({most})", capped(interests, most, 1)]
            average = f"{2 * len(free) / interests.node_count:.2f} ({free.degrees().max()})"
            print(f"| {name} | {k} | {average} | {' | '.join([*cells, *beside])} |", flush=True)
        print("\n".join(f"  {name}: {line}" for line in why), file=sys.stderr, flush=True)


def costs(names: list[str]) -> None:
    """Print what overlays by cost come to within caps, with spares, and with both."""
    heads = ("no cap", "one less", "16", "resilient", "one less", "16")
    print(f"| workload | algorithm | {' | '.join(heads)} | seconds |")
    print("|" + " --- |" * (len(heads) + 3))
    for name in names:
        interests = WORKLOADS[name]()
        points = np.random.default_rng(1).uniform(0, 100, (interests.node_count, 2)).tolist()
        places = dict(zip(interests.nodes.to_pylist(), points, strict=True))
        prices = mw.Costs.coordinates(places, metric="euclidean", base=1)
        for algorithm in ("gr-maw", "dg-maw"):
            cells, begin = [], process_time()
            for k in (1, 2):
                free = mw.build(interests, algorithm, costs=prices, resilience=k)
                most = int(free.degrees().max())
                cells.append(f"{free.costs.sum():,.0f} ({most})")
                for cap in (most - 1, 16):
                    try:
                        own = mw.build(interests, algorithm, costs=prices, resilience=k, max_links=cap)
                        assert own.degrees().max() <= cap
                        cells.append(f"{own.costs.sum():,.0f} ({own.degrees().max()})")
                    except mw.InfeasibleError as error:
                        cells.append("impossible" if error.proved else f"not found ({error.missing:,})")
            print(
                f"| {name} | {algorithm} | {' | '.join(cells)} | {process_time() - begin:.1f} |", flush=True
            )


def delivered(
    topics: Sequence[tuple[np.ndarray, np.ndarray]], down: np.ndarray, rng: np.random.Generator
) -> tuple[int, int]:
    """Live subscribers reached by one publication in each topic, and live subscribers in all."""
    reached = wanted = 0
    for members, links in topics:
        alive = ~down[members]
        if alive.sum() < 2:
            continue
        live = links[alive[links].all(axis=1)] if len(links) else links.reshape(-1, 2)
        shape = (len(members), len(members))
        graph = coo_array((np.ones(len(live)), (live[:, 0], live[:, 1])), shape=shape)
        labels = connected_components(graph, directed=False)[1]
        publisher = rng.choice(np.flatnonzero(alive))
        reached += int((alive & (labels == labels[publisher])).sum()) - 1
        wanted += int(alive.sum()) - 1
    return reached, wanted


def failing(names: list[str]) -> None:
    """Print the table of what is delivered while nodes are down."""
    kinds = [(algorithm, k) for algorithm in ("gm", "low-oda", "dg") for k in (1, 2)]
    heads = [f"{algorithm}{' resilient' if k > 1 else ''}" for algorithm, k in kinds]
    print(f"| workload | down | {' | '.join(heads)} |")
    print("|" + " --- |" * (len(kinds) + 2))
    for name in names:
        interests = WORKLOADS[name]()
        built = [list(topics_of(mw.build(interests, algorithm, resilience=k))) for algorithm, k in kinds]
        for share in _DOWN:
            cells = []
            for topics in built:
                rng, sums = np.random.default_rng(7), np.zeros(2)
                for _ in range(_DRAWS):
                    down = np.zeros(interests.node_count, bool)
                    down[rng.choice(interests.node_count, round(share * interests.node_count), False)] = True
                    sums += delivered(topics, down, rng)
                cells.append(f"{sums[0] / sums[1]:.1%}")
            print(f"| {name} | {share:.0%} | {' | '.join(cells)} |", flush=True)


def random(count: int) -> None:
    """Check small random interests, resilient and within random caps."""
    rng = np.random.default_rng(1)
    topics = lost = met = proved = not_found = 0
    for turn in range(count):
        nodes, many = int(rng.integers(3, 30)), int(rng.integers(1, 10))
        wants = rng.random((nodes, many)) < rng.uniform(0.1, 0.9)
        interests = mw.Interests.from_scipy(wants.astype(np.int32))
        algorithm = ("gm", "dg", "dc", "dcbc", "dcbc-direct")[turn % 5]
        overlay = mw.build(interests, algorithm, resilience=2, seed=turn)
        found = [survives(len(members), links) for members, links in topics_of(overlay) if len(members) > 2]
        topics, lost = topics + len(found), lost + len(found) - sum(found)
        try:
            cap = int(rng.integers(2, 9))
            overlay = mw.build(interests, algorithm, resilience=2, max_links=cap, seed=turn)
        except mw.InfeasibleError as error:
            proved, not_found = proved + error.proved, not_found + (not error.proved)
            continue
        met += 1
        assert overlay.degrees().max() <= cap
        assert all(survives(len(members), links) for members, links in topics_of(overlay))
    print(f"{count} interests: {topics} topics of three or more, {lost} that some failure cuts")
    print(f"with a cap from 2 to 8: {met} met, {proved} proved impossible, {not_found} not found")


def churn(count: int, nodes: int = 2_000, topics: int = 100, own: int = 10, cap: int = 24) -> None:
    """Apply random events, and print what they changed and how long spares were missing."""
    interests = mw.workloads.unif(nodes, topics, subscriptions=own, seed=1)
    names, rng = interests.topics.to_pylist(), np.random.default_rng(1)
    live = mw.Maintainer(mw.build(interests, "gm", resilience=2, max_links=cap), resilience=2, max_links=cap)
    here, gone = interests.nodes.to_pylist(), []
    changes = lacking = longest = row = over = checked = 0
    begin = process_time()
    for turn in range(1, count + 1):
        kind, at = int(rng.integers(4)), int(rng.integers(len(here)))
        node, some = here[at], [names[topic] for topic in rng.choice(topics, own, replace=False)]
        if kind == 0 and gone:
            here.append(gone.pop(int(rng.integers(len(gone)))))
            repair = live.join(here[-1], some)
        elif kind == 1 and len(here) > nodes * 3 // 4:
            here[at] = here[-1]
            here.pop()
            gone.append(node)
            repair = live.leave(node)
        elif kind == 2 or len(live.topics_of(node)) < own:
            repair = live.subscribe(node, some[:1])
        else:
            repair = live.unsubscribe(node, sorted(live.topics_of(node))[:1])
        changes += len(repair.added) + len(repair.removed)
        row = row + 1 if repair.unprotected else 0
        lacking, longest = lacking + bool(row), max(longest, row)
        over += bool(repair.over_max_links)
        if turn % 1_000 == 0:
            overlay = live.overlay
            cut = sum(not survives(len(members), links) for members, links in topics_of(overlay))
            assert cut == len(repair.unprotected)
            assert overlay.degrees().max() <= cap or repair.over_max_links
            checked += 1
        if turn % 10_000 == 0:
            spent, links = process_time() - begin, live.average_degree
            print(f"{turn:,} events: spares missing after {lacking:,}, cap exceeded after {over:,}, "
                  f"{links:.2f} links per node, {spent:.0f} s", flush=True)  # fmt: skip
    seconds = process_time() - begin
    print(
        f"{count:,} events, {1e3 * seconds / count:.1f} ms and {changes / count:.2f} links changed for each"
    )
    print(f"spares missing after {lacking:,} events, {longest} in a row at most; cap exceeded after {over:,}")
    print(f"links per node {live.average_degree:.2f}, most {live.maximum_degree}; checked {checked} times")


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    tables: dict[str, Callable[[list[str]], None]] = {
        "resilience": resilience,
        "parts": parts,
        "load": load,
        "caps": caps,
        "costs": costs,
        "failing": failing,
    }
    counted = {"random": random, "churn": churn}
    parser.add_argument("table", choices=[*tables, *counted])
    parser.add_argument("--workload", action="append", help="its name in a table; several may be given")
    parser.add_argument("--data", type=Path, help="a folder of real data")
    parser.add_argument("--nodes", type=int, default=1_000, help="nodes of each set of real data")
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--resilience", type=int, nargs="+", default=[1, 2], help="for caps")
    given = parser.parse_args()
    tables["caps"] = partial(caps, levels=given.resilience)
    warnings.simplefilter("ignore")
    small = mw.workloads.unif(50, 10, subscriptions=4, seed=1)
    for options in ({"resilience": 2}, {"resilience": 2, "max_links": 6}, {"max_links": 4}):
        mw.build(small, "gm", **options)
    if given.table in counted:
        counted[given.table](given.count)
    else:
        found = real(given.data, given.nodes) if given.data else {}
        WORKLOADS.update(found)
        for name in given.workload or ():
            if name not in WORKLOADS:
                parser.error(f"there is no workload {name!r}; there are {', '.join(WORKLOADS)}")
        tables[given.table](given.workload or [*_SMALL, *found])


if __name__ == "__main__":
    main()
