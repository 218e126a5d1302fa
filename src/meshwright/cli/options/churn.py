"""Options of `meshwright churn`, by what they are about."""

from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from meshwright.cli.common import Conf, Master
from meshwright.runtime.errors import OptionError


class EventOptions(NamedTuple):
    """Where events come from that are there already, or are made up."""

    events: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="A *.jsonl or *.parquet file of events, or a folder of them."),
    ] = None
    rounds: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Instead of --events: N random events. Joins and leaves are equally likely. A node that "
            "joins gets topics that resemble those of the others. If links cost, only nodes that have costs "
            "join.",
        ),
    ] = None
    sessions: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Instead of --events: a CSV that says when each node was there, with the columns node, "
            "start, end, or node, first_snapshot, last_snapshot.",
        ),
    ] = None
    snapshots: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="With --sessions: a CSV with the times of snapshots, in the columns snapshot, unix_time.",
        ),
    ] = None


class ServerOptions(NamedTuple):
    """A control plane that events are sent to."""

    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="URL",
            help="Send the events to a server, `meshwright serve`, in place of repairing DIR. Its token is "
            "taken from the variable MESHWRIGHT_TOKEN, or from --token-file.",
        ),
    ] = None
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --to: a file that holds the token.")
    ] = None
    at_once: Annotated[
        int | None,
        typer.Option(metavar="N", help="With --to: so many events in a request, one step; by default 100."),
    ] = None


class StreamOptions(NamedTuple):
    """A folder in which events appear, and the Spark that follows it."""

    stream: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Instead of --events: a folder in which files of events appear. Spark reads new files until "
            "Ctrl-C.",
        ),
    ] = None
    once: Annotated[
        bool, typer.Option("--once", help="With --stream: stop when all present files are processed.")
    ] = False
    every: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="With --stream: seconds between two batches; by default 1."),
    ] = None
    files_a_batch: Annotated[
        int | None,
        typer.Option(metavar="N", help="With --stream: at most N files per batch; by default 100."),
    ] = None
    master: Master = None
    conf: Conf = None


class JournalOptions(NamedTuple):
    """Where what is done is kept, and how soon it is there for sure."""

    journal: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Record every step here, so that the same command continues after a crash; with --stream, "
            "by default OUT/journal.",
            show_default=False,
        ),
    ] = None
    sync: Annotated[
        str | None,
        typer.Option(
            metavar="always|never|MS", help="When the journal is forced to disk; by default always."
        ),
    ] = None
    compact_after: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="After N events, replace the log of the journal by a new snapshot; by default 5000.",
        ),
    ] = None
    accept_loss: Annotated[
        bool,
        typer.Option(
            "--accept-loss",
            help="Continue with a journal that has lost steps; its old files are kept in a subfolder.",
        ),
    ] = False

    def kept(self) -> dict[str, Any]:
        """The options of the journal that were given, if there is one."""
        from meshwright.maintain.journal.syncing import check_sync

        given: dict[str, Any] = {}
        if self.sync is not None:
            given["sync"] = int(self.sync) if self.sync.isascii() and self.sync.isdecimal() else self.sync
            check_sync(given["sync"])
        if self.compact_after is not None:
            given["compact_after"] = self.compact_after
        if self.accept_loss:
            given["accept_loss"] = True
        for name in given:
            if self.journal is None:
                raise OptionError(
                    f"--{name.replace('_', '-')} has no effect without a journal; give --journal DIR as well"
                )
        return given


class PageOptions(NamedTuple):
    """A page with pictures."""

    report: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page with charts to FILE.")] = (
        None
    )
    compare: Annotated[
        list[str] | None,
        typer.Option(
            metavar="POLICY", help="With --report: also show what another policy would do. Repeatable."
        ),
    ] = None

    def compared(self, policy: str) -> tuple[str, ...]:
        """The policies to show beside the chosen one."""
        if policy in (self.compare or ()):
            raise OptionError(
                f"--compare and --policy both name {policy}; compare with another policy, or with none"
            )
        if self.compare and self.report is None:
            raise OptionError("--compare adds other policies to the report; give --report FILE as well")
        return tuple(self.compare or ())
