"""Planning a migration from datasets, and the folder that it leaves: tables, CSV and a page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from meshwright.maintain.migration import Migration, migrate
from meshwright.model.overlay import Overlay, priced
from meshwright.model.storage.dataset import check_free, draft, whole, write_csv, write_tables, writing
from meshwright.model.storage.manifest import make_manifest, write_manifest
from meshwright.pipeline.cost_files import CostFiles
from meshwright.report.migrate import migration_page
from meshwright.report.page import write_page
from meshwright.runtime.progress import Progress

PAGE = "migration.html"


def migrate_here(
    today: Path,
    target: Path,
    out: Path,
    steps_of: int,
    *,
    costs: CostFiles | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Plan the way from one overlay's dataset to another's, and write it to `out`; returns the manifest.

    `changes/` and `steps/` are Parquet, and CSV files of the same names hold the same rows. With `costs`, the
    links of both cost what these say.
    """
    check_free(out, force, [today, target])
    with draft(out, force) as folder:
        overlays = [Overlay.read(path) for path in (today, target)]
        if costs is not None:
            overlays = [priced(overlay, costs.load(overlay.interests)) for overlay in overlays]
        way = migrate(overlays[0], overlays[1], steps_of, progress)
        about = {
            "command": "migrate",
            "options": {"steps_of": steps_of},
            "costs": None if costs is None else costs.given(),
            "inputs": [str(today), str(target)],
        }
        facts = facts_of(way)
        tables = {"changes": way.changes, "steps": way.steps}
        rows = {name: table.num_rows for name, table in tables.items()}
        manifest = make_manifest("migration", counts_of(way), facts, rows, about)
        with writing(out):
            known = write_tables(folder, {name: whole(table) for name, table in tables.items()}, progress)
            for name, table in tables.items():
                write_csv(table, folder / f"{name}.csv")
            write_page(folder / PAGE, migration_page(f"{today.name} to {target.name}", way, about))
            write_manifest(folder, manifest, known)
    return manifest


def counts_of(way: Migration) -> dict[str, int]:
    """What the manifest counts."""
    interests = way.today.interests
    return {
        "nodes": interests.node_count,
        "topics": interests.topic_count,
        "interests": len(interests),
        "steps": len(way),
        "opened": way.opened,
        "closed": way.closed,
    }


_STATE = ("links", "average_degree", "maximum_degree", "cut_topics", "cost")


def facts_of(way: Migration) -> dict[str, Any]:
    """The overlay at the beginning and at the end, and the most links on the way."""
    rows = way.steps.to_pylist()
    before, after = ({key: row[key] for key in _STATE if key in row} for row in (rows[0], rows[-1]))
    return {
        "kept": len(way.today) - way.closed,
        "most_links": way.most_links,
        "repriced": way.repriced,
        "unit": way.unit,
        "before": before,
        "after": after,
    }
