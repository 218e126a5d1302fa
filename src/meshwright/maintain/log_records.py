"""What changes a maintained overlay: events, or links that are asked for; as values, and as rows of JSON."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Protocol
from zlib import crc32

from meshwright.maintain.repairs import Link, Repair
from meshwright.model.events import Event, as_row, from_row
from meshwright.runtime.errors import InputError
from meshwright.runtime.json_values import compact


class Relink(NamedTuple):
    """The arguments of `Maintainer.relink`."""

    add: tuple[Link, ...]
    remove: tuple[Link, ...]
    most_removed: int | None


class Step(NamedTuple):
    """One change: the events of one batch, or a relink; an empty one is where a maintainer starts."""

    events: tuple[Event, ...] = ()
    lenient: bool = False
    relink: Relink | None = None


class Witness(Protocol):
    """Somebody that a maintainer tells of every step."""

    def before(self, step: Step) -> None:
        """The step is checked and comes next; if this raises, nothing changes."""

    def after(self, step: Step, repair: Repair) -> None:
        """The step is done."""


class Nobody:
    """A witness that does nothing."""

    def before(self, step: Step) -> None:
        """Nothing."""

    def after(self, step: Step, repair: Repair) -> None:
        """Nothing."""


def step_row(step: Step) -> dict[str, Any]:
    """A step in JSON's types."""
    if step.relink is None:
        lenient = {"lenient": True} if step.lenient else {}
        return {"events": [as_row(event) for event in step.events], **lenient}
    return {"relink": list(step.relink)}


def revisions_of(row: Mapping[str, Any]) -> int:
    """By how much the step of a row moves the revision: by its events, or by one."""
    return len(row.get("events", ())) or 1


def step_of(row: Mapping[str, Any]) -> Step:
    """The step of a row; one that is none is refused."""
    try:
        if "relink" in row:
            add, remove, most_removed = row["relink"]
            return Step(relink=Relink(_links(add), _links(remove), most_removed))
        events = (from_row(event, f"event {at}") for at, event in enumerate(row["events"], 1))
        return Step(tuple(events), row.get("lenient", False))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{row!r} is no step: {error}") from None


def _links(rows: Iterable[Any]) -> tuple[Link, ...]:
    return tuple((a, b) for a, b in rows)


def digest(repair: Repair) -> int:
    """A checksum of the links that a repair added and removed, and of how many events were refused."""
    return crc32(compact([repair.added, repair.removed, len(repair.refused)]).encode())
