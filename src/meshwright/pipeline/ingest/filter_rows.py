"""Rows whose topics are filters: which are none of their dialect, and the interests of the others."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from meshwright.filters.classes import Classes, classes_of
from meshwright.filters.dialects import dialect_of
from meshwright.filters.parsing import parse_filters
from meshwright.model.filtered import dense_of_classes
from meshwright.model.interests import Interests
from meshwright.model.pairs import Pairs
from meshwright.pipeline.ingest.cutting import NO_FILTER
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.pipeline.name_files import read_names
from meshwright.runtime.packing import pack
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
    pairs: Pairs, options: IngestOptions, progress: Progress | None
) -> tuple[Interests, int, dict[str, int]]:
    """The interests of nodes in the classes of filters, how many rows came twice, and what to say of it."""
    rows = pack(pairs.first_ids, pairs.second_ids)
    classes = filter_classes(pairs.second_names, options, progress)
    interests = Interests(*dense_of_classes(pairs, classes))
    return interests, len(rows) - len(np.unique(rows)), class_facts(classes)
