"""`meshwright sample`: a smaller dataset that is like a large one."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from meshwright.cli.common import (
    Conf,
    Force,
    Json,
    Master,
    Seed,
    check_dataset,
    check_target,
    print_json,
    progress_bar,
    spark_command,
)
from meshwright.runtime.errors import OptionError

if TYPE_CHECKING:
    from meshwright.pipeline.sample.bfs import BfsOptions
    from meshwright.pipeline.sample.universe import UniverseOptions

EPILOG = """**Examples**

`meshwright sample twitter --bfs 10000 --out twitter-10k`

`meshwright sample groups --universe 1000 --median-of 100 --out groups-1000`

`meshwright sample journals --universe 500 --grow own --out journals-500`
"""
_BFS = {"start": "--start", "starts": "--starts"}
_UNIVERSE = {
    "grow": "--grow",
    "nodes_of": "--nodes-of",
    "topics_of": "--topics-of",
    "least_subscribers": "--least-subscribers",
    "median_of": "--median-of",
}


def sample(
    dataset: Annotated[str, typer.Argument(metavar="DIR", help="A dataset with interests.")],
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="The dataset to write.")],
    bfs: Annotated[
        int | None, typer.Option("--bfs", metavar="N", help="Visit this many users, breadth first.")
    ] = None,
    universe: Annotated[
        int | None, typer.Option("--universe", metavar="SEEDS", help="Start from this many random topics.")
    ] = None,
    start: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="With --bfs: start from this user. Repeatable."),
    ] = None,
    starts: Annotated[
        int | None, typer.Option(metavar="K", help="With --bfs: start from K random users; by default 1.")
    ] = None,
    grow: Annotated[
        str | None,
        typer.Option(
            metavar="own|random",
            help="With --universe: each user adds the topic that has the user's own name, or one of the "
            "user's topics at random (random).",
        ),
    ] = None,
    nodes_of: Annotated[
        str | None,
        typer.Option(
            metavar="seeds|grown",
            help="With --universe: the nodes are the subscribers of the seeds, or of the grown set.",
        ),
    ] = None,
    topics_of: Annotated[
        str | None,
        typer.Option(
            metavar="grown|nodes",
            help="With --universe: which topics to keep, the grown set or all topics of the nodes (grown).",
        ),
    ] = None,
    least_subscribers: Annotated[
        int | None,
        typer.Option(metavar="N", help="With --universe: drop topics with fewer subscribers; by default 30."),
    ] = None,
    median_of: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            help="With --universe: keep the one of K with the median topics / nodes; by default 1.",
        ),
    ] = None,
    seed: Seed = 0,
    force: Force = False,
    as_json: Json = False,
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Cut a smaller dataset out of a large one, on Spark.

    --bfs searches a social graph breadth first, and keeps all relations among the users that it visits.
    --universe makes a self-contained universe: the users of some random topics, with these topics and those
    that the users add.
    """
    given = {
        "start": tuple(start) if start else None,
        "starts": starts,
        "grow": grow,
        "nodes_of": nodes_of,
        "topics_of": topics_of,
        "least_subscribers": least_subscribers,
        "median_of": median_of,
    }
    options = _options(bfs, universe, {name: value for name, value in given.items() if value is not None})
    check_dataset(dataset)
    check_target(out, force)
    with spark_command(master, conf) as session:
        from meshwright.pipeline.sample.job import sample as sample_dataset
        from meshwright.pipeline.spark.storage import location

        source, target = location(session, dataset), location(session, out)
        manifest = sample_dataset(
            session, source, target, options, seed=seed, force=force, progress=progress_bar()
        )
    if as_json:
        print_json({"out": out, **manifest})
    else:
        print(f"{out}: " + ", ".join(f"{count:,} {name}" for name, count in manifest["counts"].items()))


def _options(bfs: int | None, universe: int | None, given: dict[str, Any]) -> "BfsOptions | UniverseOptions":
    from meshwright.pipeline.sample.bfs import BfsOptions
    from meshwright.pipeline.sample.universe import UniverseOptions

    if (bfs is None) == (universe is None):
        raise OptionError("give either --bfs N or --universe SEEDS")
    way, foreign = ("--bfs", _UNIVERSE) if bfs is not None else ("--universe", _BFS)
    for name, flag in foreign.items():
        if name in given:
            raise OptionError(f"{flag} can't be used with {way}; leave it out", option=flag)
    if bfs is not None:
        return BfsOptions(users=bfs, **given)
    return UniverseOptions(seeds=universe or 0, **given)
