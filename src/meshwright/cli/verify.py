"""`meshwright verify`: whether what lies on disk is what was written."""

from typing import TYPE_CHECKING, Annotated

import typer

from meshwright.cli.common import Conf, Json, Master, print_json, progress_bar, spark_command
from meshwright.runtime.places import is_local_address, local_path
from meshwright.runtime.wording import count

if TYPE_CHECKING:
    from meshwright.pipeline.verify import Verdict

EPILOG = """**Examples**

`meshwright verify overlay`

The folder of a run, and a journal:

`meshwright verify result journal --json`

If a file is damaged, missing or unexpected, the exit code is 1 and the file is named. Nothing is written.
See docs/safety.md.
"""


def verify(
    folders: Annotated[
        list[str],
        typer.Argument(metavar="DIR", help="Datasets, folders of runs, and journals; paths or URLs."),
    ],
    master: Master = None,
    conf: Conf = None,
    as_json: Json = False,
) -> None:
    """Check every file against the checksum that was recorded when it was written."""
    verdicts = _verdicts(folders, master, conf)
    if as_json:
        found = [
            {
                "path": verdict.path,
                "kind": verdict.kind,
                "files": verdict.files,
                "intact": verdict.intact,
                "problems": [{"file": file, "problem": problem} for file, problem in verdict.problems],
            }
            for verdict in verdicts
        ]
        print_json({"intact": all(verdict.intact for verdict in verdicts), "folders": found})
    else:
        for verdict in verdicts:
            for file, problem in verdict.problems:
                print(f"{verdict.path}/{file} {problem}")
            wrong = count(len(verdict.problems), "problem")
            state = "intact" if verdict.intact else f"NOT intact, {wrong}"
            checked = f"{verdict.kind or 'unknown'}, {count(verdict.files, 'file')} checked"
            print(f"{verdict.path}: {state} ({checked})")
    if not all(verdict.intact for verdict in verdicts):
        raise typer.Exit(1)


def _verdicts(folders: list[str], master: str | None, conf: list[str] | None) -> "list[Verdict]":
    from meshwright.pipeline.spark.storage import location
    from meshwright.pipeline.verify import verify as check

    if all(is_local_address(folder) for folder in folders):
        return [check(local_path(folder), progress_bar()) for folder in folders]
    with spark_command(master, conf) as session:
        return [check(location(session, folder), progress_bar()) for folder in folders]
