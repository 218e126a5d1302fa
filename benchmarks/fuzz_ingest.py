"""Give mutated files to the ingest on Spark, many at once.

    python -m benchmarks.fuzz_ingest [--first 0] [--count 2000] [--batch 100] [--seed N] [--format NAME…]

A batch of files is taken, or refused with an error of ours that names a file; that file is then left out, and
the others are given again. Of a batch that is taken, rows and rejected rows must be as many together as
the files have by an independent count, where that can be said. Ends with 1 where something went wrong.
"""

import argparse
import bz2
import gzip
import io
import json
import random
import re
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

import meshwright as mw
from benchmarks.fuzz_formats import FORMATS, NODES, TOPICS
from benchmarks.fuzz_mutations import BYTES, JSON_LINES, LINES, Mutation, mutated, unchanged

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ODD = re.compile(rb'["\x00]|\r(?!\n)|\xef\xbb\xbf|\n[ \t\r\x0b\x0c]+(\n|$)')
"""What readers may take for a line, or not, in good faith."""


class Format(NamedTuple):
    """A kind of file: its ending, a good one, its mutations, how to unpack it, and how many rows it has."""

    ending: str
    sample: Callable[[random.Random], bytes]
    mutations: Sequence[Mutation]
    rows: Callable[[bytes], int | None]


def _lines(data: bytes) -> list[bytes] | None:
    """Its lines that are not blank; None where that is a matter of opinion."""
    try:
        data.decode()
    except UnicodeError:
        return None  # a line is rejected as one row, however many it would have been
    if _ODD.search(b"\n" + data):
        return None
    return [line for line in data.split(b"\n") if line.strip()]


def _table_rows(data: bytes) -> int | None:
    lines = _lines(data)
    return None if lines is None else max(0, len(lines) - 1)


def _edge_rows(data: bytes) -> int | None:
    lines = _lines(data)
    return None if lines is None else sum(not line.lstrip().startswith((b"#", b"%")) for line in lines)


def _json_rows(data: bytes) -> int | None:
    """As many as topics, if all lines have one node and topics that are names or lists of names.

    A line over 100,000 bytes may be over a limit, and then it counts once: of such a file nothing is said.
    """
    lines, count = _lines(data.replace(b'"', b"'")), 0
    if any(len(line) > 100_000 for line in data.split(b"\n")):
        return None
    for line in data.split(b"\n") if lines is not None else ():
        try:
            row = json.loads(line) if line.strip() else None
        except (ValueError, RecursionError):
            return None
        if row is None:
            continue
        if not isinstance(row, dict) or not isinstance(row.get("node"), str) or len(row) != 2:
            return None
        topics = row.get("topic")
        if not isinstance(topics, str) and not (isinstance(topics, list) and topics):
            return None
        count += 1 if isinstance(topics, str) else len(topics)
    return None if lines is None else count


def _edge_list(rng: random.Random) -> bytes:
    lines = [
        f"{rng.choice(NODES)}{rng.choice([' ', chr(9)])}{rng.choice(NODES)}"
        for _ in range(rng.randint(1, 20))
    ]
    return "\n".join(["# from to", *lines, ""]).encode()


def _json_lines(rng: random.Random) -> bytes:
    rows: list[dict[str, Any]] = []
    for _ in range(rng.randint(1, 12)):
        topic = rng.choice([rng.choice(TOPICS), rng.sample(TOPICS, 2)])
        rows.append({"node": rng.choice(NODES), "topic": topic})
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def _parquet_rows(data: bytes) -> int | None:
    """As many as another reader finds, if it can read them, and no column has lists."""
    try:
        table = pq.read_table(io.BytesIO(data), use_threads=False)
    except (pa.ArrowException, OSError):
        return None
    return None if any(pa.types.is_nested(field.type) for field in table.schema) else table.num_rows


def _packed(
    plain: Format, ending: str, pack: Callable[[bytes], bytes], unpack: Callable[[bytes], bytes]
) -> Format:
    def sample(rng: random.Random) -> bytes:
        text = plain.sample(rng)
        return pack(mutated(rng, text, plain.mutations) if rng.random() < 0.5 else text)

    def rows(data: bytes) -> int | None:
        try:
            return plain.rows(unpack(data))
        except (OSError, EOFError, ValueError, zlib.error):
            return -1  # nobody can read it, so that who takes it has lost something

    return Format(f"{plain.ending}.{ending}", sample, (*BYTES, *[unchanged] * 30), rows)


