"""Rows whose topics are filters: which are none of their dialect, and the interests of the others."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.filters.classes import Classes, classes_of
from meshwright.filters.dialects import dialect_of
from meshwright.filters.parsing import parse_filters
from meshwright.model.filtered import dense_of_classes
from meshwright.model.interests import Interests
from meshwright.model.names import ranks
from meshwright.model.pairs import Pairs
from meshwright.pipeline.ingest.cutting import NO_FILTER
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.pipeline.name_files import read_names
from meshwright.runtime.arrays import Ids
from meshwright.runtime.progress import Progress


def filter_faults(topics: pa.StringArray, dialect: str) -> pa.StringArray:
    """Why each topic is no filter of a dialect; null where it is one, or is null."""
    coded = topics.dictionary_encode()
    faults = parse_filters(coded.dictionary, dialect_of(dialect)).faults
    if not faults:
        return pa.nulls(len(topics), pa.string())
    reasons = np.full(len(coded.dictionary), None, object)
    reasons[[fault.row for fault in faults]] = [f"{NO_FILTER}: {fault.reason}" for fault in faults]
    return pa.array(reasons, pa.string()).take(coded.indices)


def filter_classes(filters: pa.StringArray, options: IngestOptions, progress: Progress | None) -> Classes:
    """The classes of distinct filters that were read; of the names of a catalogue alone, if there is one."""
    assert options.filters is not None
    names = read_names(None if options.catalogue is None else Path(options.catalogue), options.limits)
    return classes_of(filters, options.filters, names, progress=progress)


def class_facts(classes: Classes) -> dict[str, int]:
    """What a manifest says of filters: how many there are, and how many match no name that exists."""
    used = np.unique(classes.filter_ids)
    return {"filters": len(classes.filters), "filters_without_names": len(classes.filters) - len(used)}


def filter_interests(
    node: pa.ChunkedArray, topic: pa.ChunkedArray, options: IngestOptions, progress: Progress | None
) -> tuple[Interests, int, dict[str, int]]:
    """The interests of nodes in the classes of filters, how many rows came twice, and what to say of it.

    A null topic is a node alone.
    """
    nodes, node_ids = _ids(node)
    alone = topic.is_null()
    filters, filter_ids = _ids(topic.drop_null())
    owners = node_ids[~alone.combine_chunks().to_numpy(zero_copy_only=False)]
    pairs = Pairs(owners, nodes, filter_ids, filters, None)
    distinct = len(np.unique(owners.astype(np.int64) << 32 | filter_ids))
    classes = filter_classes(filters, options, progress)
    interests = Interests(*dense_of_classes(pairs, classes))
    return interests, len(filter_ids) - distinct, class_facts(classes)


def _ids(names: pa.ChunkedArray) -> tuple[pa.StringArray, Ids]:
    """The distinct names, sorted, and for each name its rank."""
    coded = pc.dictionary_encode(names).combine_chunks()
    if isinstance(coded, pa.ChunkedArray):
        coded = pa.concat_arrays(coded.chunks)
    distinct, rank = ranks(coded.dictionary)
    return distinct, rank[coded.indices.to_numpy()]
