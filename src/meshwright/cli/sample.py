"""`meshwright sample`: a smaller dataset that is like a large one."""

from typing import Annotated, Any, NamedTuple

import typer

from meshwright.cli.common import (
    Conf,
    Force,
    Json,
    Master,
    Seed,
    check_target,
    engine_session,
    print_json,
    progress_bar,
)
from meshwright.cli.options.groups import Engine, chosen_engine, fits_here, given, options_for, refuse_given
from meshwright.runtime.errors import OptionError
from meshwright.runtime.wording import counts

EPILOG = """**Examples**

`meshwright sample twitter --bfs 10000 --out twitter-10k`

`meshwright sample groups --universe 1000 --median-of 100 --out groups-1000`

`meshwright sample journals --universe 500 --grow own --out journals-500`
"""


class BfsOptions(NamedTuple):
    """Where a breadth-first search starts."""

    start: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="With --bfs: start from this user. Repeatable."),
    ] = None
    starts: Annotated[
        int | None, typer.Option(metavar="K", help="With --bfs: start from K random users; by default 1.")
    ] = None


class UniverseOptions(NamedTuple):
    """How a universe grows, and what is kept of it."""

    grow: Annotated[
        str | None,
        typer.Option(
            metavar="own|random",
            help="With --universe: each user adds the topic that has the user's own name (own), or one of "
            "the user's topics at random (random); by default random.",
        ),
    ] = None
    nodes_of: Annotated[
        str | None,
        typer.Option(
            metavar="seeds|grown",
            help="With --universe: the nodes are the subscribers of the first topics (seeds), or also those "
            "of the topics that users add (grown); by default seeds.",
        ),
    ] = None
    topics_of: Annotated[
        str | None,
        typer.Option(
            metavar="grown|nodes",
            help="With --universe: keep the first topics and those that users add (grown), or all topics of "
            "the nodes (nodes); by default grown.",
        ),
    ] = None
    least_subscribers: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="With --universe: drop topics with fewer than N subscribers; by default 30."
        ),
    ] = None
    median_of: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            help="With --universe: make K universes and keep the one with the median ratio of topics to "
            "nodes; by default 1.",
        ),
    ] = None


@options_for("search", BfsOptions)
@options_for("growth", UniverseOptions)
def sample(
    dataset: Annotated[str, typer.Argument(metavar="DIR", help="A dataset with interests.")],
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="The dataset to write.")],
    bfs: Annotated[
        int | None, typer.Option("--bfs", metavar="N", help="Visit N users, breadth first.")
    ] = None,
    universe: Annotated[
        int | None, typer.Option("--universe", metavar="SEEDS", help="Start from this many random topics.")
    ] = None,
    *,
    search: BfsOptions,
    growth: UniverseOptions,
    seed: Seed = 0,
    force: Force = False,
    as_json: Json = False,
    engine: Engine = "auto",
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Cut a smaller dataset out of a large one.

    --bfs searches a social graph breadth first, and keeps all relations among the users that it visits.
    --universe picks some random topics and takes their subscribers as users. Each user adds one more topic.
    The sample has only these users and topics, unless --nodes-of or --topics-of says otherwise.
    """
    options = _options(bfs, universe, search, growth)
    check_target(out, force, [dataset])
    where = chosen_engine(engine, [dataset, out], master, conf, fits_here("sampling", dataset))
    with engine_session(where, master, conf) as session:
        from meshwright.pipeline.sample.job import sample as sample_dataset
        from meshwright.pipeline.spark.storage import location

        source, target = location(session, dataset), location(session, out)
        manifest = sample_dataset(
            session, source, target, options, seed=seed, force=force, progress=progress_bar()
        )
    if as_json:
        print_json({"out": out, **manifest})
    else:
        print(f"{out}: " + counts(manifest["counts"]))


def _options(bfs: int | None, universe: int | None, search: BfsOptions, growth: UniverseOptions) -> Any:
    from meshwright.pipeline.sample import bfs as searching
    from meshwright.pipeline.sample import universe as growing

    if (bfs is None) == (universe is None):
        raise OptionError("give either --bfs N or --universe SEEDS")
    both = search._asdict() | growth._asdict()
    own = {name: value for name, value in both.items() if value not in (None, [])}
    if bfs is not None:
        refuse_given(given(growth), "--bfs")
        return searching.BfsOptions(users=bfs, **own | {"start": tuple(search.start or ())})
    refuse_given(given(search), "--universe")
    return growing.UniverseOptions(seeds=universe or 0, **own)