_PLAIN = [
    Format("csv", FORMATS["pairs.csv"].sample, LINES, _table_rows),
    Format("tsv", FORMATS["pairs.tsv"].sample, LINES, _table_rows),
    Format("txt", _edge_list, LINES, _edge_rows),
    Format("jsonl", _json_lines, JSON_LINES, _json_rows),
]
_PARQUET = Format("parquet", FORMATS["pairs.parquet"].sample, (*BYTES, *[unchanged] * 30), _parquet_rows)
INGESTED = {
    format.ending: format
    for format in (
        *_PLAIN,
        *(_packed(plain, "gz", gzip.compress, gzip.decompress) for plain in _PLAIN),
        *(_packed(plain, "bz2", bz2.compress, bz2.decompress) for plain in _PLAIN),
        _PARQUET,
    )
}


def batches(format: Format, numbers: range, size: int, seed: int, folder: Path) -> Iterator[list[Path]]:
    """The files of a format with these numbers, so many at a time; a file depends on its number alone."""
    for start in range(0, len(numbers), size):
        made = []
        for number in numbers[start : start + size]:
            rng = random.Random(f"ingest-{format.ending}-{seed}-{number}")
            path = folder / f"{number:06d}.{format.ending}"
            path.write_bytes(mutated(rng, format.sample(rng), format.mutations))
            made.append(path)
        yield [path for path in made if path.stat().st_size]


def take(session: "SparkSession", format: Format, files: list[Path], out: Path) -> Iterator[tuple[str, str]]:
    """Ingest files until those that are left are taken; what came of each, with the reason."""
    from meshwright.pipeline.ingest.job import ingest
    from meshwright.pipeline.ingest.options import IngestOptions

    options = IngestOptions(relation="pairs", max_rejected=1.0)
    while files:
        try:
            facts = ingest(session, [str(path) for path in files], out, options, force=True)["facts"]
        except mw.MeshwrightError as error:
            named = [path for path in files if path.name in str(error)]
            yield ("refused", "") if named else ("NAMELESS", f"{error}")
            files = [path for path in files if path not in named[:1]] if named else files[: len(files) // 2]
            continue
        except Exception as error:
            yield "TRACEBACK", f"{type(error).__name__}: {error} in {files[0]}…"
            return
        expected = [format.rows(path.read_bytes()) for path in files]
        yield from (("taken", "") for _ in files)
        unreadable = [path.name for path, rows in zip(files, expected, strict=True) if rows == -1]
        if unreadable:
            yield "LOSS", f"{unreadable} can't be read by others"
        elif None not in expected and facts["rows"] != sum(rows or 0 for rows in expected):
            yield "LOSS", f"{facts['rows']} rows of {sum(rows or 0 for rows in expected)} in {files[0]}…"
        return


def countable(format: Format, files: list[Path]) -> tuple[list[Path], list[Path]]:
    """The files whose rows can be counted, and the others."""
    known = [path for path in files if format.rows(path.read_bytes()) is not None]
    return known, [path for path in files if path not in known]


def main() -> None:
    """Print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--first", type=int, default=0, help="the number of the first file")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--format", nargs="+", choices=INGESTED, default=list(INGESTED))
    given = parser.parse_args()
    from meshwright.pipeline.spark.session import spark_session

    bad = 0
    with tempfile.TemporaryDirectory() as work, spark_session("local[2]", {}) as session:
        for name in given.format:
            tally: Counter[str] = Counter()
            folder = Path(work) / name
            folder.mkdir()
            numbers = range(given.first, given.first + given.count)
            for batch in batches(INGESTED[name], numbers, given.batch, given.seed, folder):
                for files in countable(INGESTED[name], batch):
                    for outcome, detail in take(session, INGESTED[name], files, Path(work) / "out"):
                        tally[outcome] += 1
                        if detail:
                            bad += 1
                            print(f"    {name}: {outcome} {detail[:300]}", flush=True)
            print(
                f"{name:12} " + ", ".join(f"{count:,} {outcome}" for outcome, count in tally.items()),
                flush=True,
            )
    print(f"{given.count:,} files per format from {given.first:,} on, seed {given.seed}: {bad:,} went wrong")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
