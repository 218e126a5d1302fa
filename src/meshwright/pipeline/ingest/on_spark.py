"""The engine of an ingest that runs on Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from meshwright.model.storage.dataset import whole, write_tables, writing
from meshwright.model.wildcards import IS_WILDCARD, Wildcards
from meshwright.pipeline.ingest import identify, reading
from meshwright.pipeline.ingest.filters_on_spark import write_filtered
from meshwright.pipeline.ingest.identify import Numbered
from meshwright.pipeline.ingest.inputs import InputFile
from meshwright.pipeline.ingest.job import Quality, line_notes, wildcard_fact
from meshwright.pipeline.ingest.lines import BLOCK_END, Passed
from meshwright.pipeline.ingest.names_alike import MOST_EXAMPLES, looks_of
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.pipeline.ingest.parquet_files import REJECTED
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.status import spark_stage
from meshwright.pipeline.spark.storage import drop_by_products, url
from meshwright.runtime.owned import remove_own_folder
from meshwright.runtime.places import Place, is_local
from meshwright.runtime.progress import StageTimer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_BOTH_WAYS = """inline(if(topic is null or node = topic, array(struct(node, topic)),
                          array(struct(node, topic), struct(topic as node, node as topic))))"""


class OnSpark:
    """See `Engine`."""

    name = "spark"

    def __init__(self, session: SparkSession) -> None:
        self._session = session

    def read(
        self,
        files: Sequence[InputFile],
        format: str,
        options: IngestOptions,
        folder: Place,
        timer: StageTimer,
    ) -> SparkRows:
        """Text is parsed into Parquet, Parquet is used as it is."""
        session, scratch = self._session, folder / "scratch"
        is_parquet = format == "parquet"
        with spark_stage(session, timer, "reading"):
            if is_parquet:
                rows = reading.parquet_rows(session, files, options)
            else:
                rows = reading.stage_lines(session, files, format, options, scratch / "rows")
            with reading.damage_named(session, files, options) if is_parquet else nullcontext():
                quality = quality_of(rows)
        return SparkRows(session, files, rows, quality, options, scratch)


class SparkRows:
    """See `Rows`: `node, topic, reason` and where from."""

    def __init__(
        self,
        session: SparkSession,
        files: Sequence[InputFile],
        rows: DataFrame,
        quality: Quality,
        options: IngestOptions,
        scratch: Place,
    ) -> None:
        self.quality = quality
        self._session, self._files, self._rows = session, files, rows
        self._options, self._scratch = options, scratch

    def write_rejected(self, folder: Place) -> None:
        """Sorted on Spark; where there is nothing to sort, and a disk, it needs no job."""
        if not self.quality.rejected and is_local(folder):
            write_tables(folder.parent, {folder.name: whole(REJECTED.empty_table())}, None)
            return
        self._rejected().write.parquet(url(folder))
        drop_by_products(folder)

    def example(self, reason: str) -> tuple[str, int]:
        """Found by a job of its own."""
        file, line = self._rejected().filter(f"reason = '{reason}'").select("file", "line").take(1)[0]
        return file, line

    def _rejected(self) -> DataFrame:
        if not self.quality.rejected:
            return self._session.createDataFrame([], reading.REJECTED)
        of_lines = "block" in self._rows.columns
        table_of = reading.rejected_lines if of_lines else reading.rejected_parquet
        return table_of(self._session, self._rows, self._files).orderBy("file", "line", "reason", "text")

    def write_tables(self, folder: Place, timer: StageTimer) -> tuple[dict[str, int], dict[str, Any]]:
        """Nodes are written with their lists before any table, in the order of names."""
        facts: dict[str, int] = {}
        with spark_stage(self._session, timer, "making ids"):
            if self._options.filters is None:
                nodes, topics = self._make_ids()
            else:
                nodes, topics, facts = self._make_classes(timer)
        with spark_stage(self._session, timer, "writing"):
            counts, found = _write(folder, nodes, topics)
            if self._options.topics_are_names:
                found |= wildcard_fact(_wildcards(topics.frame))
        with writing(folder.parent):
            remove_own_folder(self._scratch)
            drop_by_products(folder)
        return counts, {**found, **facts}

    def _make_classes(self, timer: StageTimer) -> tuple[Numbered, Numbered, dict[str, int]]:
        """The same where topics are filters: the topics are their classes."""
        rows, scratch = self.quality.rows, self._scratch
        made = write_filtered(self._session, self._usable(), rows, self._options, scratch, timer)
        return made.nodes, made.topics, {"duplicates": made.duplicates, **made.facts}

    def _make_ids(self) -> tuple[Numbered, Numbered]:
        """The tables of nodes, with their lists, and of topics, sorted and numbered."""
        session, options = self._session, self._options
        pairs = related(self._usable(), options.relation)
        names = pairs.filter("topic is not null").selectExpr("topic as name")
        if options.own_topic:
            names = names.unionAll(pairs.selectExpr("node as name"))
        topics = identify.write_topics(session, names, self.quality.rows, self._scratch / "topics")
        coded = identify.coded(pairs, topics)
        if options.relation != "pairs":
            coded = coded.unionAll(identify.as_users(topics, options.own_topic))
        nodes = identify.write_lists(session, coded, self.quality.rows, self._scratch / "nodes")
        return nodes, topics

    def _usable(self) -> DataFrame:
        """`node, topic` of the rows that can be used."""
        # Reasons for rows of Parquet are found anew in each pass: if there are none, not to look is faster.
        all_are = not self.quality.rejected and "block" not in self._rows.columns
        return (self._rows if all_are else self._rows.filter("reason is null")).select("node", "topic")


def quality_of(rows: DataFrame) -> Quality:
    """Count rows by reason; one job."""
    sums = [f.sum(name) if name in rows.columns else f.lit(0) for name in Passed._fields]
    found = rows.groupBy("reason").agg(f.count("*"), *sums).collect()
    counts = {row[0]: row[1] for row in found if row[0] != BLOCK_END}
    passed = Passed(*(sum(row[at] or 0 for row in found) for at in range(2, 2 + len(sums))))
    return Quality.of(counts.pop(None, 0), counts, line_notes(passed))


def related(pairs: DataFrame, relation: str) -> DataFrame:
    """Rows as interests; a friendship is one in both directions."""
    return pairs.selectExpr(_BOTH_WAYS) if relation == "friendship" else pairs


def _write(folder: Place, nodes: Numbered, topics: Numbered) -> tuple[dict[str, int], dict[str, Any]]:
    tables = {
        "topics": topics.frame,
        "nodes": nodes.frame.drop("topic_ids", "duplicates"),
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


def _wildcards(topics: DataFrame) -> Wildcards:
    """`find_wildcards` of the `name`s of a table."""
    found = topics.filter(f.col("name").rlike(IS_WILDCARD)).agg(f.count("*"), f.min("name")).first()
    return Wildcards(*(found or (0, None)))


def _with_looks(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch.append_column("look", looks_of(batch.column("name")))


def look_alikes(tables: Mapping[str, DataFrame]) -> dict[str, dict[str, Any]]:
    """`names_alike` of the distinct `name`s of each table."""
    frames = [table.select(f.lit(what).alias("what"), "name") for what, table in tables.items()]
    names = reduce(lambda one, other: one.unionAll(other), frames)
    looks = names.mapInArrow(_with_looks, "what string, name string, look string")
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
        examples = alike.filter(f.col("what") == what).orderBy("look").limit(MOST_EXAMPLES).collect()
        found[what] = {"count": count, "examples": [[row.one, row.other] for row in examples]}
    return found
