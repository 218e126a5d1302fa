"""The head: a file apart from the log that says how far a journal reaches, so that a lost end is noticed.

It has a fixed size and three slots, each a sealed line. Every step rewrites one slot in place, which costs a
`pwrite` and survives the end of the process. A sync writes another slot and forces it to disk; the slot that
was forced last stays untouched meanwhile, so a loss of power leaves at least that one. The slot with the
greatest number counts.
"""

import os
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from meshwright.maintain.journal.sealed_lines import sealed_text, unsealed
from meshwright.maintain.journal.syncing import ALWAYS
from meshwright.model.storage.dataset import writing
from meshwright.runtime.atomic_files import renaming, write_all, write_new
from meshwright.runtime.errors import DatasetError
from meshwright.runtime.json_values import compact
from meshwright.runtime.owned import is_plain, open_plain, read_plain

NAME = "head"
_SLOT = 512
_SLOTS = 3
_FRAME = 10  # of a sealed line: the checksum, a blank, and the end
# A third of what making JSON takes, at every step.
_TEXT = '{"n":%d,"generation":%d,"steps":%d,"revision":%d,"size":%d,"chain":"%s","synced":%d,%s'
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Position(NamedTuple):
    """A point in a journal: the steps and bytes of the log up to there, and the revision they lead to.

    `chain` is a hash of the snapshot and all these steps, in order.
    """

    generation: int
    steps: int
    revision: int
    size: int
    chain: str


NOTHING = Position(-1, 0, -1, 0, "")
"""The position before the first snapshot."""


class HeadClaim(NamedTuple):
    """What a head says.

    Attributes:
        reached: the last acknowledged step.
        synced: the bytes of that log that are certainly on disk.
        sync: the policy by which steps are forced to disk.
        boot: the id of the machine's boot at the time of writing; empty where that is not known.
    """

    reached: Position
    synced: int
    sync: str | int
    boot: str

    def may_lose(self, size: int) -> bool:
        """Whether a loss of power explains that the log has lost everything after its first `size` bytes.

        It does if the machine has restarted since, and the lost bytes were not forced to disk yet.
        """
        started_again = bool(self.boot) and self.boot != boot_id()
        return started_again and self.sync != ALWAYS and size >= self.synced


class FoundHead(NamedTuple):
    """The content of a head: the claim that counts, if a slot is intact, and the number of damaged slots."""

    claim: HeadClaim | None
    damaged: int


def boot_id() -> str:
    """The id of this boot of the machine; empty where the system has none."""
    with suppress(OSError):
        return _BOOT.read_text().strip()
    return ""


def read_head(folder: Path) -> FoundHead | None:
    """Read the head of a journal; None if there is none."""
    if not is_plain(folder / NAME):
        return None
    data = read_plain(folder / NAME, _SLOTS * _SLOT + 1)
    rows = [unsealed(data[at : at + _SLOT].removesuffix(b"\n")) for at in range(0, _SLOTS * _SLOT, _SLOT)]
    found = [(row["n"], claim) for row in rows if row and (claim := _claim_of(row))]
    best = max(found, default=(0, None), key=lambda numbered: numbered[0])[1]
    return FoundHead(best, _SLOTS - len(found) + (len(data) != _SLOTS * _SLOT))


def _claim_of(row: dict[str, Any]) -> HeadClaim | None:
    try:
        reached = Position(*(row[name] for name in Position._fields))
        return HeadClaim(reached, row["synced"], row["sync"], row["boot"])
    except KeyError:
        return None


class Head:
    """A new head to write to: `reach` says what is acknowledged, `secure` what is on disk.

    Guarantee: it never claims more than the log holds, provided that the log has a step before `reach`.
    Cost: a `pwrite` of 512 bytes for `reach`, and an `fdatasync` for `secure`.
    """

    def __init__(self, folder: Path, position: Position, sync: str | int) -> None:
        self.said = position
        self._path, self._sync = folder / NAME, sync
        self._constant = compact({"sync": sync, "boot": boot_id()})[1:]
        self._synced, self._number = position.size, 0
        self._stable, self._next = 0, 1
        self._lock, self._securing = Lock(), Lock()
        with writing(self._path):
            is_plain(self._path)
            with renaming(self._path) as partial:
                write_new(partial, self._slot() * _SLOTS)
                self._file: int | None = open_plain(partial, os.O_WRONLY)

    def reach(self, position: Position) -> None:
        """Note that the log holds everything up to a position."""
        with self._lock:
            if position.generation != self.said.generation:
                self._synced = 0
            self.said = position
            if self._sync == ALWAYS:
                self._synced = position.size
            self._write(self._next)

    def secure(self, position: Position) -> None:
        """Note that everything up to a position is on disk, and force the note to disk; on any thread."""
        with self._securing:
            with self._lock:
                if self._file is None:
                    return
                if position.generation == self.said.generation:
                    self._synced = position.size
                slot = self._next
                self._write(slot)
                self._next = _SLOTS - slot - self._stable  # the third one
            with writing(self._path):
                os.fdatasync(self._file)
            self._stable = slot

    def _write(self, slot: int) -> None:
        if self._file is None:
            raise DatasetError(f"{self._path} is closed; open the journal again")
        self._number += 1
        with writing(self._path):
            write_all(self._file, self._slot(), slot * _SLOT)

    def _slot(self) -> bytes:
        text = _TEXT % (self._number, *self.said, self._synced, self._constant)
        return sealed_text(text.encode().ljust(_SLOT - _FRAME))

    def close(self) -> None:
        """Close the file."""
        with self._securing, self._lock:
            if self._file is not None:
                os.close(self._file)
                self._file = None
