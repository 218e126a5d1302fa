"""Files of any format as rows on Spark: pairs of names, and what can't be used with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from operator import or_
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import xxhash

from meshwright.model.reading.limits import ReadLimits
from meshwright.model.reading.text import is_packed
from meshwright.model.wildcards import IS_WILDCARD, SIGNS
from meshwright.pipeline.ingest import cutting, lines
from meshwright.pipeline.ingest.cutting import Layout
from meshwright.pipeline.ingest.file_parts import (
    check_all_handed,
    longest_piece,
    parts_of,
    staged_pieces,
    staged_shares,
)
from meshwright.pipeline.ingest.filters_on_spark import filter_fault
from meshwright.pipeline.ingest.inputs import InputFile, schemas
from meshwright.pipeline.ingest.layouts import file_layouts, no_names, parquet_names, refuses_wildcards
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.failures import names_no_input
from meshwright.pipeline.spark.storage import read_table, url
from meshwright.runtime.errors import DamagedFileError, InputError
from meshwright.runtime.places import Place

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType

STAGED = (
    "node string, topic string, file bigint, block bigint, line bigint, reason string, text string, "
    "wide bigint, comments bigint"
)
REJECTED = "file string, line bigint, reason string, text string"
# One core unpacks a gzip file, and all should read what it writes: so in small pieces.
_STAGED_BLOCK_BYTES = 1 << 23
_LONGEST_PIECE = "mapreduce.input.linerecordreader.line.maxlength"
# Hadoop unpacks files by their endings, unless another codec claims one. The package of Hadoop that comes
# with Spark has the setting for it under a name that was changed by mistake.
_AS_IT_IS = "org.apache.hadoop.io.compress.PassthroughCodec"
_AS_IT_IS_ENDING = (
    "io.compress.passthrough.extension",
    "org.apache.hadoop.shaded.io.compress.passthrough.extension",
)
_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_TEXTS = ("string", "binary", "boolean", *_INTEGERS)


def stage_lines(
    session: SparkSession, files: Sequence[InputFile], format: str, options: IngestOptions, folder: Place
) -> DataFrame:
    """Write the lines of text files to `folder` as rows of STAGED, in one pass, and read them from there."""
    keys = file_keys(files)
    keyed = dict(zip(keys, files, strict=True))
    layouts = dict(zip(keys, file_layouts(session, files, format, options), strict=True))
    here = {key: file.path for key, file in keyed.items() if file.is_here}
    handed = {key: file for key, file in keyed.items() if not file.is_here}
    frames = [_lines_here(session, here, layouts, options.limits)] if here else []
    frames += _lines_handed(session, handed, layouts, options.limits)
    parsed = _union(frames)
    # Over what an earlier try has left, which met a damaged file.
    parsed.write.mode("overwrite").option("parquet.block.size", _STAGED_BLOCK_BYTES).parquet(url(folder))
    found = read_table(session, folder)
    _check_handed(found, handed, options.limits)
    return found


def _lines_here(
    session: SparkSession, files: Mapping[int, str], layouts: Mapping[int, Layout], limits: ReadLimits
) -> DataFrame:
    """STAGED of files of this machine, which tasks read by themselves."""
    shares = parts_of(files, session.sparkContext.defaultParallelism)
    numbers = session.range(0, len(shares), 1, len(shares))
    how = partial(staged_shares, shares=shares, layouts=layouts, limits=limits)
    return numbers.mapInArrow(how, STAGED)


def _lines_handed(
    session: SparkSession, files: Mapping[int, InputFile], layouts: Mapping[int, Layout], limits: ReadLimits
) -> list[DataFrame]:
    """STAGED of files elsewhere, whose bytes Spark hands to tasks."""
    how = partial(staged_pieces, files=files, layouts=layouts, limits=limits)
    by_form: dict[str, list[InputFile]] = {}
    for file in files.values():
        form = PurePosixPath(file.path).suffix.lower() if is_packed(file.path) else ""
        by_form.setdefault(form, []).append(file)
    return [
        _pieces(session, form, longest_piece(some[0].path, limits), places).mapInArrow(how, STAGED)
        for form, some in by_form.items()
        for places in _together(some)
    ]


def _pieces(session: SparkSession, form: str, longest: int, places: list[str]) -> DataFrame:
    """`piece, file, block` of files of one ending: what is between ends of lines, as it is in the file.

    A file is known by a hash of its path: the path itself would be most of what goes to Python.
    """
    reader = _without_globs(session).option("lineSep", "\n").option(_LONGEST_PIECE, str(longest))
    if form:
        reader = reader.option("io.compression.codecs", _AS_IT_IS)
        for name in _AS_IT_IS_ENDING:
            reader = reader.option(name, form)
    text: DataFrame = reader.text(places)
    return text.select(
        f.col("value").cast("binary").alias("piece"),
        f.xxhash64("_metadata.file_path").alias("file"),
        f.col("_metadata.file_block_start").alias("block"),
    )


def _check_handed(staged: DataFrame, files: Mapping[int, InputFile], limits: ReadLimits) -> None:
    """Refuse a file of which a line is missing, or all of them."""
    if not files:
        return
    ends = staged.filter((f.col("reason") == lines.BLOCK_END) & f.col("text").isNotNull())
    sums = ends.groupBy("file").agg(f.sum(f.col("text").cast("bigint"))).collect()
    counts = {key: count for key, count in sums}
    for key, file in files.items():
        check_all_handed(file, counts.get(key, 0), limits)


def _without_globs(session: SparkSession) -> Any:
    """A reader that takes a name that looks like a pattern (`a[1]`) as it stands."""
    return session.read.option("__globPaths__", "false")


def _together(files: Sequence[InputFile]) -> list[list[str]]:
    """The files to give to Spark at once: a name that looks like a pattern alone.

    Among others, Spark reads its whole folder in its place, as often as there are such names.
    """
    plain = [file.place for file in files if not file.looks_like_pattern]
    odd = [[file.place] for file in files if file.looks_like_pattern]
    return [plain, *odd] if plain else odd


def _union(frames: Sequence[DataFrame]) -> DataFrame:
    return reduce(lambda one, other: one.unionAll(other), frames)


_SPARKS_SEED = 42


def file_keys(files: Sequence[InputFile]) -> list[int]:
    """The hash of each file's path, which rows carry: Spark's `xxhash64`, without a job."""
    hashes = [xxhash.xxh64_intdigest(file.url.encode(), _SPARKS_SEED) for file in files]
    keys = [key - (1 << 64) if key >= 1 << 63 else key for key in hashes]
    if len(set(keys)) < len(keys):
        raise InputError(
            "the paths of two files have the same hash; rename one of them, or ingest them separately"
        )
    return keys


def rejected_lines(session: SparkSession, staged: DataFrame, files: Sequence[InputFile]) -> DataFrame:
    """REJECTED of what `stage_lines` wrote; lines are counted from the start of the file, not of a block."""
    names = session.createDataFrame(
        [(key, file.path) for key, file in zip(file_keys(files), files, strict=True)],
        "file bigint, path string",
    )
    before = session.createDataFrame(_lines_before(staged), "file bigint, block bigint, before bigint")
    bad = staged.filter(f.col("reason") != lines.BLOCK_END)
    return (
        bad.join(f.broadcast(names), "file")
        .join(f.broadcast(before), ["file", "block"])
        .select(
            f.col("path").alias("file"), (f.col("line") + f.col("before")).alias("line"), "reason", "text"
        )
    )


def _lines_before(staged: DataFrame) -> list[tuple[int, int, int]]:
    """How many lines of its file come before each block; collects a row for each block."""
    ends = staged.filter(f.col("reason") == lines.BLOCK_END).select("file", "block", "line").collect()
    found, before = [], dict[int, int]()
    for file, block, count in sorted(map(tuple, ends)):
        found.append((file, block, before.get(file, 0)))
        before[file] = before.get(file, 0) + count
    return found


def parquet_rows(session: SparkSession, files: Sequence[InputFile], options: IngestOptions) -> DataFrame:
    """`node, topic, file, line, reason, text` of Parquet files; lists are exploded, nothing is written."""
    for file in files:
        if file.is_here and ":" in Path(file.path).name:
            raise InputError(f"{file.path}: Spark can't read Parquet from a name with a colon; rename it")
    frames = []
    for alike in _of_same_types(files, schemas(session, files, options.limits), options):
        for places in _together(alike):
            table = _without_globs(session).option("mergeSchema", "false").parquet(*places)
            first, second = _parquet_columns(alike[0].path, table, options)
            row = (f.col("_metadata.row_index") + 1).alias("line")
            path = f.col("_metadata.file_path").alias("file")
            rows = table.select(first.alias("node"), second.alias("topic"), path, row)
            frames.append(_exploded(rows, options.limits.line))
    return _with_reasons(_union(frames), options)


@contextmanager
def damage_named(session: SparkSession, files: Sequence[InputFile], options: IngestOptions) -> Iterator[None]:
    """Refuse a Parquet file by its name where Spark's error, on damage inside a page, has none.

    The files are read again, by halves, until one is left: no more than twice what was read.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        if not names_no_input(str(error)):
            raise
        while len(files) > 1:
            half = files[: len(files) // 2]
            files = files[len(half) :] if _can_be_read(session, half, options) else half
        raise DamagedFileError(
            f"{files[0].path}: the file is damaged or has another format; fetch or write it again"
        ) from error


def _can_be_read(session: SparkSession, files: Sequence[InputFile], options: IngestOptions) -> bool:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        parquet_rows(session, files, options).write.format("noop").mode("overwrite").save()
    except (PySparkException, Py4JError):
        return False
    return True


def _of_same_types(
    files: Sequence[InputFile], schemas: Sequence[pa.Schema], options: IngestOptions
) -> list[list[InputFile]]:
    """The files by the types of the two columns; Spark takes those of one file for all that it is given."""
    alike: dict[tuple[str, ...], list[InputFile]] = {}
    for file, schema in zip(files, schemas, strict=True):
        fields = list(schema)
        if options.positions is None:
            wanted = [field for field in fields if field.name in options.names]
        else:
            wanted = [field for at, field in enumerate(fields) if at in options.positions]
        alike.setdefault(tuple(map(str, wanted)), []).append(file)
    return list(alike.values())


def _parquet_columns(path: str, table: DataFrame, options: IngestOptions) -> tuple[Column, Column]:
    wanted = parquet_names(path, table.schema.names, options)
    first, second = (_as_text(path, name, table.schema[name].dataType) for name in wanted)
    return first, second


def _as_text(path: str, name: str, kind: DataType) -> Column:
    """A column as strings, or lists of strings: integers become decimal, floats have no one spelling."""
    from pyspark.sql.types import ArrayType

    inner = kind.elementType if isinstance(kind, ArrayType) else kind
    if inner.simpleString() not in _TEXTS:
        raise no_names(path, name, kind.simpleString())
    column = f.col(f"`{name.replace('`', '``')}`")
    return column.cast("array<string>" if isinstance(kind, ArrayType) else "string")


def _exploded(rows: DataFrame, longest: int) -> DataFrame:
    """Each element of a list a row; `alone` marks a node whose list of topics is empty.

    `long` marks a list of more bytes than a line may have, of which the first element alone is kept.
    """
    rows = rows.withColumn("alone", f.lit(False)).withColumn("long", f.lit(False))
    if rows.schema["topic"].dataType.simpleString() != "string":
        rows = rows.withColumn("alone", f.coalesce(f.size("topic") == 0, f.lit(False)))
    for name in ("node", "topic"):
        if rows.schema[name].dataType.simpleString() != "string":
            rows = rows.withColumn("long", f.col("long") | _is_long(f.col(name), longest))
            kept = f.when(f.col("long"), f.slice(name, 1, 1)).otherwise(f.col(name))
            rows = rows.withColumn(name, f.explode_outer(kept))
    return rows


def _is_long(names: Column, longest: int) -> Column:
    """Whether a list of names has more bytes than that; few names are told by themselves if they are long."""

    def added(sum: Column, name: Column) -> Column:
        return sum + f.coalesce(f.octet_length(name), f.lit(0))

    bytes_of = f.aggregate(names, f.lit(0).cast("bigint"), added)
    few = f.coalesce(f.size(names) <= longest // cutting.LONGEST_NAME, f.lit(True))
    return f.when(few, f.lit(False)).otherwise(bytes_of > longest)


def _with_reasons(rows: DataFrame, options: IngestOptions) -> DataFrame:
    node, topic = f.col("node"), f.col("topic")
    reason = (
        f.when(f.col("long"), cutting.LONG_LINE)
        .when(node.isNull() | (topic.isNull() & ~f.col("alone")), cutting.NULL)
        .when(~f.is_valid_utf8(node) | ~f.is_valid_utf8(topic), cutting.NOT_UTF8)
        .when((node == "") | (topic == ""), cutting.EMPTY_NAME)
        .when(
            (f.octet_length(node) > cutting.LONGEST_NAME) | (f.octet_length(topic) > cutting.LONGEST_NAME),
            cutting.LONG_NAME,
        )
    )
    if refuses_wildcards(options):
        maybe = reduce(or_, (topic.contains(sign) for sign in SIGNS))
        reason = reason.when(maybe & topic.rlike(IS_WILDCARD), cutting.WILDCARD)
    if options.filters is not None:
        reason = reason.otherwise(filter_fault(f.when(f.is_valid_utf8(topic), topic), options.filters))
    text = f.concat_ws(", ", f.coalesce(node, f.lit("null")), f.coalesce(topic, f.lit("null")))
    shown = f.make_valid_utf8(f.substring(text, 1, cutting.SHOWN_CHARACTERS))
    return rows.select("node", "topic", "file", "line", reason.alias("reason"), shown.alias("text"))


def rejected_parquet(session: SparkSession, rows: DataFrame, files: Sequence[InputFile]) -> DataFrame:
    """REJECTED of what `parquet_rows` gives."""
    names = session.createDataFrame([(file.url, file.path) for file in files], "file string, path string")
    bad = rows.filter(f.col("reason").isNotNull()).join(f.broadcast(names), "file")
    return bad.select(f.col("path").alias("file"), "line", "reason", "text")
