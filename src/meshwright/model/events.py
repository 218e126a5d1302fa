"""Churn as events: nodes and interests that come and go, in memory and on disk.

On disk events are JSON lines or Parquet, in a file or a folder of files. The columns are `at` (int64),
`event` and `node` (strings), `topics` (a list of strings) and `id` (a string); the last two may be missing or
null. Other fields are ignored.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from meshwright.model.names import check_all_strings
from meshwright.model.reading.files import check_declared, check_rows, reading, refuse_dataset
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.model.reading.text import blocks, cut_lines
from meshwright.model.storage.schema import INTEGER, LIST_OF_STRINGS, STRING, check_types
from meshwright.model.storage.single_file import TABLE_MARK, new_file
from meshwright.runtime.errors import InputError, one_line
from meshwright.runtime.json_values import compact
from meshwright.runtime.wording import choose, count

KINDS = ("join", "leave", "subscribe", "unsubscribe")

_LEAST_TIME, _GREATEST_TIME = -(2**63), 2**63 - 1


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a node does at a time; checked when made.

    Attributes:
        at: when, a whole number of 64 bits in any unit. It says nothing about order to a maintainer, which
            takes events as they come; files are put in the order of `at` when they are read.
        event: `join`, `leave`, `subscribe` or `unsubscribe`.
        node: who.
        topics: those that a node joins with (there may be none), subscribes to or unsubscribes from (at
            least one). One that is named twice counts once. A leave has none.
        id: an idempotency key: of events with the same key only the first is applied.
    """

    at: int
    event: str
    node: str
    topics: tuple[str, ...] = ()
    id: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.at, bool) or not isinstance(self.at, int):
            raise InputError(f"the time of an event is {self.at!r}; give a whole number")
        if not _LEAST_TIME <= self.at <= _GREATEST_TIME:
            raise InputError(f"the time of an event is {self.at}; give a whole number of 64 bits")
        if self.event not in KINDS:
            raise InputError(f"the event is {self.event!r}; {choose(self.event, KINDS)}")
        check_name(self.node, "the node of an event")
        if self.id is not None:
            check_name(self.id, "the id of an event")
        topics = checked_topics(self.topics)
        object.__setattr__(self, "topics", topics)
        if topics and self.event == "leave":
            raise InputError(
                f"the leave of {self.node!r} lists {count(len(topics), 'topic')}, but a leave lists none; "
                f"to give up some topics, use unsubscribe"
            )
        if not topics and self.event in ("subscribe", "unsubscribe"):
            raise InputError(f"{self.node!r} {self.event}s without topics; name at least one")


def with_ids(events: Iterable[Event]) -> list[Event]:
    """The events, each with an id: its own, or one made of what it says.

    The same events get the same ids whenever they are read, also when others are added at their end; of
    several that say the same, time included, each gets another one.
    """
    seen: Counter[bytes] = Counter()
    found = []
    for event in events:
        if event.id is None:
            said = repr((event.at, event.event, event.node, event.topics)).encode()
            key = blake2b(said, digest_size=12).digest()
            seen[key] += 1
            found.append(replace(event, id=f"~{key.hex()}-{seen[key]}"))
        else:
            found.append(event)
    return found


def check_name(name: object, what: str) -> None:
    """Refuse what is no string, is empty, or has no UTF-8 form."""
    if not isinstance(name, str) or not name:
        raise InputError(f"{what} is {name!r}; names are strings of at least one character")
    if not name.isascii() and any("\ud800" <= character <= "\udfff" for character in name):
        raise InputError(f"{what} is {name!r}, which holds a lone surrogate; names must be valid Unicode")


