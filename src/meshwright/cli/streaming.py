"""`churn --stream`: the part of the command that runs on Spark."""

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from meshwright.cli.churn_options import JournalOptions, StreamOptions
from meshwright.cli.common import progress_bar, spark_command
from meshwright.construct.option_checks import check_whole
from meshwright.errors import OptionError
from meshwright.model.names import visible

if TYPE_CHECKING:
    from meshwright.pipeline.stream.batches import BatchReport


_LONGEST = 86_400
"""Seconds between looks at a folder: a day."""


def follow_stream(
    dataset: Path,
    out: Path,
    streaming: StreamOptions,
    journaling: JournalOptions,
    how: Mapping[str, Any],
    *,
    as_json: bool,
) -> None:
    """Follow a stream of event files and say what each micro-batch came to, a line each."""
    from meshwright.model.manifest import read_manifest
    from meshwright.pipeline.engine.storage import is_local, location
    from meshwright.pipeline.stream.folders import check_folders

    asked: dict[str, Any] = {"every": streaming.every, "files_a_batch": streaming.files_a_batch}
    asked["compact_after"] = journaling.compact_after
    given = {name: value for name, value in asked.items() if value is not None}
    _check(given)
    read_manifest(dataset, "overlay")
    source = str(streaming.stream)
    if is_local(source) and not location(None, source).is_dir():
        raise OptionError(f"--stream got {source!r}; give a folder in which files of events appear")
    journal = (journaling.journal or out / "journal").absolute()
    check_folders(out.absolute(), journal)
    with spark_command(streaming.master, streaming.conf) as session:
        from meshwright.pipeline.stream.job import StreamPlan, follow

        plan = StreamPlan(
            source=location(session, source),
            out=out.absolute(),
            journal=journal,
            once=streaming.once,
            accept_loss=journaling.accept_loss,
            **how,
            **given,
        )
        manifest = follow(session, dataset, plan, _tell_json if as_json else _tell, progress_bar())
    if as_json:
        print(json.dumps({"out": str(out), **manifest}, ensure_ascii=False), flush=True)
    else:
        tell_torn(manifest)
        counts = manifest["counts"]
        print(f"{out}: {counts['nodes']:,} nodes, {counts['edges']:,} links")


def tell_torn(manifest: Mapping[str, Any]) -> None:
    """Say on stderr that the last end cut a step off; what is lost is a warning of the journal's own."""
    recovery = manifest["recovery"]
    if recovery is not None and recovery["torn"]:
        print(
            f"meshwright: {manifest['journal']}: the last record, of {recovery['torn']:,} bytes, was cut off "
            f"before its step was taken, and is left out",
            file=sys.stderr,
        )


def _check(given: Mapping[str, Any]) -> None:
    if not 0 < given.get("every", 1) <= _LONGEST:
        raise OptionError(f"--every is {given['every']}; give seconds, above 0 and up to {_LONGEST:,}")
    if given.get("files_a_batch", 1) < 1:
        raise OptionError(f"--files-a-batch is {given['files_a_batch']}; give a whole number from 1 on")
    check_whole("--compact-after", given.get("compact_after"), 1)


def _tell_json(report: "BatchReport") -> None:
    print(json.dumps(asdict(report)), flush=True)


def _tell(report: "BatchReport") -> None:
    for reason in report.files_put_aside:
        print(f"batch {report.batch} puts a file aside: {visible(reason)}")
    put_aside = f", {report.rejected:,} put aside" if report.rejected else ""
    known = f", {report.repeated:,} known already" if report.repeated else ""
    print(
        f"batch {report.batch}: {report.events:,} events of {report.files:,} files{put_aside}{known}; "
        f"{report.opened:,} links opened, {report.closed:,} closed; {report.nodes:,} nodes, "
        f"{report.links:,} links, at most {report.maximum_degree:,} a node; lag {report.lag_seconds:.1f} s",
        flush=True,
    )
