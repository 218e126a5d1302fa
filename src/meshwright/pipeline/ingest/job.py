"""From raw files to an interests dataset: read, reject what can't be used, make ids and lists, write.

Two engines do the work, in this process or on Spark, and give the same dataset.
Names that differ only in case or in blanks at their ends are legal, and are reported as a likely mistake.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from meshwright.model.reading.columns import listed
from meshwright.model.reading.text import is_packed
from meshwright.model.storage.dataset import LEFT_BEHIND, draft, list_left_behind, remove_left_behind, writing
from meshwright.model.storage.manifest import MANIFEST, make_manifest, write_manifest
from meshwright.model.wildcards import Wildcards
from meshwright.pipeline.ingest.cutting import MISSING_COLUMN
from meshwright.pipeline.ingest.inputs import (
    TEXT_FORMATS,
    WHOLE_FORMATS,
    InputFile,
    beginning,
    format_of,
    input_files,
)
from meshwright.pipeline.ingest.layouts import file_layouts, like_csv, like_header
from meshwright.pipeline.ingest.lines import Passed
from meshwright.pipeline.ingest.notices import COMMAS, COMMENTS, DAMAGED, HEADER, WIDE, WILDCARDS
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.runtime.errors import DamagedFileError, InputError
from meshwright.runtime.memory import has_room, needed
from meshwright.runtime.places import Place, is_local_address
from meshwright.runtime.progress import Progress, StageTimer
from meshwright.runtime.wording import count

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Quality(NamedTuple):
    """How many rows there were, and how many of them can't be used, by reason, the commonest first.

    `notes` counts what is no row and was passed over, by the name of the fact that says so.
    """

    rows: int
    reasons: dict[str, int]
    notes: dict[str, int]

    @classmethod
    def of(cls, good: int, reasons: Mapping[str, int], notes: Mapping[str, int]) -> Quality:
        """Build from the number of rows that can be used, and of others by reason."""
        ordered = dict(sorted(reasons.items(), key=lambda item: (-item[1], item[0])))
        return cls(good + sum(ordered.values()), ordered, {name: notes[name] for name in sorted(notes)})

    @property
    def rejected(self) -> int:
        """How many rows can't be used."""
        return sum(self.reasons.values())


def line_notes(passed: Passed) -> dict[str, int]:
    """The notes of `Quality` on lines of text."""
    return {WIDE: passed.wide, COMMENTS: passed.comments}


def wildcard_fact(found: Wildcards) -> dict[str, Any]:
    """The fact about topics with wildcards; none where there are none."""
    return {WILDCARDS: found._asdict()} if found.topics else {}


class Rows(Protocol):
    """The rows of all files, wherever an engine holds them."""

    quality: Quality

    def write_rejected(self, folder: Place) -> None:
        """Write what can't be used to `folder`, by file and line; a table of no rows where all can."""

    def example(self, reason: str) -> tuple[str, int]:
        """The file and line of the first row that can't be used for a reason."""

    def write_tables(self, folder: Place, timer: StageTimer) -> tuple[dict[str, int], dict[str, Any]]:
        """Write the tables of the dataset; gives its counts, and what else is found in it."""


Own = TypeVar("Own", bound=Rows)
_Own_co = TypeVar("_Own_co", bound=Rows, covariant=True)


class Engine(Protocol[_Own_co]):
    """What reads files, as a value of its own."""

    name: str

    def read(
        self,
        files: Sequence[InputFile],
        format: str,
        options: IngestOptions,
        folder: Place,
        timer: StageTimer,
    ) -> _Own_co:
        """The rows of the files; `folder` is the draft of the dataset."""


def fingerprint(session: SparkSession | None, inputs: Sequence[str]) -> list[dict[str, Any]]:
    """Path, bytes and time of writing of every input file; as cheap as listing them."""
    with _translated(session):
        files = input_files(session, inputs).files
    return [{"path": file.path, "bytes": file.bytes, "modified": file.modified} for file in files]


_MOST_TEXT = 1 << 33
"""Bytes of text that this process reads within some minutes; for more, many cores are worth Spark's start."""

