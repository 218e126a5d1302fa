"""The engine of an ingest that runs in this process, by the functions that Spark's tasks run."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.model.interests import Interests, interest_counts, interest_tables
from meshwright.model.storage.dataset import whole, write_tables
from meshwright.model.wildcards import find_wildcards
from meshwright.pipeline.ingest.file_parts import parts_of, staged_parts
from meshwright.pipeline.ingest.filter_rows import filter_interests
from meshwright.pipeline.ingest.inputs import InputFile
from meshwright.pipeline.ingest.job import Quality, line_notes, wildcard_fact
from meshwright.pipeline.ingest.layouts import file_layouts
from meshwright.pipeline.ingest.lines import BLOCK_END, Passed
from meshwright.pipeline.ingest.names_alike import names_alike
from meshwright.pipeline.ingest.notices import TWO_KINDS
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.pipeline.ingest.pair_ids import PairCoder, interests_of, share_no_name
from meshwright.pipeline.ingest.parquet_files import REJECTED, Found, parquet_rows
from meshwright.pipeline.ingest.whole_files import WHOLE_READERS
from meshwright.runtime.machine import cores
from meshwright.runtime.places import Place, is_local
from meshwright.runtime.progress import StageTimer, stage


class InProcess:
    """See `Engine`."""

    name = "local"

    def read(
        self,
        files: Sequence[InputFile],
        format: str,
        options: IngestOptions,
        folder: Place,
        timer: StageTimer,
    ) -> "LocalRows":
        """All rows are in memory then, as ids."""
        del folder
        coder, read, done = PairCoder(), list[Found](), 0
        with stage(timer, "reading bytes", sum(file.bytes for file in files)) as advance:
            work = _READERS.get(format, partial(_text_rows, format=format))(files, options=options)
            for found, bytes_read in work:
                for batch in found.pairs:
                    coder.add(batch.column(0), batch.column(1))
                read.append(found._replace(pairs=()))
                done += bytes_read
                advance(done)
        return LocalRows(coder, Found.joined(read), options)


def _text_rows(
    files: Sequence[InputFile], *, format: str, options: IngestOptions
) -> Iterator[tuple[Found, int]]:
    """What each share of the files' parts holds, and its bytes; what was rejected comes last."""
    layouts = dict(enumerate(file_layouts(None, files, format, options)))
    shares = parts_of({at: file.path for at, file in enumerate(files)}, cores())
    blocks: list[pa.RecordBatch] = []
    for share in shares:
        for batch in staged_parts(share, layouts, options.limits):
            if batch.column("reason").null_count == batch.num_rows:
                yield Found([batch], []), 0
            else:
                blocks.append(batch)
        yield Found([], []), sum(part.stop - part.start for part in share)
    passed = Passed(
        *(sum(pc.sum(batch.column(name)).as_py() or 0 for batch in blocks) for name in Passed._fields)
    )
    yield Found([], [_numbered(blocks, [file.path for file in files])], line_notes(passed)), 0


def _numbered(blocks: Sequence[pa.RecordBatch], paths: Sequence[str]) -> pa.Table:
    """REJECTED of the rows of STAGED that are no pairs: rejected lines, and the ends of blocks."""
    ends: dict[int, dict[int, int]] = {}
    bad: list[dict[str, Any]] = []
    for row in chain.from_iterable(batch.to_pylist() for batch in blocks):
        if row["reason"] == BLOCK_END:
            ends.setdefault(row["file"], {})[row["block"]] = row["line"]
        else:
            bad.append(row)
    before = {file: _running(lines) for file, lines in ends.items()}
    rows = [
        {**row, "file": paths[row["file"]], "line": row["line"] + before[row["file"]][row["block"]]}
        for row in bad
    ]
    return pa.Table.from_pylist(rows, REJECTED)


def _running(lines: Mapping[int, int]) -> dict[int, int]:
    """How many lines of a file come before each of its blocks, of which the numbers of lines are given."""
    starts = sorted(lines)
    before = np.cumsum([0, *(lines[start] for start in starts)]).tolist()
    return dict(zip(starts, before, strict=False))


_READERS: Mapping[str, Any] = {"parquet": parquet_rows, **WHOLE_READERS}


class LocalRows:
    """See `Rows`: all in memory, those that can be used as ids."""

    def __init__(self, coder: PairCoder, found: Found, options: IngestOptions) -> None:
        order = [(name, "ascending") for name in REJECTED.names]
        self._rejected = pa.concat_tables([REJECTED.empty_table(), *found.rejected]).sort_by(order)
        self._coder, self._options = coder, options
        counted = pc.value_counts(self._rejected["reason"]).to_pylist()
        reasons = {one["values"]: one["counts"] for one in counted}
        self.quality = Quality.of(coder.rows, reasons, found.notes)

    def write_rejected(self, folder: Place) -> None:
        """See `Rows`."""
        assert is_local(folder)
        write_tables(folder.parent, {folder.name: whole(self._rejected)}, None)

    def example(self, reason: str) -> tuple[str, int]:
        """See `Rows`."""
        row = self._rejected.filter(pc.equal(self._rejected["reason"], reason)).slice(0, 1).to_pylist()[0]
        return row["file"], row["line"]

    def write_tables(self, folder: Place, timer: StageTimer) -> tuple[dict[str, int], dict[str, Any]]:
        """See `Rows`."""
        assert isinstance(folder, Path)
        interests, found = self.interests(timer)
        write_tables(folder, interest_tables(interests), timer)
        return interest_counts(interests), found

    def interests(self, timer: StageTimer) -> tuple[Interests, dict[str, Any]]:
        """The interests that the rows state, and what else is found in them."""
        with stage(timer, "making ids"):
            pairs, facts = self._coder.finish(), dict[str, int]()
            if self._options.filters is None:
                interests, duplicates = interests_of(pairs, self._options)
            else:
                interests, duplicates, facts = filter_interests(pairs, self._options, timer)
            alike = {"nodes": names_alike(interests.nodes), "topics": names_alike(interests.topics)}
        found = {"duplicates": duplicates, "look_alikes": alike, **facts}
        if self._options.topics_are_names:
            found |= wildcard_fact(find_wildcards(interests.topics))
        elif self._options.relation == "friendship" and share_no_name(pairs):
            found[TWO_KINDS] = True
        return interests, found
