"""How many links does Dual-guided Greedy save, how near to the optimum is it, and what does that take?

    python -m benchmarks.dual_guided [--workload NAME …] [--seeds 3] [--facebook FILE] [--twitter FILE]
        [--groups FILE] [--genres FILE]

Files of real data add their workloads: friendships, `u v` on each line; follows, `follower followee`;
memberships, `user<TAB>group`; and a JSON object of a user's genres on each line. `~` samples: of follows a
breadth-first one, else users at random.

Both algorithms get the same interests and the same seeds, each in a process of its own; degrees are averages,
2 |E| / |V|, over the seeds. `saved` is how much less dg has than gm, `at most` what the tight bound leaves:
no algorithm can save more. `above` is the proved distance: how far dg is above the bound. `most` is the
maximum degree. Time is the processor's, which other work on the machine disturbs less than the clock, after a
build that compiles; memory is what building adds to the peak of the process; both as multiples of gm's.
`tight s` is what the bound takes, `checker s` its checker, for a certificate that was read before.
"""

import argparse
import gzip
import itertools
import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

import meshwright as mw
from benchmarks.social import follows_sample, friendships
from meshwright.metrics.certificate_checker import check
from meshwright.metrics.certificates import as_file

Row = dict[str, Any]


class Workload(NamedTuple):
    """Interests, and of which table: `fixed` sizes, `law` (sizes by a power law), or a file."""

    kind: str
    make: Callable[[Path | None], mw.Interests]


def pairs_of(path: Path) -> Iterable[tuple[str, str]]:
    """The pairs of `user<TAB>group` lines, or of JSON objects of a user and the genres."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("{"):
                user, genres = json.loads(line).values()
                yield from ((str(user), genre) for genre in genres)
            elif not line.startswith("#"):
                user, group = line.split()
                yield user, group


def users_sample(path: Path | None, nodes: int | None) -> mw.Interests:
    """Some users at random, or all, with all their topics."""
    pairs = list(pairs_of(Path(path or "")))
    if nodes is None:
        return mw.Interests.from_pairs(pairs)
    users = sorted({user for user, _ in pairs})
    chosen = set(np.random.default_rng(1).permutation(users)[:nodes].tolist())
    return mw.Interests.from_pairs(pair for pair in pairs if pair[0] in chosen)


def _law(name: str, nodes: int, topics: int) -> Workload:
    return Workload("law", lambda _: getattr(mw.workloads, name)(nodes, topics, seed=1))


def _fixed(name: str, nodes: int, topics: int, each: int) -> Workload:
    make = getattr(mw.workloads, name)
    return Workload("fixed", lambda _: make(nodes, topics, subscriptions=each, seed=1))


WORKLOADS: dict[str, Workload] = {
    "unif 400 x 60": _fixed("unif", 400, 60, 12),
    "zipf 400 x 200": _fixed("zipf", 400, 200, 15),
    "expo 400 x 200": _fixed("expo", 400, 200, 15),
    "unif 1,000 x 100": _fixed("unif", 1_000, 100, 20),
    **{
        f"{name} {nodes:,} x {topics:,}": _law(name, nodes, topics)
        for nodes in (1_000, 10_000)
        for topics in (200, 1_000)
        for name in ("unif", "zipf", "expo")
    },
    "Facebook": Workload("facebook", lambda path: friendships(Path(path or ""))),
    "Twitter ~ 1,000": Workload("twitter", lambda path: follows_sample(Path(path or ""), 1_000, 1)),
    "Twitter ~ 10,000": Workload("twitter", lambda path: follows_sample(Path(path or ""), 10_000, 1)),
    "YouTube groups ~ 10,000": Workload("groups", lambda path: users_sample(path, 10_000)),
    "YouTube groups": Workload("groups", lambda path: users_sample(path, None)),
    "Deezer ~ 1,000": Workload("genres", lambda path: users_sample(path, 1_000)),
    "Deezer ~ 10,000": Workload("genres", lambda path: users_sample(path, 10_000)),
}
_SMALL = 2_000
_FILES = ("facebook", "twitter", "groups", "genres")


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What some work gives, and its processor seconds."""
    begin = process_time()
    found = work()
    return found, process_time() - begin


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _small() -> mw.Interests:
    """Interests that every kernel is compiled on."""
    return mw.workloads.unif(50, 10, subscriptions=4, seed=1)


def measure_build(interests: mw.Interests, algorithm: str, seeds: int) -> Row:
    """What an algorithm builds, by seed, and what that takes."""
    mw.build(_small(), algorithm)
    before = _peak_bytes()
    found = [timed(lambda seed=seed: mw.build(interests, algorithm, seed=seed)) for seed in range(seeds)]
    return {
        "nodes": interests.node_count,
        "edges": [len(overlay) for overlay, _ in found],
        "most": [int(overlay.degrees().max()) for overlay, _ in found],
        "seconds": float(np.mean([seconds for _, seconds in found])),
        "bytes": max(1, _peak_bytes() - before),
    }