def checked_topics(topics: Iterable[Any]) -> tuple[str, ...]:
    """The topics of an event, each once, in the order given."""
    if isinstance(topics, str):
        raise InputError(f"the topics are the single string {topics!r}; give a list of topic names")
    try:
        if isinstance(topics, Mapping):
            raise TypeError
        given = list(topics)
    except TypeError:
        raise InputError(f"the topics are {topics!r}; give a list of topic names") from None
    check_all_strings(given, "topic")
    for topic in given:
        check_name(topic, "a topic")
    return tuple(dict.fromkeys(given))


SCHEMA = pa.schema(
    [
        ("at", pa.int64()),
        ("event", pa.string()),
        ("node", pa.string()),
        ("topics", pa.list_(pa.string())),
        ("id", pa.string()),
    ]
)
_WANTED = {"at": INTEGER, "event": STRING, "node": STRING, "topics": LIST_OF_STRINGS, "id": STRING}
_OPTIONAL = frozenset({"topics", "id"})
_ROWS_AT_ONCE = 1 << 14


class Torn(NamedTuple):
    """A last line that its writer has not finished: where it is, and what is there of it."""

    path: Path
    line: int
    text: str


@dataclass(frozen=True)
class EventLog:
    """What some files hold.

    Attributes:
        events: in the order of their times; those of equal times in the order of the files.
        out_of_order: how many came after one of a later time.
        torn: last lines without an end that are no complete JSON. They are left out, not lost: they are read
            once their writer has finished them.
    """

    events: tuple[Event, ...]
    out_of_order: int
    torn: tuple[Torn, ...]


def read_events(path: str | Path, *, limits: ReadLimits = READ_LIMITS) -> EventLog:
    """The events of a `*.jsonl` (`.gz` too) or `*.parquet` file, or of all such files in a folder, by name.

    Hidden files are passed over: a producer writes one and renames it when it is complete. A line or row that
    is no event is refused with its number, and so is what is beyond the limits.

    Example:
        >>> import meshwright as mw
        >>> mw.write_events([mw.Event(1, "leave", "b7")], "events.jsonl")
        >>> mw.read_events("events.jsonl").events[0].node
        'b7'
    """
    path = Path(path)
    torn: list[Torn] = []
    events: list[Event] = []
    for file in event_files(path):
        events += iterate_file(file, torn, limits)
    late = count_late(events)
    events.sort(key=lambda event: event.at)
    return EventLog(tuple(events), late, tuple(torn))


def count_late(events: Iterable[Event]) -> int:
    """How many events come after one of a later time."""
    latest, late = None, 0
    for event in events:
        late += latest is not None and event.at < latest
        latest = event.at if latest is None else max(latest, event.at)
    return late


def event_files(path: Path) -> list[Path]:
    """The files that `path` stands for: itself, or those of a folder that hold events, by name."""
    with reading(path):
        if not path.is_dir():
            return [path]
        files = sorted(file for file in path.iterdir() if not file.name.startswith((".", "_")))
    files = [file for file in files if _kind_of(file) is not None]
    if not files:
        refuse_dataset(path)
        raise InputError(
            f"{path} holds no *.jsonl and no *.parquet file; give a file or a folder of them", path=path
        )
    return files


def _kind_of(path: Path) -> str | None:
    name = path.name.removesuffix(".gz")
    return next((kind for kind in ("jsonl", "parquet") if name.endswith(f".{kind}")), None)


def iterate_file(path: Path, torn: list[Torn], limits: ReadLimits) -> Iterator[Event]:
    """The events of one file in the order in which they stand there; a torn last line goes to `torn`."""
    kind = _kind_of(path)
    if kind is None:
        raise InputError(
            f"{path} is neither *.jsonl nor *.parquet; events are read from such files", path=path
        )
    yield from _lines(path, torn, limits) if kind == "jsonl" else _rows(path, limits)


