"""Put all algorithms on one set of workloads, and write the page that helps to choose.

    python -m benchmarks.which_algorithm --data FOLDER --out docs/which-algorithm.md [--nodes 2000]
    python -m benchmarks.which_algorithm --page-only --out docs/which-algorithm.md

Without the folder of real data (ego-facebook.txt.gz, ego-twitter.txt.gz, youtube-groups.tsv.gz,
deezer-hu-genres.jsonl.gz), only synthetic workloads are measured. All workloads have at most `--nodes` nodes.
Every algorithm of the registry is tried, with costs of links and without, and has its row by itself: its
numbers, or why there are none. The numbers are written beside the page, as JSON, from which `--page-only`
writes the page again.
"""

import argparse
import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

import numpy as np

import meshwright as mw
from benchmarks.social import follows_sample, friendships
from benchmarks.suggesting import plane
from meshwright.runtime.progress import Progress, ProgressBar, stage
from meshwright.runtime.usage import measured
from meshwright.suggesting import OBJECTIVES, SQUARE

_PUBLICATIONS = 2_000
_FEW = 30
_SETTINGS = {"exact": {"budget": "60s"}}
"""Options other than the defaults; `exact` would look for ten minutes."""

Row = Mapping[str, float | str]
"""The numbers of an algorithm on a workload, by name; `error` says why there are none."""
Results = Mapping[str, Mapping[str, Row]]
"""By workload and algorithm."""


class _Column(NamedTuple):
    """A number of the tables: its heading, what it means, and what somebody wants who looks at it."""

    heading: str
    meaning: str
    wish: str = ""


_COLUMNS = {
    "average_degree": _Column("links", "links per node", "the fewest links"),
    "maximum_degree": _Column("most links", "links of the node that has most", "no node with many links"),
    "mean_topic_diameter": _Column(
        "path",
        "the longest way from one subscriber of a topic to another, in links, as a mean over topics",
        "short paths inside topics",
    ),
    "maximum_topic_diameter": _Column("longest path", "the same for the worst topic"),
    "cost": _Column("cost", "what all links cost", "the cheapest links"),
    "weighted_diameter": _Column(
        "cost of path", "the same as path, in costs instead of links", "cheap paths inside topics"
    ),
    "times_bound": _Column(
        "x bound", "links (with costs, their cost) divided by a lower bound that no overlay can be below"
    ),
    "messages": _Column(
        "messages",
        "messages per publication by flooding topics, or by nsmf where an overlay has fingers; along trees, "
        "all overlays that connect every topic need one for each other subscriber",
        "few copies when topics are flooded",
    ),
    "load": _Column(
        "busiest",
        "messages that the busiest node sends per publication, along trees",
        "no node that carries most messages",
    ),
    "repairs": _Column(
        "changes",
        "links opened and closed when a node leaves or comes back, by the default policy, as a mean over "
        "1,000 nodes: the 500 with most links, and 500 that stand for the others",
        "few changes as nodes come and go",
    ),
    "seconds": _Column("seconds", "processor seconds of the build", "a short build"),
    "megabytes": _Column("MB", "memory that the build adds at its peak"),
}
_OF_COSTS = ("cost", "weighted_diameter")


def workloads(folder: Path | None, nodes: int) -> Iterator[tuple[str, mw.Interests]]:
    """Three synthetic ones, and four real ones if they are there."""
    sizes = {"min_subscriptions": 10, "max_subscriptions": 100}
    yield "unif", mw.workloads.unif(nodes, 200, seed=1, **sizes)
    yield "zipf", mw.workloads.zipf(nodes, 200, seed=1, **sizes)
    yield "expo", mw.workloads.expo(nodes, 200, seed=1, **sizes)
    if folder is None:
        return
    yield "Facebook friends", _some(friendships(folder / "ego-facebook.txt.gz"), nodes)
    yield "Twitter follows", follows_sample(folder / "ego-twitter.txt.gz", nodes, seed=1)
    with gzip.open(folder / "youtube-groups.tsv.gz", "rt") as lines:
        groups = mw.Interests.from_pairs(tuple(line.split()[:2]) for line in lines)
        yield "YouTube groups", _some(groups, nodes)
    with gzip.open(folder / "deezer-hu-genres.jsonl.gz", "rt") as lines:
        users = map(json.loads, lines)
        pairs = [(user["user"], genre) for user in users for genre in user["genres"]]
        yield "Deezer genres", _some(mw.Interests.from_pairs(pairs), nodes)


