"""Ingest against Polars on the same rows, in one run: processor seconds and peak memory.

    uv sync --frozen --inexact --all-extras --group dev --group benchmarks
    python -m benchmarks.ingesting [--nodes 1000000] [--topics 1000] [--forms parquet small-files …]

Interests are made up (unif, 10 to 150 subscriptions by a power law), and their rows are written in random
order, in several forms. Polars does what ingest does, in its own words: rows without a name are left out,
distinct names are sorted and numbered, and names, lists of ids and pairs of names are written. It runs twice,
with its engine in memory and with the one that streams. Every contender has its own process, and all must
find the same interests. `sort -u` shows the scale, on the first million rows as text. `profile` and `sample`
follow on what was ingested. With `--most-memory GiB`, no process may have more data than that.
"""

import argparse
import gzip
import importlib
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

import meshwright as mw
from meshwright.model.dense import rows_of

_ROWS_A_BLOCK = 1 << 20
_SMALL_FILES = 1_000
_DIRTY = 200
"""Of so many rows, one has no topic, and one comes twice."""
_SLICE = 1_000_000


def blocks(nodes: int, topics: int, rows: int) -> Iterator[pa.Table]:
    """The rows of the workload in random order, `rows` at a time."""
    made = mw.workloads.unif(nodes, topics, min_subscriptions=10, max_subscriptions=150, seed=1)
    order = np.random.default_rng(1).permutation(len(made))
    node, topic = rows_of(made.indptr)[order], made.topic_ids[order]
    for at in range(0, len(made), rows):
        names = made.nodes.take(pa.array(node[at : at + rows]))
        yield pa.table({"node": names, "topic": made.topics.take(pa.array(topic[at : at + rows]))})


def _parquet(tables: Iterator[pa.Table], folder: Path) -> None:
    for at, table in enumerate(tables):
        if at == 0:
            writer = pq.ParquetWriter(folder / "rows.parquet", table.schema)
        writer.write_table(table)
    writer.close()


def _small_files(tables: Iterator[pa.Table], folder: Path) -> None:
    for at, table in enumerate(tables):
        pq.write_table(table, folder / f"{at:05}.parquet")