_TIMES_UNPACKED = 6
"""How much longer text is than a compressed file of it; measured on lists of follows."""

_TEXT_OF_A_PAIR = 20
_SHORTEST_PAIR = 8
"""Bytes of text; pairs of a text are counted by the shortest, those of Parquet are known."""

_CHECKED_FILES = 100


_LITTLE_TEXT = 1 << 26


class Size(NamedTuple):
    """How large inputs are: whether this process can read them, and whether they are little for Spark."""

    fits_here: bool
    is_little: bool


def _check_for_spark(files: Sequence[InputFile], format: str) -> None:
    """Refuse files that are read whole."""
    if format in WHOLE_FORMATS:
        raise InputError(f"{files[0].path}: {format} files are read without Spark; use --engine local")


class _Extent(NamedTuple):
    """About how many bytes of text there are to read, and pairs in it."""

    text: int
    pairs: int

    def fits(self, then: str | None) -> bool:
        """Whether this process can read it, and do the work on it that comes then, if any."""
        if self.text > _MOST_TEXT or not has_room(needed("ingesting", text_bytes=self.text)):
            return False
        counts = {"nodes": 0, "topics": 0, "interests": self.pairs}
        return then is None or has_room(needed("reading", **counts) + needed(then, **counts))


def _extent(files: Sequence[InputFile], format: str) -> _Extent:
    if format == "parquet":
        return _stated_extent(files)
    packed = sum(file.bytes for file in files if is_packed(file.path))
    text = sum(file.bytes for file in files) + (_TIMES_UNPACKED - 1) * packed
    return _Extent(text, text // _SHORTEST_PAIR)


def _stated_extent(files: Sequence[InputFile]) -> _Extent:
    """What the footers of Parquet files state, of the first hundred; damage is told when they are read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    values = text = seen = 0
    for file in files[:_CHECKED_FILES]:
        with suppress(pa.ArrowException, OSError):
            footer = pq.read_metadata(file.path)
            groups = [footer.row_group(at) for at in range(footer.num_row_groups)]
            values += sum(
                max((group.column(at).num_values for at in range(group.num_columns)), default=0)
                for group in groups
            )
            text += sum(group.total_byte_size for group in groups)
            seen += file.bytes
    share = sum(file.bytes for file in files) / seen if seen else 0.0
    return _Extent(int(share * max(text, _TEXT_OF_A_PAIR * values)), int(share * values))


def check_inputs(
    inputs: Sequence[str], options: IngestOptions, engine: str = "auto", then: str | None = None
) -> Size:
    """How large the inputs are, as far as they are on this machine, also for the work that comes then.

    Refuses, without Spark, inputs on this machine that are missing, of several formats, without the columns
    that are asked for (of the first hundred files only), or not for the `engine` that is asked for.
    """
    if not all(is_local_address(text) for text in inputs):
        return Size(False, False)
    files = input_files(None, inputs).files
    format = format_of(files, options.format, options.names)
    options.check_format(format)
    if engine == "spark":
        _check_for_spark(files, format)
    if format in TEXT_FORMATS:
        with suppress(*([DamagedFileError] if options.damaged == "skip" else [])):
            like_header(None, files[0], format, options)
            file_layouts(None, files[:_CHECKED_FILES], format, options)
    extent = _extent(files, format)
    return Size(extent.fits(then), extent.text <= _LITTLE_TEXT)


def _translated(session: SparkSession | None) -> AbstractContextManager[None]:
    """Turn errors of Spark into ours; without a session there is nothing to turn."""
    if session is None:
        return nullcontext()
    from meshwright.pipeline.spark.failures import translated

    return translated()


def _engine(session: SparkSession | None) -> Engine[Rows]:
    """Imported where it is needed: each brings much that the other does without."""
    if session is None:
        from meshwright.pipeline.ingest.in_process import InProcess

        return InProcess()
    from meshwright.pipeline.ingest.on_spark import OnSpark

    return OnSpark(session)


def ingest(
    session: SparkSession | None,
    inputs: Sequence[str],
    out: Place,
    options: IngestOptions,
    *,
    rejected: Place | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Read files of pairs, follows or friendships, write an interests dataset at `out`; gives its manifest.

    What can't be used goes to `rejected`, by default a table of the dataset. When it is more than
    `options.max_rejected` of the rows, the dataset is not made, and that table alone stays. Text is parsed
    once. On Spark, pairs are shuffled once, by node, and nothing of the size of the interests comes to the
    driver. Without a session, all of it is done in this process, with all interests in memory.
    """
    timer = StageTimer(progress)
    engine = _engine(session)
    with _translated(session), draft(out, force) as folder:
        asked = look_at(session, inputs, options)
        if session is not None:
            _check_for_spark(asked.files, asked.format)
        asked, rows = read_sound(engine, session, asked, options, folder, timer)
        place = _keep_rejected(rows, folder / LEFT_BEHIND, rejected)
        quality = rows.quality
        if too_many(quality, options):
            keys = _keys_told(session, asked, options, quality)
            raise _too_many(rows, options, place, out, keys, keep=rejected is None)
        facts = asked.facts | row_facts(quality, options) | _example(rows)
        with writing(out):
            counts, found = rows.write_tables(folder, timer)
        facts |= found
        tables = {LEFT_BEHIND: quality.rejected} if rejected is None else {}
        made_by = _made_by(engine, inputs, options, timer)
        manifest = make_manifest("interests", counts, facts, tables, made_by)
        with writing(out):
            write_manifest(folder, manifest)
    return manifest


def read_sound(
    engine: Engine[Own],
    session: SparkSession | None,
    asked: Asked,
    options: IngestOptions,
    folder: Place,
    timer: StageTimer,
) -> tuple[Asked, Own]:
    """The rows of the files, without damaged ones where these may be skipped, and what was read then.

    A file that turns out to be damaged is left out, and the others are read again from the start, so that
    nothing of it is counted. Footers of Parquet files, which tell most damage, are looked at before any row.
    """
    damaged: list[str] = []
    while True:
        try:
            with _translated(session):
                rows = engine.read(asked.files, asked.format, options, folder, timer)
            return asked.without(damaged), rows
        except DamagedFileError as error:
            named = [file for file in asked.files if _is_named(file, error)]
            if options.damaged != "skip" or not named or len(named) == len(asked.files):
                raise
            damaged += [file.path for file in named]
            asked = asked._replace(files=[file for file in asked.files if file not in named])


def _is_named(file: InputFile, error: DamagedFileError) -> bool:
    """Whether an error is about a file; of one that comes from a task of Spark's, only the words are left."""
    if error.paths or error.path is not None:
        return file.path in (error.paths or (error.path,))
    return str(error).startswith((f"{file.path}:", f"{file.path} "))


_MOST_NAMED = 100


class Asked(NamedTuple):
    """The files of an ingest, their format, and the facts about them."""

    files: Sequence[InputFile]
    format: str
    facts: dict[str, Any]

    def without(self, damaged: Sequence[str]) -> Asked:
        """The same, with the facts about damaged files."""
        if not damaged:
            return self
        told = {"count": len(damaged), "files": sorted(damaged)[:_MOST_NAMED]}
        return self._replace(facts=self.facts | {"files": len(self.files), DAMAGED: told})


def look_at(session: SparkSession | None, inputs: Sequence[str], options: IngestOptions) -> Asked:
    """Find the files, and refuse options that their format does not have."""
    listing = input_files(session, inputs)
    format = format_of(listing.files, options.format, options.names)
    options.check_format(format)
    suspected = _suspected(session, listing.files[0], format, options)
    return Asked(
        listing.files,
        format,
        {"files": len(listing.files), **listing.facts(), "format": format, **suspected},
    )


def too_many(quality: Quality, options: IngestOptions) -> bool:
    """Whether more rows can't be used than may be."""
    return quality.rejected > options.max_rejected * quality.rows


def _suspected(
    session: SparkSession | None, file: InputFile, format: str, options: IngestOptions
) -> dict[str, Any]:
    """The facts about a first line that may be no row, or be cut in the wrong way."""
    found: dict[str, Any] = {}
    with suppress(*([DamagedFileError] if options.damaged == "skip" else [])):
        found = {
            HEADER: like_header(session, file, format, options) if format in TEXT_FORMATS else None,
            COMMAS: like_csv(session, file, options) if format == "edges" else None,
        }
    return {name: line._asdict() for name, line in found.items() if line is not None}


def row_facts(quality: Quality, options: IngestOptions) -> dict[str, Any]:
    """The facts about rows; unused columns are reported, unless two columns were chosen."""
    found = {"rows": quality.rows, "rejected": quality.rejected, "rejected_reasons": quality.reasons}
    notes = {name: count for name, count in quality.notes.items() if count}
    if options.columns is not None:
        notes.pop(WIDE, None)
    return found | notes


FIRST_REJECTED = "first_rejected"


def _example(rows: Rows) -> dict[str, Any]:
    """The fact about a row that can't be used: the first one with the commonest reason."""
    for reason in rows.quality.reasons:
        file, line = rows.example(reason)
        return {FIRST_REJECTED: {"file": file, "line": line, "reason": reason}}
    return {}


def _keys_told(session: SparkSession | None, asked: Asked, options: IngestOptions, quality: Quality) -> str:
    """Where lines lack columns: another format; of JSON, the keys looked for and those of the first line."""
    if next(iter(quality.reasons)) != MISSING_COLUMN:
        return ""
    if asked.format == "edges":
        return "; if a line is a node with all its topics, or a node alone, give --format adjacency"
    if asked.format != "jsonl":
        return ""
    lines = beginning(session, asked.files[0], 1, options.limits).removeprefix(codecs.BOM_UTF8).split(b"\n")
    try:
        first = json.loads(lines[0])
    except ValueError:
        return ""
    there = f"; its first line has the keys {listed(list(first))}" if isinstance(first, dict) else ""
    return f"; looked for the keys {listed(options.names)}{there}: name two with --columns A,B"


def _keep_rejected(rows: Rows, folder: Place, target: Place | None) -> Place:
    """Write what can't be used, and move it to `target`, if that is given. Gives where it is."""
    with writing(folder):
        rows.write_rejected(folder)
        list_left_behind(folder)
    return folder if target is None else _move_rejected(folder, target)


def _move_rejected(place: Place, target: Place) -> Place:
    """Move the table of what can't be used to where it stays, in place of that of an earlier attempt."""
    remove_left_behind(target)
    with writing(target):
        place.rename(target)
    return target


def _too_many(
    rows: Rows, options: IngestOptions, place: Place, out: Place, keys: str, keep: bool
) -> InputError:
    """The error for too many rejected rows; the table of them is moved to where it stays, if it may."""
    where = f"; all rejected rows are in {place}"
    if keep and (out / MANIFEST).exists():
        where = f"; the dataset at {out} is unchanged: ingest to another path to see all rejected rows"
    elif keep:
        where = f"; all rejected rows are in {_move_rejected(place, out / LEFT_BEHIND)}"
    return InputError(f"{words_on_rejected(rows, options)}{keys}{where}")


def words_on_rejected(rows: Rows, options: IngestOptions) -> str:
    """How many rows can't be used, and the most common reason with an example."""
    quality = rows.quality
    reason, number = next(iter(quality.reasons.items()))
    file, line = rows.example(reason)
    is_alone = list(quality.reasons.values()).count(number) == 1
    which = "the most common reason" if is_alone else "one of the most common reasons"
    return (
        f"{quality.rejected:,} of {quality.rows:,} rows can't be used, more than --max-rejected "
        f"{options.max_rejected:g} allows; {which} is {reason!r}, in {count(number, 'row')}, "
        f"as in {file}, line {line}"
    )


def _made_by(
    engine: Engine[Rows], inputs: Sequence[str], options: IngestOptions, timer: StageTimer
) -> Mapping[str, Any]:
    return {
        "command": "ingest",
        "engine": engine.name,
        "options": asdict(options),
        "inputs": list(inputs),
        "seconds": {label: round(taken, 3) for label, taken in timer.seconds.items()},
    }