def _some(interests: mw.Interests, nodes: int) -> mw.Interests:
    """Some nodes, drawn at random, with the topics that they have."""
    drawn = np.sort(np.random.default_rng(1).permutation(interests.node_count)[:nodes])
    return _only(interests, interests.nodes.take(drawn).to_pylist())


def _only(interests: mw.Interests, names: Iterable[str]) -> mw.Interests:
    """Some nodes alone, with the topics that they have."""
    given = list(names)
    pairs = [(name, topic) for name in given for topic in interests.topics_of(name)]
    return mw.Interests.from_pairs(pairs, nodes=given)


def measure(
    interests: mw.Interests, costs: mw.Costs | None, progress: Progress | None = None
) -> dict[str, dict[str, float | str]]:
    """By algorithm of the registry, its numbers, or its error; what has no meaning for it is missing."""
    found: dict[str, dict[str, float | str]] = {}
    bounds: tuple[float | None, float | None] | None = None
    every = mw.algorithms()
    with stage(progress, "measuring algorithms", len(every)) as advance:
        for at, (name, own) in enumerate(every.items(), 1):
            if own.needs_costs and costs is None:
                found[name] = {"error": "it needs the costs of links"}
                continue
            try:
                _made(own.kind, name, _only(interests, interests.nodes.slice(0, _FEW).to_pylist()), costs)
                overlay, usage = measured(partial(_made, own.kind, name, interests, costs))
            except mw.MeshwrightError as error:
                found[name] = {"error": str(error).rstrip(".")}
            else:
                evaluation = mw.evaluate(overlay, bound=bounds is None)
                bounds = bounds or _bounds(evaluation)
                found[name] = _numbers(overlay, evaluation, bounds)
                found[name] |= {"seconds": usage.processor_seconds or 0.0}
                found[name] |= {"megabytes": (usage.memory_bytes or 0) / 1e6}
            advance(at)
    return found


def _made(kind: str, name: str, interests: mw.Interests, costs: mw.Costs | None) -> mw.Overlay:
    """What an algorithm builds; a merge has two halves of the nodes to merge, built by gm."""
    if kind == "build":
        return mw.build(interests, name, costs=costs, **_SETTINGS.get(name, {}))
    names = interests.nodes.to_pylist()
    halves = [mw.build(_only(interests, names[at::2]), "gm", costs=costs) for at in range(2)]
    return mw.merge(halves, name)


def _bounds(found: mw.Evaluation) -> tuple[float | None, float | None]:
    return found.lower_bound_average_degree, found.lower_bound_weighted_average_degree


def _numbers(
    overlay: mw.Overlay, found: mw.Evaluation, bounds: tuple[float | None, float | None]
) -> dict[str, float | str]:
    """What an overlay comes to; costs, bounds and repairs only where they have a meaning."""
    weighted = overlay.costs is not None
    reached, least = (
        (found.weighted_average_degree, bounds[1]) if weighted else (found.average_degree, bounds[0])
    )
    numbers: dict[str, float | None] = {
        "average_degree": found.average_degree,
        "maximum_degree": found.maximum_degree,
        "mean_topic_diameter": found.mean_topic_diameter if found.topic_connected else None,
        "maximum_topic_diameter": found.maximum_topic_diameter if found.topic_connected else None,
        "cost": None if overlay.costs is None else float(overlay.costs.sum()),
        "weighted_diameter": found.mean_weighted_topic_diameter if found.topic_connected else None,
        "times_bound": reached / least if found.topic_connected and reached and least else None,
    }
    protocol = "nsmf" if "fingers" in overlay.tables else "flood"
    if protocol == "nsmf" or found.topic_connected:
        numbers["messages"] = mw.route(overlay, protocol, _PUBLICATIONS).messages / _PUBLICATIONS
    if found.topic_connected:
        numbers |= {objective: OBJECTIVES[objective].value(overlay, 0) for objective in ("load", "repairs")}
    return {key: value for key, value in numbers.items() if value is not None}


