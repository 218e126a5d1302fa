"""Put all algorithms on one set of workloads, and write the page that helps to choose.

    python -m benchmarks.which_algorithm --data FOLDER --out docs/which-algorithm.md

Without the folder of real data (ego-facebook.txt.gz, ego-twitter.txt.gz, youtube-groups.tsv.gz,
deezer-hu-genres.jsonl.gz), only synthetic workloads are measured. All workloads have at most `--nodes` nodes.
Every algorithm of the registry that connects all topics appears by itself; `exact` is for small interests.
"""

import argparse
import gzip
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

import numpy as np

import meshwright as mw
from benchmarks.social import follows_sample, friendships
from benchmarks.suggesting import plane
from meshwright.runtime.progress import ProgressBar
from meshwright.suggesting import OBJECTIVES

_NOT_HERE = ("exact",)
_COLUMNS = {
    "average_degree": "links per node",
    "maximum_degree": "most links",
    "mean_topic_diameter": "mean longest path",
    "cost": "cost",
    "times_lower_bound": "times the bound",
    "seconds": "seconds",
    "megabytes": "MB",
    "load": "load of the busiest",
    "repairs": "changes per event",
}


def workloads(folder: Path | None, nodes: int) -> Iterator[tuple[str, mw.Interests]]:
    """Three synthetic ones, and four real ones if they are there."""
    sizes = {"min_subscriptions": 10, "max_subscriptions": 100}
    yield "unif", mw.workloads.unif(nodes, 200, seed=1, **sizes)
    yield "zipf", mw.workloads.zipf(nodes, 200, seed=1, **sizes)
    yield "expo", mw.workloads.expo(nodes, 200, seed=1, **sizes)
    if folder is None:
        return
    yield "Facebook friends", _first(friendships(folder / "ego-facebook.txt.gz"), nodes)
    yield "Twitter follows", follows_sample(folder / "ego-twitter.txt.gz", nodes, seed=1)
    with gzip.open(folder / "youtube-groups.tsv.gz", "rt") as lines:
        yield (
            "YouTube groups",
            _first(mw.Interests.from_pairs(tuple(line.split()[:2]) for line in lines), nodes),
        )
    with gzip.open(folder / "deezer-hu-genres.jsonl.gz", "rt") as lines:
        users = map(json.loads, lines)
        pairs = [(user["user"], genre) for user in users for genre in user["genres"]]
        yield "Deezer genres", _first(mw.Interests.from_pairs(pairs), nodes)


def _first(interests: mw.Interests, nodes: int) -> mw.Interests:
    """Some nodes, drawn at random."""
    count = interests.node_count
    drawn = np.random.default_rng(1).permutation(count)[:nodes]
    names = interests.nodes.take(np.sort(drawn)).to_pylist()
    return mw.Interests.from_pairs([(name, topic) for name in names for topic in interests.topics_of(name)])


def measure(interests: mw.Interests, costs: mw.Costs | None) -> dict[str, dict[str, float]]:
    """By algorithm, all numbers of the table; what was not measured is missing."""
    names = [
        name
        for name, own in mw.algorithms().items()
        if own.kind == "build" and own.topic_connected and name not in _NOT_HERE
        if costs is not None or not own.needs_costs
    ]
    frame = mw.compare(interests, names, costs=costs, progress=ProgressBar())
    found = {}
    for row in mw.records(frame):
        if row["error"] is None:
            own = {key: row[key] for key in _COLUMNS if row.get(key) is not None}
            overlay = mw.build(interests, row["algorithm"], costs=costs)
            extra = {name: OBJECTIVES[name].value(overlay, 0) for name in ("load", "repairs")}
            found[row["algorithm"]] = own | {"megabytes": (row["memory_bytes"] or 0) / 1e6} | extra
    return found


def _table(found: Mapping[str, Mapping[str, float]]) -> list[str]:
    columns = [key for key in _COLUMNS if any(key in own for own in found.values())]
    lines = [
        f"| algorithm | {' | '.join(_COLUMNS[key] for key in columns)} |",
        "| --- " * (len(columns) + 1) + "|",
    ]
    best = {key: min(own[key] for own in found.values() if key in own) for key in columns}
    for name, own in found.items():
        cells = [_cell(own.get(key), best[key]) for key in columns]
        lines.append(f"| [`{name}`](algorithms/{name}.md) | {' | '.join(cells)} |")
    return lines


def _cell(value: float | None, best: float) -> str:
    if value is None:
        return ""
    text = f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    return f"**{text}**" if value <= 1.005 * best else text


def _best(results: Mapping[str, Mapping[str, Mapping[str, float]]], key: str) -> list[tuple[str, float]]:
    """Algorithms by how far they are above the best on average over the workloads."""
    above: dict[str, list[float]] = {}
    for found in results.values():
        least = min(own[key] for own in found.values() if key in own)
        for name, own in found.items():
            if key in own and least:
                above.setdefault(name, []).append(own[key] / least - 1)
    return sorted(((name, fmean(own)) for name, own in above.items()), key=lambda pair: pair[1])


def main() -> None:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="a folder with the real data sets")
    parser.add_argument("--nodes", type=int, default=2_000)
    parser.add_argument("--out", type=Path, required=True, help="the Markdown file to write")
    options = parser.parse_args()
    plain, priced = {}, {}
    for name, interests in workloads(options.data, options.nodes):
        told = f"{name}: {interests.node_count:,} nodes, {interests.topic_count:,} topics"
        plain[told] = measure(interests, None)
        if name in ("unif", "zipf", "expo"):
            priced[told] = measure(interests, plane(interests))
    options.out.write_text(page(plain, priced), "utf-8")


def page(
    plain: Mapping[str, Mapping[str, Mapping[str, float]]],
    priced: Mapping[str, Mapping[str, Mapping[str, float]]],
) -> str:
    """The page: the guide first, then all tables."""
    lines = [
        "# Which algorithm?",
        "",
        f"Made by `python -m benchmarks.which_algorithm` on {datetime.now(UTC).date().isoformat()}. On your "
        "own interests, `meshwright suggest` tries the algorithms.",
        "",
        "## The guide",
        "",
        "For each thing that may matter, the three best algorithms, and how far they are above the best on "
        "average over all workloads below.",
        "",
        "| what matters | first | second | third |",
        "| --- | --- | --- | --- |",
    ]
    for key, words in _COLUMNS.items():
        results = priced if key == "cost" else plain
        three = [f"`{name}` (+{above:.0%})" for name, above in _best(results, key)[:3]] if results else []
        if three:
            lines.append(f"| {words} | {' | '.join(three)} |")
    lines += ["", "Beyond 20,000 nodes, use `dcbc-direct`, or `dcbc` and `dc`, which divide the nodes."]
    for title, results in (("Links that cost nothing", plain), ("Links that cost", priced)):
        lines += ["", f"## {title}"]
        for told, found in results.items():
            lines += ["", f"### {told}", "", *_table(found)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
