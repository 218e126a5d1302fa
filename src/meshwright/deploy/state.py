"""What was applied: the last plan, and by broker what its file is, or is about to be, as checksums."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import xxhash

from meshwright.deploy.drivers.driver import Session
from meshwright.deploy.hosts import Host
from meshwright.deploy.plan.plan import Plan, plan_of
from meshwright.runtime.atomic_files import write_whole
from meshwright.runtime.checksums import is_whole, sealed
from meshwright.runtime.errors import DatasetError, one_line

NAME = "deploy.state.json"
NO_FILE = "none"
"""In the place of a checksum, where a file is being removed."""


class Entry(NamedTuple):
    """One broker that we have written to."""

    host: Host
    held: str | None
    """The checksum of its file; None where it has none."""
    coming: str | None = None
    """The checksum of the file that is being brought there, or NO_FILE; None where nothing is under way."""
    stale: tuple[tuple[Host, Session], ...] = ()
    """Sessions of links that are gone then, each with the broker that keeps it: its own entry may be gone."""
    left: bool = False
    """Whether the last plan did not have it, and it has no links; so it may be switched off."""


@dataclass
class State:
    """All brokers that we have written to, and the plan that was applied last, whole."""

    plan: Plan | None = None
    entries: dict[str, Entry] = field(default_factory=dict)


def state_beside(folder: Path) -> Path:
    """Where the state of a plan is, unless said otherwise."""
    return folder.absolute().parent / NAME


def sum_of_text(text: str | None) -> str | None:
    """The checksum of a file; None where there is none."""
    return None if text is None else xxhash.xxh3_128_hexdigest(text.encode())


def read_state(path: Path) -> State:
    """The state in a file; an empty one where there is no file.

    Raises:
        DatasetError: the file is damaged, or not ours.
    """
    if not path.exists():
        return State()
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(value, dict) or value.get("kind") != "state" or not is_whole(value):
            raise ValueError("its checksum differs")
        return _state_of(value)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DatasetError(
            f"the state {path} can't be used: {one_line(error)}; restore it, or move it away and apply with "
            f"--overwrite",
            path=path,
        ) from None


def _state_of(value: dict[str, Any]) -> State:
    entries = {
        node: Entry(
            Host(**row["host"]),
            row["held"],
            row["coming"],
            tuple((Host(*at), Session(*session)) for at, session in row["stale"]),
            row.get("left", False),
        )
        for node, row in value["brokers"].items()
    }
    return State(None if value["plan"] is None else plan_of(value["plan"]), entries)


def write_state(path: Path, state: State) -> None:
    """Write the state, whole or not at all; it is on disk then."""
    value: dict[str, Any] = {
        "kind": "state",
        "plan": None if state.plan is None else state.plan.as_json(),
        "brokers": {
            node: {**entry._asdict(), "host": entry.host._asdict()}
            for node, entry in sorted(state.entries.items())
        },
    }
    write_whole(path, f"{json.dumps(sealed(value), ensure_ascii=False)}\n".encode())
