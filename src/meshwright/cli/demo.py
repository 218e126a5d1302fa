"""`meshwright demo`: the whole journey on interests that are made up."""

from itertools import chain, count
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from meshwright.cli.common import Conf, Json, Master, Seed, print_json, progress_bar, spark_command
from meshwright.cli.run import print_for_people, say_stage


def demo(
    nodes: Annotated[int, typer.Option(min=2, max=20_000, help="The number of brokers.")] = 2_000,
    topics: Annotated[int, typer.Option(min=1, metavar="N", help="The number of topics.")] = 200,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="A new folder; by default meshwright-demo.")
    ] = None,
    seed: Seed = 0,
    master: Master = None,
    conf: Conf = None,
    as_json: Json = False,
) -> None:
    """Make up subscriptions, then read and profile them, build an overlay, measure it, and report.

    `meshwright run` does the same with your own table. Each feature compiles its kernels when a machine uses
    it for the first time; this takes up to a minute, here too.
    """
    from meshwright.model.storage.dataset import check_free

    begin = perf_counter()
    folder = out or _free_folder()
    check_free(folder, force=False)
    table = _write_table(folder, nodes, topics, seed)
    with spark_command(master, conf, short=True) as session:
        from meshwright.pipeline.ingest.options import IngestOptions
        from meshwright.pipeline.run import RunOptions, run

        options = RunOptions(ingest=IngestOptions(relation="pairs"), algorithm="gm", bound="tight", seed=seed)
        manifest = run(
            session, [str(table)], folder / "result", options, progress=progress_bar(), on_stage=say_stage
        )
    if as_json:
        print_json({"out": str(folder / "result"), **manifest})
        return
    print_for_people(str(folder / "result"), manifest, perf_counter() - begin)
    by_hand = f"meshwright run {table} --as pairs --algorithm gm --bound tight --out another-folder"
    print(f"The same by hand: {by_hand}")


def _free_folder() -> Path:
    """`meshwright-demo` here, or the first of its kind that is not there yet."""
    names = chain(["meshwright-demo"], (f"meshwright-demo-{number}" for number in count(2)))
    return next(path for path in map(Path, names) if not path.exists())


def _write_table(folder: Path, nodes: int, topics: int, seed: int) -> Path:
    """Subscriptions as a broker's log might have them."""
    import pyarrow.csv

    import meshwright as mw
    from meshwright.model.storage.dataset import writing

    high = min(60, topics)
    interests = mw.workloads.expo(
        nodes,
        topics,
        min_subscriptions=min(5, high),
        max_subscriptions=high,
        seed=seed,
        progress=progress_bar(),
    )
    path = folder / "subscriptions.csv"
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        pyarrow.csv.write_csv(interests.to_arrow(), path)
    return path
