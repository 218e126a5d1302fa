"""Where a command works: in this process, or on Spark."""

from collections.abc import Mapping
from typing import Annotated

import typer

from meshwright.cli.common import parse_conf
from meshwright.errors import OptionError

ENGINES = ("auto", "local", "spark")
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="|".join(ENGINES),
        help="In this process, or on Spark; auto: in this process while the data is local and fits.",
    ),
]


def chosen_engine(
    engine: str,
    places: list[str],
    master: str | None,
    conf: list[str] | None,
    counts: Mapping[str, int] | None,
    bytes_an_interest: int,
) -> str:
    """`local` or `spark`; what `auto` chooses does not change the result.

    Auto stays in this process while all `places` are local, neither `master` nor `conf` is given and the
    estimated memory is within four fifths of what is free. `counts` are those of the dataset's manifest, if
    it could be read.
    """
    from meshwright.pipeline.engine.loading import fits_here
    from meshwright.pipeline.engine.storage import is_local

    if engine not in ENGINES:
        raise OptionError(f"--engine is {engine!r}; choose one of {', '.join(ENGINES)}")
    remote = [place for place in places if not is_local(place)]
    if engine == "local" and remote:
        raise OptionError(f"{remote[0]} is not on this machine; use --engine spark")
    for_spark = [f"--master {master}"] if master else [f"--conf {name}" for name in parse_conf(conf)]
    if engine == "local" and for_spark:
        raise OptionError(f"{for_spark[0]} needs Spark; use --engine spark, or leave it out")
    if engine != "auto":
        return engine
    if remote or for_spark or counts is None:
        return "spark"
    return "local" if fits_here(counts, bytes_an_interest) else "spark"
