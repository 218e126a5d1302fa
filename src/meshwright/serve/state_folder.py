"""The folder of a control plane: what is where, and the lease that one process at a time has on it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from meshwright.model.storage.dataset import writing
from meshwright.runtime.atomic_files import locked_folder
from meshwright.runtime.errors import DatasetError


class StateFolder(NamedTuple):
    """A folder with a journal, the hashes of tokens, an audit log, and what is known of a fleet."""

    path: Path

    @property
    def journal(self) -> Path:
        """The journal, and beside its files the tables of what was done."""
        return self.path / "journal"

    @property
    def access(self) -> Path:
        """The hashes of tokens and sessions; only the owner can read it."""
        return self.path / "access"

    @property
    def audit(self) -> Path:
        """Who changed what, a line each."""
        return self.path / "audit.jsonl"

    @property
    def fleet(self) -> Path:
        """What was applied to brokers, and what has to be known of them after a restart."""
        return self.path / "fleet"


@contextmanager
def leased(state: StateFolder, *, standby: bool = False) -> Iterator[None]:
    """Hold the lease on a state until the end, or until this process dies, by whatever.

    If another process has it, this is refused; with `standby`, it waits until that one ends. The lease is a
    lock of the system on the folder: it holds between processes on one machine and, where the file system
    passes locks on, between machines. A process that is stopped, not dead, keeps it.
    """
    busy = (
        f"{state.path} is in use by another process; a state has one owner: end that process first, "
        f"or wait for its end with --standby"
    )
    if state.path.exists() and not state.path.is_dir():
        raise DatasetError(f"{state.path} is a file; give a folder for the state")
    with ExitStack() as opened:
        with writing(state.path):
            opened.enter_context(locked_folder(state.path, busy, wait=standby))
        yield
