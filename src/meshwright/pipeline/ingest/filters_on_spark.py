"""Rows whose topics are filters, on Spark: the driver makes classes of the distinct filters, tasks use them.

All distinct filters, and the classes of each, are in the driver's memory; rows are not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from meshwright.filters.classes import Classes
from meshwright.model.dense import transposed
from meshwright.model.filtered import FILTERS, class_attributes
from meshwright.model.storage.dataset import whole, write_tables
from meshwright.pipeline.ingest import identify
from meshwright.pipeline.ingest.filter_rows import class_facts, filter_classes, filter_faults
from meshwright.pipeline.ingest.grouping import NO_TOPIC
from meshwright.pipeline.ingest.identify import Numbered
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.storage import read_table
from meshwright.pipeline.spark.tables import written_here
from meshwright.runtime.columns import arrow_of
from meshwright.runtime.places import Place
from meshwright.runtime.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_TOPICS = "name string, dialect string, kind string, example string"


class FilteredTables(NamedTuple):
    """Nodes with their lists and own filters, topics with what their classes are, and what to say of it."""

    nodes: Numbered
    topics: Numbered
    duplicates: int
    facts: dict[str, int]


def filter_fault(topic: Column, dialect: str) -> Column:
    """Why a topic is no filter of a dialect, null where it is one; checked by Arrow's batches."""

    def checked(topics: pa.Array) -> pa.Array:
        return filter_faults(topics.cast(pa.string()), dialect)

    # Where PySpark's types end, its functions do not.
    found: Column = f.arrow_udf(checked, "string")(topic)  # type: ignore[attr-defined]
    return found


def write_filtered(
    session: SparkSession,
    pairs: DataFrame,
    rows: int,
    options: IngestOptions,
    scratch: Place,
    progress: Progress | None,
) -> FilteredTables:
    """The tables of `node, topic` whose topics are filters, sorted and numbered."""
    used = pairs.filter("topic is not null")
    filters = used.select("topic").distinct().orderBy("topic").toArrow()["topic"].combine_chunks()
    classes = filter_classes(filters.cast(pa.string()), options, progress)
    scratch.mkdir(parents=True, exist_ok=True)
    tables = {"topics": whole(_topics(classes)), "classes": whole(_members(filters, classes))}
    with written_here(session, scratch) as folder:
        write_tables(folder, tables, None)
    topics = identify.numbered(session, scratch / "topics", _TOPICS)
    members = read_table(session, scratch / "classes")
    found = pairs.join(members, "topic", "left")
    exploded = found.select(f.col("node").alias("name"), f.explode_outer("ids").alias("code"))
    coded = exploded.select("name", f.coalesce("code", f.lit(NO_TOPIC)).alias("code"))
    nodes = identify.write_lists(session, coded, rows, scratch / "nodes")
    own = used.groupBy(f.col("node").alias("name")).agg(f.sort_array(f.collect_set("topic")).alias(FILTERS))
    # Not `coalesce`, which would make a column that can't be null, unlike that of the other engine.
    given = f.when(f.col(FILTERS).isNull(), f.array().cast("array<string>")).otherwise(f.col(FILTERS))
    joined = nodes.frame.join(own, "name", "left").withColumn(FILTERS, given)
    named = joined.select(*nodes.frame.columns, FILTERS)  # a join puts its key first
    duplicates = used.count() - used.distinct().count()
    return FilteredTables(nodes._replace(frame=named.orderBy("id")), topics, duplicates, class_facts(classes))


def _topics(classes: Classes) -> pa.Table:
    attributes = class_attributes(classes)
    return pa.table({"name": classes.names, **{name: attributes[name] for name in attributes.column_names}})


def _members(filters: pa.StringArray, classes: Classes) -> pa.Table:
    """By filter as it was given, the ids of its classes."""
    indptr, ids = transposed(classes.indptr, classes.filter_ids, len(classes.filters))
    lists = pa.ListArray.from_arrays(arrow_of(indptr.astype(np.int32)), arrow_of(ids))
    return pa.table({"topic": filters.cast(pa.string()), "ids": lists.take(arrow_of(classes.number_of))})
