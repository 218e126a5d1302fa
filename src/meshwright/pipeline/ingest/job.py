"""From raw files to an interests dataset: read, reject what can't be used, make ids and lists, write.

Names that differ only in case or in blanks at their ends are legal, and are reported as a likely mistake.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

from meshwright.model.storage.dataset import LEFT_BEHIND, draft, list_left_behind, remove_left_behind, writing
from meshwright.model.storage.manifest import MANIFEST, make_manifest, write_manifest
from meshwright.pipeline.ingest import identify, reading
from meshwright.pipeline.ingest.identify import Numbered
from meshwright.pipeline.ingest.inputs import InputFile, format_of, input_files
from meshwright.pipeline.ingest.lines import BLOCK_END
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.failures import translated
from meshwright.pipeline.spark.status import spark_stage
from meshwright.pipeline.spark.storage import drop_by_products, read_table, url
from meshwright.runtime.errors import InputError
from meshwright.runtime.owned import remove_own_folder
from meshwright.runtime.places import Place
from meshwright.runtime.progress import Progress, StageTimer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_BLANKS = " \t\r\n\f\v\u00a0\u3000"
_MOST_EXAMPLES = 5


def look_alikes(tables: Mapping[str, DataFrame]) -> dict[str, dict[str, Any]]:
    """How many of the distinct `name`s of each table have a look-alike, and some examples of two such names.

    Of names that look alike at least one is not in lower case or has a blank at an end; so where there is
    none of these, one scan is all.
    """
    look = f.lower(f.btrim("name", f.lit(_BLANKS))).alias("look")
    frames = [table.select(f.lit(what).alias("what"), "name", look) for what, table in tables.items()]
    looks = reduce(lambda one, other: one.unionAll(other), frames)
    odd = looks.filter("name != look").select("what", "look").distinct()
    found: dict[str, dict[str, Any]] = {what: {"count": 0, "examples": []} for what in tables}
    if odd.isEmpty():
        return found
    alike = (
        looks.join(odd, ["what", "look"], "left_semi")
        .groupBy("what", "look")
        .agg(f.count("*").alias("names"), f.min("name").alias("one"), f.max("name").alias("other"))
        .filter("names > 1")
    )
    for what, count in alike.groupBy("what").agg(f.sum("names")).collect():
        examples = alike.filter(f.col("what") == what).orderBy("look").limit(_MOST_EXAMPLES).collect()
        found[what] = {"count": count, "examples": [[row.one, row.other] for row in examples]}
    return found


_BOTH_WAYS = """inline(if(topic is null or node = topic, array(struct(node, topic)),
                          array(struct(node, topic), struct(topic as node, node as topic))))"""


class Quality(NamedTuple):
    """How many rows there were, and how many of them can't be used, by reason, the commonest first."""

    rows: int
    reasons: dict[str, int]

    @property
    def rejected(self) -> int:
        """How many rows can't be used."""
        return sum(self.reasons.values())


def fingerprint(session: SparkSession, inputs: Sequence[str]) -> list[dict[str, Any]]:
    """Path, bytes and time of writing of every input file; as cheap as listing them."""
    with translated():
        files = input_files(session, inputs)
    return [{"path": file.path, "bytes": file.bytes, "modified": file.modified} for file in files]