def _lines(path: Path, torn: list[Torn], limits: ReadLimits) -> Iterator[Event]:
    with reading(path):
        for number, line, ended, long in cut_lines(blocks(path, limits), limits.line):
            if long:
                raise limits.too_long(f"{path}, line {number}").at(path, number)
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                if not ended:
                    torn.append(Torn(path, number, line.decode("utf-8", "replace")))
                    return
                raise InputError(
                    f"{path}, line {number} is not JSON: {one_line(error)}; write one object per line",
                    path=path,
                    row=number,
                ) from None
            yield _from_row(row, path, "line", number)


def _rows(path: Path, limits: ReadLimits) -> Iterator[Event]:
    with reading(path), pa.OSFile(str(path)) as raw:
        for number, row in enumerate(parquet_rows(raw, str(path), limits), 1):
            yield _from_row(row, path, "row", number)


def parquet_rows(raw: Any, where: str, limits: ReadLimits) -> Iterator[dict[str, Any]]:
    """The rows of a table of events, of its columns that say something; `where` is for errors.

    It may grow, in memory, as a compressed file of text may.
    """
    grown = rows = 0
    with pq.ParquetFile(raw) as file:
        check_declared(file.metadata, where, raw.size(), limits)
        check_types(file.schema_arrow, _WANTED, where, InputError, _OPTIONAL)
        columns = [name for name in _WANTED if name in file.schema_arrow.names]
        for batch in file.iter_batches(_ROWS_AT_ONCE, columns=columns):
            grown += batch.nbytes
            limits.check_unpacked(where, raw.size(), grown)
            rows += batch.num_rows
            yield from batch.to_pylist()
        check_rows(file.metadata, where, rows)


def _from_row(row: Any, path: Path, word: str, number: int) -> Event:
    try:
        return from_row(row, f"{path}, {word} {number}")
    except InputError as error:
        raise error.at(path, number) from None


def from_row(row: Any, where: str) -> Event:
    """The event of a row in JSON's types; one that is none is refused, with the words for where it is."""
    if not isinstance(row, dict):
        raise InputError(f"{where} is {row!r}; give an object with the keys at, event, node and topics")
    missing = [name for name in _WANTED if name not in _OPTIONAL and row.get(name) is None]
    if missing:
        raise InputError(f"{where} has no {missing[0]!r}; an event needs the keys at, event and node")
    topics = row.get("topics")
    try:
        return Event(row["at"], row["event"], row["node"], () if topics is None else topics, row.get("id"))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def write_events(events: Iterable[Event], path: str | Path, *, force: bool = False) -> None:
    """Write events as they come to a `*.jsonl` or `*.parquet` file, which appears when it is complete."""
    path = Path(path)
    kind = path.suffix.removeprefix(".")
    if kind not in _WRITERS:
        raise InputError(
            f"{path} is neither *.jsonl nor *.parquet; events are written to such files", path=path
        )
    with new_file(path, force) as partial:
        _WRITERS[kind](events, partial)


def as_row(event: Event) -> dict[str, Any]:
    """An event in JSON's types; what is not set is left out."""
    row: dict[str, Any] = {"at": event.at, "event": event.event, "node": event.node}
    if event.event != "leave":
        row["topics"] = list(event.topics)
    if event.id is not None:
        row["id"] = event.id
    return row


def as_line(event: Event) -> str:
    """An event as a line of JSON, without its end."""
    return compact(as_row(event))


def _write_lines(events: Iterable[Event], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.writelines(as_line(event) + "\n" for event in events)


def _write_rows(events: Iterable[Event], path: Path) -> None:
    rows: list[dict[str, Any]] = []
    with pq.ParquetWriter(path, SCHEMA.with_metadata(TABLE_MARK)) as writer:
        for event in events:
            rows.append({name: getattr(event, name) for name in SCHEMA.names})
            if len(rows) == _ROWS_AT_ONCE:
                writer.write_batch(pa.RecordBatch.from_pylist(rows, writer.schema))
                rows = []
        writer.write_batch(pa.RecordBatch.from_pylist(rows, writer.schema))


_WRITERS = {"jsonl": _write_lines, "parquet": _write_rows}
