"""`meshwright profile`: what a dataset is like."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from meshwright.cli.common import (
    Conf,
    Force,
    Json,
    Master,
    Seed,
    engine_session,
    print_json,
    print_table,
    progress_bar,
)
from meshwright.cli.options.groups import Engine, chosen_engine, fits_here

if TYPE_CHECKING:
    from meshwright.pipeline.profile.distribution import Distribution
    from meshwright.pipeline.profile.job import Profile

EPILOG = """**Examples**

`meshwright profile twitter`

`meshwright profile twitter --out twitter.html`

`meshwright profile twitter --json | jq .subscribers_per_topic.exponent`
"""
_SHOWN = ("mean", "median", "p90", "p99", "maximum", "exponent", "x_min", "ks_distance", "tail")


def profile(
    dataset: Annotated[str, typer.Argument(metavar="DIR", help="A dataset with interests.")],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.html", help="Write a page with charts to this file.")
    ] = None,
    most_topics: Annotated[
        int,
        typer.Option(
            "--most-topics",
            metavar="N",
            help="Measure the correlation among at most N topics; if there are more, use a sample of N.",
        ),
    ] = 400,
    seed: Seed = 0,
    force: Force = False,
    as_json: Json = False,
    engine: Engine = "auto",
    master: Master = None,
    conf: Conf = None,
) -> None:
    """Describe a dataset: distributions with exponents, popular topics, correlation."""
    if out is not None:
        from meshwright.model.storage.single_file import check_file

        check_file(out, force)
    where = chosen_engine(engine, [dataset], master, conf, fits_here("profiling", dataset))
    with engine_session(where, master, conf) as session:
        from meshwright.pipeline.profile.job import profile as profile_dataset
        from meshwright.pipeline.spark.storage import location

        source = location(session, dataset)
        found = profile_dataset(session, source, most_topics=most_topics, seed=seed, progress=progress_bar())
    if out is not None:
        from meshwright.report.page import write_page
        from meshwright.report.report_page import profile_page

        write_page(out, profile_page(found.to_json(), dataset))
    if as_json:
        print_json(found.to_json())
    else:
        _print_for_people(dataset, found, out)


def _print_for_people(dataset: str, found: "Profile", out: Path | None) -> None:
    sparsity = None if found.sparsity is None else f"{found.sparsity:.6f}"
    sizes = (("nodes", found.nodes), ("topics", found.topics), ("interests", found.interests))
    print_table(("measure", "value"), [*sizes, ("sparsity", sparsity)], title=dataset)
    columns = [_shown(found.subscribers_per_topic), _shown(found.topics_per_node)]
    rows = [(name.replace("_", " "), *(column.get(name) for column in columns)) for name in _SHOWN]
    print_table(("distribution", "subscribers per topic", "topics per node"), rows)
    if found.popular_topics:
        print_table(("most popular topics", "subscribers"), found.popular_topics)
    alike = found.correlation
    if alike.mean_absolute is not None:
        print(
            f"Correlation of {alike.chosen}: the mean absolute value is {alike.mean_absolute:.3g}; "
            f"{alike.share_strong:.1%} of the pairs are over 0.1."
        )
    if out is not None:
        print(f"The page is at {out}")


def _shown(found: "Distribution") -> dict[str, object]:
    law = {"exponent": found.exponent, "x_min": found.x_min, "ks_distance": found.ks_distance}
    return {"mean": found.mean, **found.quantiles, **law, "tail": found.tail}