def ingest(
    session: SparkSession,
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
    once and pairs are shuffled once, by node; nothing of the size of the interests comes to the driver.
    """
    timer = StageTimer(progress)
    with translated(), draft(out, force) as folder:
        scratch = folder / "scratch"
        with spark_stage(session, timer, "reading"):
            files = input_files(session, inputs)
            format = format_of(files, options.format)
            options.check_format(format)
            rows = _read(session, files, format, options, scratch)
            with reading.damage_named(session, files, options) if format == "parquet" else nullcontext():
                quality = quality_of(rows)
            place = _write_rejected(session, rows, files, quality, folder / LEFT_BEHIND)
            if rejected is not None:
                place = _move_rejected(place, rejected)
            if quality.rejected > options.max_rejected * quality.rows:
                raise _too_many(session, quality, options, place, out, keep=rejected is None)
        with spark_stage(session, timer, "making ids"):
            nodes, topics = _make_ids(session, rows, quality, options, scratch)
        with spark_stage(session, timer, "writing"):
            counts, found = _write_tables(session, folder, nodes, topics)
        with writing(out):
            remove_own_folder(scratch)
        read = {"rows": quality.rows, "rejected": quality.rejected, "rejected_reasons": quality.reasons}
        facts = {"files": len(files), "format": format, **read, **found}
        tables = {LEFT_BEHIND: quality.rejected} if rejected is None else {}
        manifest = make_manifest("interests", counts, facts, tables, _made_by(inputs, options, timer))
        with writing(out):
            drop_by_products(folder)
            write_manifest(folder, manifest)
    return manifest


def _read(
    session: SparkSession, files: Sequence[InputFile], format: str, options: IngestOptions, scratch: Place
) -> DataFrame:
    """`node, topic, reason` and where from; text is parsed into Parquet, Parquet is used as it is."""
    if format == "parquet":
        return reading.parquet_rows(session, files, options)
    return reading.stage_lines(session, files, format, options, scratch / "rows")


def quality_of(rows: DataFrame) -> Quality:
    """Count rows by reason; one job."""
    counts = {row[0]: row[1] for row in rows.groupBy("reason").count().collect() if row[0] != BLOCK_END}
    good = counts.pop(None, 0)
    reasons = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return Quality(good + sum(reasons.values()), reasons)


def _write_rejected(
    session: SparkSession, rows: DataFrame, files: Sequence[InputFile], quality: Quality, folder: Place
) -> Place:
    """Write what can't be used, by file and line; a table of no rows where all can. Gives where it is."""
    if not quality.rejected:
        found = session.createDataFrame([], reading.REJECTED)
    elif "block" in rows.columns:
        found = reading.rejected_lines(session, rows, files).orderBy("file", "line")
    else:
        found = reading.rejected_parquet(session, rows, files).orderBy("file", "line")
    found.write.parquet(url(folder))
    drop_by_products(folder)
    list_left_behind(folder)
    return folder


def _move_rejected(place: Place, target: Place) -> Place:
    """Move the table of what can't be used to where it stays, in place of that of an earlier attempt."""
    remove_left_behind(target)
    with writing(target):
        place.rename(target)
    return target


def _too_many(
    session: SparkSession, quality: Quality, options: IngestOptions, place: Place, out: Place, keep: bool
) -> InputError:
    """The error for too many rejected rows; the table of them is moved to where it stays, if it may."""
    reason, count = next(iter(quality.reasons.items()))
    examples = read_table(session, place).filter(f"reason = '{reason}'").select("file", "line").take(1)
    example = ", as at {}:{}".format(*examples[0])
    where = f"; all are in {place}"
    if keep and (out / MANIFEST).exists():
        where = f"; the dataset at {out} stays as it was, so ingest to another path to see all of them"
    elif keep:
        where = f"; all are in {_move_rejected(place, out / LEFT_BEHIND)}"
    return InputError(
        f"{quality.rejected:,} of {quality.rows:,} rows can't be used, more than --max-rejected "
        f"{options.max_rejected:g} allows: {count:,} times {reason!r}{example}{where}"
    )


def usable(rows: DataFrame, quality: Quality) -> DataFrame:
    """`node, topic` of the rows that can be used."""
    # Reasons for rows of Parquet are found anew in each pass: where there were none, not to look is faster.
    all_are = not quality.rejected and "block" not in rows.columns
    return (rows if all_are else rows.filter("reason is null")).select("node", "topic")


def related(pairs: DataFrame, relation: str) -> DataFrame:
    """Rows as interests; a friendship is one in both directions."""
    return pairs.selectExpr(_BOTH_WAYS) if relation == "friendship" else pairs


def _make_ids(
    session: SparkSession, rows: DataFrame, quality: Quality, options: IngestOptions, scratch: Place
) -> tuple[Numbered, Numbered]:
    """The tables of nodes, with their lists, and of topics, sorted and numbered."""
    pairs = related(usable(rows, quality), options.relation)
    names = pairs.filter("topic is not null").selectExpr("topic as name")
    if options.own_topic:
        names = names.unionAll(pairs.selectExpr("node as name"))
    topics = identify.write_topics(session, names, scratch / "topics")
    coded = identify.coded(pairs, topics)
    if options.relation != "pairs":
        coded = coded.unionAll(identify.as_users(topics, options.own_topic))
    nodes = identify.write_lists(session, coded, quality.rows, scratch / "nodes")
    return nodes, topics


def _write_tables(
    session: SparkSession, folder: Place, nodes: Numbered, topics: Numbered
) -> tuple[dict[str, int], dict[str, Any]]:
    """Write the tables of the dataset; gives its counts, and what else is found in it."""
    tables = {
        "topics": topics.frame.select("id", "name"),
        "nodes": nodes.frame.select("id", "name"),
        "lists": nodes.frame.select(f.col("id").alias("node_id"), "topic_ids"),
        "interests": identify.interest_names(nodes, topics),
    }
    for name, frame in tables.items():
        frame.write.parquet(url(folder / name))
    sums = nodes.frame.agg(f.sum(f.size("topic_ids")), f.sum("duplicates")).first()
    interests, duplicates = (int(value or 0) for value in sums or (0, 0))
    alike = look_alikes({"nodes": nodes.frame, "topics": topics.frame})
    counts = {"nodes": nodes.total, "topics": topics.total, "interests": interests}
    return counts, {"duplicates": duplicates, "look_alikes": alike}


def _made_by(inputs: Sequence[str], options: IngestOptions, timer: StageTimer) -> Mapping[str, Any]:
    seconds = {label: round(taken, 3) for label, taken in timer.seconds.items()}
    return {"command": "ingest", "options": asdict(options), "inputs": list(inputs), "seconds": seconds}