def _dirty(tables: Iterator[pa.Table], folder: Path) -> None:
    """CSV in four files; `_DIRTY` says what is wrong with it."""
    for at, table in enumerate(tables):
        path, is_new = folder / f"{at % 4}.csv", at < 4
        spoiled = table.slice(0, table.num_rows // _DIRTY)
        bad = spoiled.set_column(1, "topic", pa.array([""] * spoiled.num_rows))
        with path.open("wb" if is_new else "ab") as file:
            for number, part in enumerate((table, spoiled, bad)):
                _write_csv(part, file, header=is_new and number == 0)


def _zipped(tables: Iterator[pa.Table], folder: Path) -> None:
    """CSV in four compressed files."""
    for at, table in enumerate(tables):
        with gzip.open(folder / f"{at % 4}.csv.gz", "wb" if at < 4 else "ab", compresslevel=1) as file:
            _write_csv(table, file, header=at < 4)


def _write_csv(table: pa.Table, file: Any, header: bool) -> None:
    options = pacsv.WriteOptions(include_header=False, quoting_style="none")
    if header:
        file.write(b"node,topic\n")
    pacsv.write_csv(table, file, options)


FORMS: dict[str, Callable[[Iterator[pa.Table], Path], None]] = {
    "parquet": _parquet,
    "small-files": _small_files,
    "dirty-csv": _dirty,
    "gzip": _zipped,
}


def ingest_with_meshwright(source: Path, out: Path, how: str) -> None:
    """What is measured."""
    from meshwright.pipeline.ingest.job import ingest
    from meshwright.pipeline.ingest.options import IngestOptions

    del how
    ingest(None, [str(source)], out, IngestOptions(relation="pairs"))


def ingest_with_polars(source: Path, out: Path, how: str) -> None:
    """The same work with Polars; `how` is the name of its engine."""
    pl: Any = importlib.import_module("polars")
    out.mkdir()
    files = sorted(source.iterdir())
    scan = pl.scan_parquet if files[0].suffix == ".parquet" else pl.scan_csv
    named = [(pl.col(name).is_not_null()) & (pl.col(name) != "") for name in ("node", "topic")]
    rows = scan(source).select("node", "topic").filter(*named)
    if how == "in-memory":
        rows = rows.collect(engine=how).lazy()
    nodes, topics = (
        rows.select(pl.col(name).unique()).collect(engine=how).sort(name).with_row_index(f"{name}_id")
        for name in ("node", "topic")
    )
    ids = rows.join(topics.lazy(), on="topic").join(nodes.lazy(), on="node").select("node_id", "topic_id")
    key = (pl.col("node_id").cast(pl.UInt64) * (1 << 32) + pl.col("topic_id")).alias("key")
    keys = ids.select(key).collect(engine=how).to_series().unique().sort()
    split = {"node_id": (keys // (1 << 32)).cast(pl.UInt32), "topic_id": (keys % (1 << 32)).cast(pl.UInt32)}
    pairs = pl.DataFrame(split)
    lists = pairs.group_by("node_id", maintain_order=True).agg("topic_id")
    for name, table in (("nodes", nodes), ("topics", topics), ("lists", lists)):
        table.write_parquet(out / f"{name}.parquet", compression="snappy")
    by_name = pairs.lazy().join(nodes.lazy(), on="node_id", maintain_order="left")
    by_name = by_name.join(topics.lazy(), on="topic_id", maintain_order="left").select("node", "topic")
    by_name.sink_parquet(out / "interests.parquet", compression="snappy", engine=how)


def sort_with_coreutils(source: Path, out: Path, how: str) -> None:
    """Distinct nodes, topics and pairs of a slice of the rows as text."""
    del how
    out.mkdir()
    env = {**os.environ, "LC_ALL": "C"}
    for name, cut in {"nodes": "cut -d, -f1", "topics": "cut -d, -f2", "pairs": "cat"}.items():
        command = f"{cut} {source / 'slice.csv'} | sort | uniq > {out / name}"
        subprocess.run(["bash", "-c", command], check=True, env=env)


def profile_it(source: Path, out: Path, how: str) -> None:
    """`profile` of what was ingested."""
    del out, how
    mw.profile(mw.Interests.read(source))


def sample_it(source: Path, out: Path, how: str) -> None:
    """`sample --universe 100` of what was ingested."""
    del how
    mw.sample(mw.Interests.read(source), universe=100, seed=1).write(out)


WORK: dict[str, tuple[Callable[[Path, Path, str], None], str]] = {
    "meshwright": (ingest_with_meshwright, ""),
    "polars in memory": (ingest_with_polars, "in-memory"),
    "polars streaming": (ingest_with_polars, "streaming"),
    "sort and uniq": (sort_with_coreutils, ""),
    "profile": (profile_it, ""),
    "sample": (sample_it, ""),
}


class Measured(NamedTuple):
    """Processor seconds, and the peak of memory; None where the work did not fit."""

    busy: float
    bytes: int | None

    def shown(self) -> str:
        """A row of the table, without its name."""
        if self.bytes is None:
            return f"{'did not fit':>17}"
        return f"{self.busy:8.1f} {self.bytes / 2**30:8.2f}"


def measured(name: str, source: Path, out: Path, most_memory: float | None) -> Measured:
    """The work in a process of its own, and what it took."""
    shutil.rmtree(out, ignore_errors=True)
    words = [sys.executable, "-m", "benchmarks.ingesting", "--one", name, str(source), str(out)]
    if most_memory is not None:
        words += ["--most-memory", str(most_memory)]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    if done.returncode and most_memory is None:
        raise SystemExit(f"{name} failed on {source}: {done.stderr}")
    if done.returncode:
        return Measured(0.0, None)
    return Measured(*json.loads(done.stdout.splitlines()[-1]))


def _spent() -> tuple[float, int]:
    """What this process and those that it waited for took; the peak is that since it was started."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
    return sum(usage.ru_utime + usage.ru_stime for usage in both), peak * 1024


def lists_of(out: Path) -> pa.Table:
    """Ids, as either of the two wrote them."""
    folder = out / "lists" if (out / "lists").is_dir() else out / "lists.parquet"
    table = pq.read_table(folder).rename_columns(["node_id", "topic_ids"])
    schema = pa.schema([("node_id", pa.int64()), ("topic_ids", pa.list_(pa.int64()))])
    return table.cast(schema).combine_chunks()


def compare(form: str, source: Path, folder: Path, most_memory: float | None) -> None:
    """Print a row for each contender, and the ratio."""
    rows = {}
    for name in ("meshwright", "polars in memory", "polars streaming"):
        rows[name] = measured(name, source, folder / name.replace(" ", "-"), most_memory)
        print(f"{form:12} {name:18} {rows[name].shown()}", flush=True)
    ours = rows.pop("meshwright")
    fitting = {name: row for name, row in rows.items() if row.bytes is not None}
    for name in fitting:
        if not lists_of(folder / "meshwright").equals(lists_of(folder / name.replace(" ", "-"))):
            raise SystemExit(f"{form}: {name} found other interests")
    if fitting and ours.bytes is not None:
        best = min(row.busy for row in fitting.values())
        print(f"{form}: {ours.busy / best:.2f} times the processor time of Polars, and the same interests")


def main() -> None:
    """Write the rows in each form, and print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--topics", type=int, default=1_000)
    parser.add_argument("--forms", nargs="+", choices=list(FORMS), default=list(FORMS))
    parser.add_argument("--most-memory", type=float, metavar="GiB")
    parser.add_argument("--scratch", type=Path, help="a folder to work in")
    parser.add_argument("--rows-of", nargs=2, metavar=("NODES", "DIR"), help="only write DIR/rows.parquet")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        if given.most_memory is not None:
            most = int(given.most_memory * 2**30)
            resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        work, how = WORK[given.one[0]]
        work(Path(given.one[1]), Path(given.one[2]), how)
        print(json.dumps(_spent()))
        return
    if given.rows_of:
        nodes, place = given.rows_of
        _parquet(blocks(int(nodes), given.topics, _ROWS_A_BLOCK), Path(place))
        return
    folder = Path(tempfile.mkdtemp(prefix="ingesting-", dir=given.scratch))
    try:
        _all(given, folder)
    finally:
        shutil.rmtree(folder)


def _all(given: argparse.Namespace, folder: Path) -> None:
    print(f"{'form':12} {'':18} {'busy s':>8} {'GiB':>8}")
    for form in given.forms:
        source = folder / form
        source.mkdir()
        rows = _ROWS_A_BLOCK
        if form == "small-files":
            rows = -(-28 * given.nodes // _SMALL_FILES)
        FORMS[form](blocks(given.nodes, given.topics, rows), source)
        compare(form, source, folder, given.most_memory)
        shutil.rmtree(source)
    for name in ("profile", "sample"):
        row = measured(name, folder / "meshwright", folder / name, given.most_memory)
        print(f"{'':12} {name:18} {row.shown()}", flush=True)
    table = next(blocks(given.nodes, given.topics, _SLICE))
    with (folder / "slice.csv").open("wb") as file:
        _write_csv(table, file, header=False)
    pq.write_table(table, folder / "slice.parquet")
    ours = measured("meshwright", folder / "slice.parquet", folder / "of-slice", None)
    theirs = measured("sort and uniq", folder, folder / "sorted", None)
    print(
        f"a slice of {table.num_rows:,} rows: meshwright {ours.busy:.2f} s, sort and uniq {theirs.busy:.2f} s"
    )
    print(json.dumps({"rows": 28 * given.nodes, "cores": os.cpu_count()}))


if __name__ == "__main__":
    main()
