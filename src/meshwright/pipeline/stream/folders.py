"""The folders of a stream: where its changes go, and where its journal and checkpoint are."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from meshwright.maintain.journal.files import check_folder
from meshwright.maintain.journal.recording import SCHEMAS, read_recorded
from meshwright.maintain.journal.survey import is_journal
from meshwright.maintain.maintainer import Maintainer
from meshwright.model.reading.files import reading
from meshwright.model.storage.dataset import writing
from meshwright.model.storage.manifest import MANIFEST, make_manifest, read_manifest, write_manifest
from meshwright.model.storage.single_file import new_file
from meshwright.pipeline.churn import changes_told, cost_told, robust_told
from meshwright.report.churn import changes_by_step
from meshwright.runtime.errors import DatasetError

CHECKPOINT = "checkpoint"
KIND = "changes"
_BINDING = ".stream.json"
_OVERLAY = "overlay"

RESEND = (
    "the checkpoint counts the events of the lost steps as done, so Spark won't deliver them again; "
    "put them into the stream once more, in new files"
)
"""What has to follow when a journal that lost steps goes on."""


def check_folders(out: Path, journal: Path) -> None:
    """Refuse folders that hold something else, before anything is made or removed in them."""
    if (out / MANIFEST).exists():
        read_manifest(out, KIND)
    if journal.is_dir():
        check_folder(journal)


def prepare(out: Path) -> None:
    """Make a folder ready for changes: a new one, or that of an earlier stream, no longer complete."""
    if (out / MANIFEST).exists():
        with writing(out):
            (out / MANIFEST).unlink()


def bind(journal: Path, source: str, accept_loss: bool = False) -> None:
    """Refuse a journal of another stream, and one whose checkpoint is gone; make a new one this stream's."""
    binding, checkpoint = journal / _BINDING, journal / CHECKPOINT
    if not binding.exists():
        with writing(journal):
            checkpoint.mkdir(parents=True, exist_ok=True)
        with new_file(binding) as partial:
            partial.write_text(json.dumps({"source": source}), "utf-8")
        return
    with reading(binding, DatasetError):
        known = json.loads(binding.read_text("utf-8"))["source"]
    if known != source:
        raise DatasetError(f"{journal} follows the stream {known}, not {source}; choose another journal")
    if checkpoint.is_dir() and any(checkpoint.iterdir()) and not is_journal(journal) and not accept_loss:
        raise DatasetError(
            f"{journal} holds the checkpoint of a stream, but the files of the journal are missing; restore "
            f"them from a backup made at the same time as the checkpoint. Or start again from the overlay "
            f"with --accept-loss; then {RESEND}"
        )
    if not checkpoint.is_dir():
        raise DatasetError(
            f"{checkpoint}, which records how far the stream got, is missing; restore it from a backup made "
            f"at the same time as the journal, or begin with another journal"
        )


def finish(
    out: Path, live: Maintainer, told: Mapping[str, Any], made_by: Mapping[str, Any]
) -> dict[str, Any]:
    """Write the overlay as it is at the end, and say in a manifest what there is, and what else is `told`."""
    result = live.overlay
    result.write(out / _OVERLAY, force=True, made_by=made_by)
    recorded = {name: read_recorded(out, name) for name in ("changes", "repairs")}
    rows = {name: table.num_rows for name, table in recorded.items()}
    counts = {"nodes": result.interests.node_count, "edges": len(result)}
    steps = changes_told(changes_by_step(recorded["repairs"]))
    facts = {**result.facts, "changes": steps, **cost_told(result), **told}
    facts |= robust_told(recorded["repairs"], live)
    manifest = make_manifest(KIND, counts, facts, rows, made_by)
    with writing(out):
        write_manifest(out, manifest, names=(*SCHEMAS, _OVERLAY))
    return manifest
