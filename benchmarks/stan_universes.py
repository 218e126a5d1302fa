"""Make the universes that StaN is studied on, by the pipeline: ingest, and `sample --universe`.

    python -m benchmarks.stan_universes DATA OUT [--median-of 25] [--master local[2]]

DATA holds youtube-groups.tsv.gz, deezer-hu-genres.jsonl.gz and ego-twitter.txt.gz. OUT/NAME-SEEDS becomes a
dataset for each universe; those that are there already stay. Groups and genres grow by a random topic of each
user, as pages do in [5], 3.1; users who follow others by the user's own topic, as journals do.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from meshwright.pipeline.ingest.job import ingest
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.pipeline.sample.job import sample
from meshwright.pipeline.sample.universe import UniverseOptions
from meshwright.pipeline.spark.session import spark_session


class Source(NamedTuple):
    """A file of interests, what its rows mean, and from how many seeds universes are grown how."""

    file: str
    reading: IngestOptions
    grow: str
    seeds: tuple[int, ...]


SOURCES = {
    "groups": Source(
        "youtube-groups.tsv.gz",
        IngestOptions(relation="pairs", columns=(1, 2), format="tsv"),
        "random",
        (100, 500, 1_000, 5_000),
    ),
    "genres": Source(
        "deezer-hu-genres.jsonl.gz",
        IngestOptions(relation="pairs", columns=("user", "genres")),
        "random",
        (1, 2, 5, 20),
    ),
    "follows": Source("ego-twitter.txt.gz", IngestOptions(relation="follows"), "own", (20, 100, 500)),
}


def universes(session: Any, data: Path, out: Path, median_of: int) -> Iterator[tuple[str, dict[str, int]]]:
    """Make what is missing; the name and the counts of each."""
    for name, source in SOURCES.items():
        whole = out / name
        if not (whole / "manifest.json").exists():
            yield name, ingest(session, [str(data / source.file)], whole, source.reading)["counts"]
        for seeds in source.seeds:
            target = out / f"{name}-{seeds}"
            if not (target / "manifest.json").exists():
                options = UniverseOptions(seeds=seeds, grow=source.grow, median_of=median_of)
                yield target.name, sample(session, whole, target, options)["counts"]


def main() -> None:
    """Make them all in one session."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--median-of", type=int, default=25)
    parser.add_argument("--master", default=None)
    options = parser.parse_args()
    with spark_session(options.master, {}) as session:
        for name, counts in universes(session, options.data, options.out, options.median_of):
            print(f"{name:<16} {counts}", flush=True)


if __name__ == "__main__":
    main()
