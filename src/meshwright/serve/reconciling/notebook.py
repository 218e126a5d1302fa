"""What the fleet's side of a control plane has to know after a restart; a small file, whole or not there."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from meshwright.deploy.plan.plan import Plan, plan_of
from meshwright.model.storage.dataset import writing
from meshwright.runtime.atomic_files import write_whole
from meshwright.runtime.checksums import is_whole, sealed
from meshwright.runtime.errors import DatasetError, one_line


@dataclass(frozen=True, kw_only=True)
class Notes:
    """What is kept; never changed in place.

    Attributes:
        paused: whether somebody has pulled the kill switch.
        gone: brokers that were made to leave since they failed, with what they wanted.
        heard: by broker, what it has told that clients want; only this may end when it tells so no more.
        known: brokers that were in the overlay at some time.
        begun: a plan that was approved and is being brought to brokers.
    """

    paused: bool = False
    gone: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    heard: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    known: frozenset[str] = frozenset()
    begun: Plan | None = None


class Notebook:
    """The notes in a file.

    Guarantee: when `write` returns, the notes are on disk; if it fails, the old ones are there, and count.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.notes = _read(path)

    def write(self, **changed: Any) -> None:
        """Change some of the notes; those that stay as they are cost nothing."""
        notes = replace(self.notes, **changed)
        if notes == self.notes:
            return
        value = {
            "kind": "fleet",
            "paused": notes.paused,
            "gone": {node: list(topics) for node, topics in sorted(notes.gone.items())},
            "heard": {node: list(topics) for node, topics in sorted(notes.heard.items())},
            "known": sorted(notes.known),
            "begun": None if notes.begun is None else notes.begun.as_json(),
        }
        with writing(self._path):
            write_whole(self._path, f"{json.dumps(sealed(value), ensure_ascii=False)}\n".encode())
        self.notes = notes


def _read(path: Path) -> Notes:
    if not path.exists():
        return Notes()
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(value, dict) or value.get("kind") != "fleet" or not is_whole(value):
            raise ValueError("its checksum differs")
        return Notes(
            paused=value["paused"],
            gone={node: tuple(topics) for node, topics in value["gone"].items()},
            heard={node: tuple(topics) for node, topics in value["heard"].items()},
            known=frozenset(value["known"]),
            begun=None if value["begun"] is None else plan_of(value["begun"]),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise DatasetError(
            f"{path} can't be used: {one_line(error)}; restore it, or move it away: then brokers that failed "
            f"have to join again by events",
            path=path,
        ) from None