def measure_bound(interests: mw.Interests) -> Row:
    """The tight bound, and what it and its checker take."""
    mw.evaluate(mw.build(_small(), "gm"), bound="tight")
    overlay = mw.build(interests, "gm")
    quick_seconds = timed(lambda: mw.evaluate(overlay, diameters=False))[1]
    tight, seconds = timed(lambda: mw.evaluate(overlay, diameters=False, bound="tight"))
    topics = [interests.topic_ids[a:b].tolist() for a, b in itertools.pairwise(interests.indptr)]
    file = as_file(tight.certificate, interests)
    edges, check_seconds = timed(lambda: check(topics, file))
    if 2 * edges != round(tight.lower_bound_average_degree * interests.node_count):
        raise SystemExit(f"the checker proves {edges} links, the evaluation says otherwise")
    return {"edges": edges, "seconds": seconds - quick_seconds, "checker": check_seconds}


def in_own_process(name: str, what: str, seeds: int, file: Path | None) -> Row:
    """A measurement when nothing ran before it."""
    words = ["--workload", name, "--one", what, "--seeds", str(seeds)]
    if file:
        words += [f"--{WORKLOADS[name].kind}", str(file)]
    command = [sys.executable, "-m", "benchmarks.dual_guided", *words]
    row: Row = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return row


def show(name: str, seeds: int, file: Path | None) -> Row:
    """One line of the table."""
    gm, dg, bound = (in_own_process(name, what, seeds, file) for what in ("gm", "dg", "bound"))
    worse = [seed for seed in range(seeds) if dg["edges"][seed] > gm["edges"][seed]]
    if worse:
        raise SystemExit(f"{name}: dg has more links than gm with seed {worse[0]}")
    nodes, before, after = gm["nodes"], float(np.mean(gm["edges"])), float(np.mean(dg["edges"]))
    row = {
        "name": name,
        "kind": WORKLOADS[name].kind,
        "nodes": nodes,
        "leaves": 1 - bound["edges"] / before,
        "saved": 1 - after / before,
        "above": after / bound["edges"] - 1,
        "most": float(np.mean(dg["most"]) / np.mean(gm["most"])),
        "time": dg["seconds"] / gm["seconds"],
        "memory": dg["bytes"] / gm["bytes"],
    }
    print(
        f"| {name} | {2 * before / nodes:.2f} | {2 * after / nodes:.2f} | {row['saved']:.1%} | "
        f"{row['leaves']:.1%} | {np.mean(gm['most']):.0f} | {np.mean(dg['most']):.0f} | "
        f"{2 * bound['edges'] / nodes:.2f} | {row['above']:.1%} | {gm['seconds']:.1f} | "
        f"{row['time']:.0f} times | {row['memory']:.1f} times | "
        f"{bound['seconds']:.1f} | {bound['checker']:.1f} |",
        flush=True,
    )
    return row


def add_file_options(parser: argparse.ArgumentParser) -> None:
    """An option for each file of real data."""
    for kind in _FILES:
        parser.add_argument(f"--{kind}", type=Path, metavar="FILE")


def chosen(given: argparse.Namespace) -> Iterator[tuple[str, Workload, Path | None]]:
    """The workloads asked for, or all whose files are given: name, how to make it, and its file."""
    for name, load in WORKLOADS.items():
        file: Path | None = getattr(given, load.kind, None)
        if name in given.workload if given.workload else load.kind not in _FILES or file:
            yield name, load, file


def conclude(rows: list[Row]) -> None:
    """What was asked for: over all workloads, over those without fixed sizes, and by size."""
    print(f"\ndg never had more links than gm: {len(rows)} workloads, every seed\n")
    varied = [row for row in rows if row["kind"] != "fixed"]
    for what, found in (("all workloads", rows), ("without those of fixed sizes", varied)):
        if found:
            print(f"- saved on average, {what}: {mean_of(found, 'saved')}; the bound leaves "
                  f"{mean_of(found, 'leaves')} at most")  # fmt: skip
    large = [row for row in rows if row["nodes"] > _SMALL]
    small = [row for row in varied if row["nodes"] <= _SMALL]
    for what, found in ((f"up to {_SMALL:,} nodes, without fixed sizes", small), ("larger", large)):
        if found:
            print(f"- proved distance on average, {what}: {mean_of(found, 'above')}")
    print(f"- maximum degree, at most: {worst_of(rows, 'most')} that of gm")
    for name in ("time", "memory"):
        if large:
            print(f"- {name} over {_SMALL:,} nodes, at most: {worst_of(large, name)} that of gm")


def mean_of(rows: list[Row], name: str) -> str:
    """The mean of a number over rows, as a percentage."""
    return f"{np.mean([row[name] for row in rows]):.1%}"


def worst_of(rows: list[Row], name: str) -> str:
    """The greatest of a number, and the workload that has it."""
    worst = max(rows, key=lambda row: row[name])
    return f"{worst[name]:.2f} times ({worst['name']})"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workload", action="append", choices=WORKLOADS)
    parser.add_argument("--seeds", type=int, default=3)
    add_file_options(parser)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        _, load, file = next(chosen(given))
        interests = load.make(file)
        row = (
            measure_bound(interests)
            if given.one == "bound"
            else measure_build(interests, given.one, given.seeds)
        )
        print(json.dumps(row))
        return
    heads = "workload | gm | dg | saved | at most | gm most | dg most | bound | above | gm s | dg s | "
    print(f"| {heads}dg memory | tight s | checker s |")
    print("|" + " --- |" * 14)
    conclude([show(name, given.seeds, file) for name, _, file in chosen(given)])


if __name__ == "__main__":
    main()
