"""Seconds of `profile` and `sample` on Spark, and the rounds of a breadth-first search.

    python -m benchmarks.spark_sample --social DIR --groups DIR [--master local[*]] [--times 2]

Both are datasets of interests: one whose topics are named like nodes, and one of groups. Everything runs in
one session; the first time includes what Java compiles as it goes, so the last one is printed beside it.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

from meshwright.pipeline.profile.job import profile
from meshwright.pipeline.sample.bfs import BfsOptions
from meshwright.pipeline.sample.job import sample
from meshwright.pipeline.sample.universe import UniverseOptions
from meshwright.pipeline.spark.failures import translated
from meshwright.pipeline.spark.session import spark_session

Work = Callable[[Any], str]


def _profiled(dataset: Path) -> Work:
    def work(session: Any) -> str:
        found = profile(session, dataset)
        exponents = [found.subscribers_per_topic.exponent, found.topics_per_node.exponent]
        shown = ", ".join("none" if exponent is None else f"{exponent:.2f}" for exponent in exponents)
        return f"{found.interests:,} interests; exponents {shown}; {found.correlation.chosen}"

    return work


def _sampled(dataset: Path, options: BfsOptions | UniverseOptions) -> Work:
    def work(session: Any) -> str:
        with tempfile.TemporaryDirectory() as folder:
            manifest = sample(session, dataset, Path(folder) / "sample", options)
        facts = {key: value for key, value in manifest["facts"].items() if key != "topics_a_node_of_all"}
        return f"{manifest['counts']} {facts} {manifest['seconds']}"

    return work


def _works(options: argparse.Namespace) -> Iterator[tuple[str, Work]]:
    if options.social:
        yield f"profile {options.social.name}", _profiled(options.social)
        users = BfsOptions(users=options.users)
        yield f"sample {options.social.name} --bfs {options.users}", _sampled(options.social, users)
    if options.groups:
        yield f"profile {options.groups.name}", _profiled(options.groups)
        for universes in (1, options.universes):
            seeds = UniverseOptions(seeds=options.seeds, median_of=universes)
            label = f"sample {options.groups.name} --universe {options.seeds} --median-of {universes}"
            yield label, _sampled(options.groups, seeds)


def main() -> None:
    """Print a line for each command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--social", type=Path)
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--groups", type=Path)
    parser.add_argument("--seeds", type=int, default=1_000)
    parser.add_argument("--universes", type=int, default=100)
    parser.add_argument("--master")
    parser.add_argument("--times", type=int, default=2)
    options = parser.parse_args()
    with spark_session(options.master) as session, translated():
        for label, work in _works(options):
            seconds = []
            for _ in range(options.times):
                begin = perf_counter()
                said = work(session)
                seconds.append(perf_counter() - begin)
            print(f"{label}: {seconds[0]:.1f} s, then {seconds[-1]:.1f} s; {said}", flush=True)


if __name__ == "__main__":
    main()
