"""The options of commands that read raw rows, and what they stand for."""

from typing import Annotated, Any, NamedTuple

import typer

from meshwright.cli.options.columns import QUOTING, chosen_columns
from meshwright.cli.options.groups import MaxLine, MaxRatio, given, read_limits
from meshwright.model.reading.limits import READ_LIMITS
from meshwright.runtime.errors import OptionError

Inputs = Annotated[list[str], typer.Argument(metavar="PATH", help="Files, folders, patterns or URLs.")]


class RowOptions(NamedTuple):
    """How raw rows are read; see `IngestOptions`."""

    relation: Annotated[
        str | None,
        typer.Option(
            "--as",
            metavar="pairs|friendship|follows",
            help="What a row holds: a node and a topic (pairs), two friends (friendship), or a follower and "
            "the user they follow (follows). Raw files need it.",
        ),
    ] = None
    format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="csv, tsv, edges, adjacency, jsonl, json, parquet, npz, mtx or hypergraph; by default, the "
            "names of the files decide.",
        ),
    ] = None
    columns: Annotated[
        str | None,
        typer.Option(metavar="A,B", help=f"The two columns, by name or by position from 1. {QUOTING}"),
    ] = None
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="Whether the first line names the columns.")
    ] = None
    delimiter: Annotated[
        str | None, typer.Option(metavar="CHARACTER", help="The character between columns.")
    ] = None
    max_rejected: Annotated[
        float, typer.Option(metavar="FRACTION", help="Stop if a greater share of rows can't be used.")
    ] = 0.01
    own_topic: Annotated[
        bool, typer.Option("--own-topic", help="Users also subscribe to their own topic.")
    ] = False
    wildcards: Annotated[
        str,
        typer.Option(
            metavar="keep|reject",
            help="With --as pairs: keep a topic that has an MQTT wildcard (a level # or +, or $share/ in "
            "front) as a plain name, or reject its row.",
        ),
    ] = "keep"
    filters: Annotated[
        str | None,
        typer.Option(
            metavar="mqtt|nats|amqp|zenoh",
            help="With --as pairs: topics are filters of this kind of broker. The dataset gets a topic for "
            "each class of names that they tell apart.",
        ),
    ] = None
    catalogue: Annotated[
        str | None,
        typer.Option(
            "--names",
            metavar="FILE",
            help="With --filters: a file of all names that exist, one per line. Other names get no class.",
        ),
    ] = None
    damaged: Annotated[
        str,
        typer.Option(
            metavar="refuse|skip",
            help="What to do with a file that is cut off or damaged: stop, or leave it out and say so.",
        ),
    ] = "refuse"
    max_line: MaxLine = READ_LIMITS.line
    max_ratio: MaxRatio = READ_LIMITS.ratio

    def reading(self) -> Any:
        """The options as `IngestOptions`, checked."""
        found = self.reading_if_given()
        if found is None:
            raise no_relation()
        return found

    def reading_if_given(self) -> Any:
        """The same; None where it is not said what a row means."""
        from meshwright.pipeline.ingest.options import IngestOptions

        if self.relation is None:
            for flag in given(self):
                raise OptionError(
                    f"{flag} says how rows are read, but --as is missing; give both", option=flag
                )
            return None
        named = self._asdict() | {"columns": self._two()}
        named["limits"] = read_limits(named.pop("max_line"), named.pop("max_ratio"))
        named["delimiter"] = "\t" if self.delimiter == "\\t" else self.delimiter
        return IngestOptions(**named)

    def _two(self) -> Any:
        if self.columns is None:
            return None
        return chosen_columns("--columns", self.columns, (2,), "user,genre or 1,2")


def no_relation() -> OptionError:
    """The error where it is not said what a row means."""
    words = "--as is missing; say what a row means: --as pairs, --as follows or --as friendship"
    return OptionError(words, option="--as")
