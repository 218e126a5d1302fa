"""What was done since a revision, step by step without a gap: from memory, or from disk what is older."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from meshwright.maintain.journal.recording import Recording, recorded_after
from meshwright.runtime.errors import DatasetError
from meshwright.runtime.json_values import compact

_KEPT_BYTES = 8 << 20
"""How much of what is settled stays in memory, for readers that are only a little behind."""


class ToldStep(NamedTuple):
    """A step: the revisions before and after it, and what it did, as JSON."""

    since: int
    revision: int
    text: bytes


class History(Recording):
    """The tables of what a maintainer did, which also answer what was done after a revision.

    Guarantee: `after` gives every step exactly once, in order; the revision before a step is that after the
    one before it. Steps that are not settled are in memory, and after a restart the journal brings them back.
    Any thread may ask while another one records.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._lock = Lock()
        self._steps: list[ToldStep] = []
        self._size = 0
        self.revision = -1

    def _keep(self, rows: Mapping[str, list[dict[str, Any]]]) -> None:
        super()._keep(rows)
        step = _told(rows["repairs"][0], rows["changes"])
        with self._lock:
            self._steps.append(step)
            self._size += len(step.text)
            self.revision = step.revision

    def open(self) -> int | None:
        """As a `Recording` does; what is settled is history."""
        settled = super().open()
        self.revision = -1 if settled is None else settled
        return settled

    def settle(self) -> None:
        """Force everything to disk, and forget the oldest steps that are there."""
        super().settle()
        with self._lock:
            gone = 0
            while self._size > _KEPT_BYTES and gone < len(self._steps):
                self._size -= len(self._steps[gone].text)
                gone += 1
            del self._steps[:gone]

    def in_memory(self, since: int, most: int) -> Sequence[ToldStep] | None:
        """The first steps after a revision; None if they are on disk. Never waits for a disk."""
        with self._lock:
            first = self._steps[0].since if self._steps else self.revision
            if since < first:
                return None
            at = bisect_right(self._steps, since, key=lambda step: step.revision)
            return self._steps[at : at + most]

    def after(self, since: int, most: int) -> Sequence[ToldStep]:
        """The first steps after a revision; may read files."""
        found: list[ToldStep] = []
        while len(found) < most:
            since = found[-1].revision if found else since
            recent = self.in_memory(since, most - len(found))
            if recent is not None:
                return [*found, *recent]
            found += self._on_disk(since, most - len(found))
        return found

    def _on_disk(self, since: int, most: int) -> list[ToldStep]:
        settled = -1 if self.settled is None else self.settled
        changes = recorded_after(self.folder, "changes", since, settled)
        found: list[ToldStep] = []
        for table in recorded_after(self.folder, "repairs", since, settled):
            repairs = table.slice(0, most - len(found)).to_pylist()
            links = next(changes).to_pylist()
            by_revision: dict[int, list[dict[str, Any]]] = {}
            for link in links:
                by_revision.setdefault(link["revision"], []).append(link)
            found += [_told(repair, by_revision.get(repair["revision"], [])) for repair in repairs]
            if len(found) >= most:
                break
        if not found:
            raise DatasetError(f"{self.folder} has lost the steps after revision {since:,}; restore a backup")
        return found


def _told(repair: Mapping[str, Any], changes: Sequence[Mapping[str, Any]]) -> ToldStep:
    """A step by its rows in the tables. Every event raises the revision by one, and so does a relink."""
    revision, events = repair["revision"], repair["events"] + repair["refused"]
    since = revision - max(1, events)
    links = {
        action: [[row["source"], row["target"]] for row in changes if row["action"] == action]
        for action in ("open", "close")
    }
    told = {
        "since": since,
        "revision": revision,
        "at": repair["at"],
        "cause": repair["cause"],
        "events": repair["events"],
        "opened": links["open"],
        "closed": links["close"],
        "nodes": repair["nodes"],
        "links": repair["links"],
        "maximum_degree": repair["maximum_degree"],
        "repair_seconds": round(repair["repair_seconds"], 6),
    }
    return ToldStep(since, revision, compact(told).encode())