def main() -> None:
    """Measure, and write the page and its data."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="a folder with the real data sets")
    parser.add_argument("--nodes", type=int, default=2_000)
    parser.add_argument("--out", type=Path, required=True, help="the Markdown file to write")
    parser.add_argument("--page-only", action="store_true", help="write the page from the data beside it")
    options = parser.parse_args()
    data = options.out.with_suffix(".json")
    if not options.page_only:
        day, plain, priced = datetime.now(UTC).date().isoformat(), {}, {}
        for name, interests in workloads(options.data, options.nodes):
            told = f"{name}: {interests.node_count:,} nodes, {interests.topic_count:,} topics"
            print(told, flush=True)
            plain[told] = measure(interests, None, ProgressBar())
            priced[told] = measure(interests, plane(interests), ProgressBar())
            made = {"day": day, "version": version("meshwright"), "plain": plain, "priced": priced}
            data.write_text(json.dumps(made, indent=1) + "\n", "utf-8")
    found = json.loads(data.read_text("utf-8"))
    options.out.write_text(page(found["plain"], found["priced"], found["day"]), "utf-8")


def page(plain: Results, priced: Results, day: str) -> str:
    """The page: the guide first, then all tables."""
    lines = [
        "# Which algorithm?",
        "",
        f"Measured by `python -m benchmarks.which_algorithm` on {day}: every algorithm on {len(plain)} "
        "workloads, with its default options (`exact` may search for a minute). On your own interests, "
        "[`suggest`](howto/researcher.md#which-algorithm) tries the algorithms for you. What they do is told "
        "[by name](algorithms/index.md).",
        "",
        "## The guide",
        "",
        *_guide(plain, priced),
    ]
    lines += ["", "## The columns", "", _ABOUT_TABLES, ""]
    lines += [f"- **{column.heading}**: {column.meaning}." for column in _COLUMNS.values()]
    for title, results in (("Links that cost nothing", plain), ("Links that cost their length", priced)):
        lines += ["", f"## {title}"]
        for told, found in results.items():
            lines += ["", f"### {told}", "", *_table(found)]
    return "\n".join(lines) + "\n"


_NOTES = (
    "Numbers are medians over the workloads. *Next* are the two algorithms that follow, and how far they are "
    "above the best, as a mean over the workloads. *Few links* are at most 30% more than the fewest.",
    "",
    "- **How large?** Beyond 20,000 nodes, algorithms that look at all pairs of nodes take too long: "
    "{square}. Take the best of the others.",
    "- **Do links cost something?** {by_cost} choose by these costs; all others ignore them.",
    "- **No planner, or few links whatever the interests are?** {uncertain} do not promise to connect every "
    "topic, and are not in this table: see [routing](routing.md) and [gossip](gossip.md).",
    "- **Overlays that exist already?** {merges} merge them; in the tables below, they merge two halves of "
    "the nodes that `gm` built.",
)
_ABOUT_TABLES = (
    "The best of each column is in bold. Where links cost something, nodes are at random places on a square "
    "with sides of 100, and a link costs its length and 1."
)
_FEW_LINKS = 0.3
_SHOWN_IN_GUIDE = ("average_degree", "maximum_degree", "mean_topic_diameter", "seconds")


def _guide(plain: Results, priced: Results) -> list[str]:
    """One screen: for each wish the best algorithm, what it comes to, and the next."""
    every = mw.algorithms()
    promise = [name for name, own in every.items() if own.kind == "build" and own.topic_connected]
    lines = [
        f"| you want | take | {' | '.join(_COLUMNS[key].heading for key in _SHOWN_IN_GUIDE)} | next |",
        "| --- " * (len(_SHOWN_IN_GUIDE) + 3) + "|",
    ]
    wishes = [(key, column.wish, promise) for key, column in _COLUMNS.items() if column.wish]
    few = [name for name, above in _ranked(plain, "average_degree", promise) if above <= _FEW_LINKS]
    at = 1 + [key for key, *_ in wishes].index("mean_topic_diameter")
    wishes.insert(at, ("mean_topic_diameter", "short paths, and few links", few))
    for key, wish, names in wishes:
        results = priced if key in _OF_COSTS else plain
        ranked = _ranked(results, key, names)
        if ranked:
            best = ranked[0][0]
            get = [_cell(_typical(results, best, shown)) for shown in _SHOWN_IN_GUIDE]
            after = ", ".join(f"`{name}` (+{above:.0%})" for name, above in ranked[1:3])
            lines.append(f"| {wish} | **`{best}`** | {' | '.join(get)} | {after} |")
    told = {
        "square": _listed(name for name in every if name in SQUARE),
        "by_cost": _listed(name for name, own in every.items() if own.needs_costs),
        "uncertain": _listed(name for name, own in every.items() if not own.topic_connected),
        "merges": _listed(name for name, own in every.items() if own.kind == "merge"),
    }
    return [*lines, "", *(line.format(**told) for line in _NOTES)]


def _ranked(results: Results, key: str, names: Iterable[str]) -> list[tuple[str, float]]:
    """Algorithms by how far they are above the best, as a mean over the workloads; those that did all."""
    above: dict[str, list[float]] = {name: [] for name in names}
    for found in results.values():
        values = {name: own[key] for name in above if key in (own := found.get(name, {}))}
        least = min(map(float, values.values()), default=0.0)
        for name, value in values.items():
            if least:
                above[name].append(float(value) / least - 1)
    most = max(map(len, above.values()), default=0)
    whole = [(name, fmean(own)) for name, own in above.items() if own and len(own) == most]
    return sorted(whole, key=lambda pair: pair[1])


def _typical(results: Results, name: str, key: str) -> float | None:
    values = [float(own[key]) for found in results.values() if key in (own := found.get(name, {}))]
    return median(values) if values else None


def _listed(names: Iterable[str]) -> str:
    *others, last = [f"`{name}`" for name in names]
    return f"{', '.join(others)} and {last}" if others else last


def _table(found: Mapping[str, Row]) -> list[str]:
    """A row for each algorithm, the best of each column in bold; below, those that could not be measured."""
    rows = {name: own for name, own in found.items() if "error" not in own}
    columns = [key for key in _COLUMNS if any(key in own for own in rows.values())]
    lines = [
        f"| algorithm | {' | '.join(_COLUMNS[key].heading for key in columns)} |",
        "| --- " * (len(columns) + 1) + "|",
    ]
    best = {key: min(float(own[key]) for own in rows.values() if key in own) for key in columns}
    for name, own in rows.items():
        cells = [_cell(own.get(key), best[key]) for key in columns]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    errors: dict[str, list[str]] = {}
    for name, own in found.items():
        if "error" in own:
            errors.setdefault(str(own["error"]), []).append(name)
    for error, names in errors.items():
        lines += ["", f"Not measured: {_listed(names)} ({error})."]
    return lines


def _cell(value: float | str | None, best: float = 0.0) -> str:
    if value is None:
        return ""
    number = float(value)
    text = f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
    return f"**{text}**" if number <= 1.005 * best else text


if __name__ == "__main__":
    main()
