"""Twelve raw data sets of different shapes and dirt, and what plain Python, pandas and SciPy read in each.

None of the readers here is Meshwright's: each counts rows, interests and names from the same bytes.
"""

import bz2
import csv
import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.sparse import coo_array, save_npz

from meshwright.cli.options.rows import RowOptions
from meshwright.pipeline.ingest.options import IngestOptions

NODES = ["ann", "Bob", "bob", "cé", "δ", "e f", "g.h", "7", "007", "ж", *(f"n{at:02}" for at in range(30))]
TOPICS = ["news", "News", "sport/7", "größe", "主题", "a b", "x,y", 'the "q"', *(f"t{at}" for at in range(6))]
PLAIN = [name for name in NODES if " " not in name], [f"t{at}" for at in range(9)]
DIRTY = ("--max-rejected", "0.5")


class Expected(NamedTuple):
    """What a data set holds; `facts` are further facts that an ingest must state."""

    rows: int
    rejected: int
    interests: int
    duplicates: int
    nodes: int
    topics: int
    facts: dict[str, object]


class RawDataSet(NamedTuple):
    """How to write a data set, what to say on the command line, and how others read it."""

    write: Callable[[Path], list[Path]]
    words: tuple[str, ...]
    read: Callable[[Sequence[Path]], Expected]

    def options(self) -> IngestOptions:
        """What the words mean."""
        given = dict(zip(self.words[::2], self.words[1::2], strict=True))
        named = {flag[2:].replace("-", "_"): text for flag, text in given.items()}
        share = float(named.pop("max_rejected", 0.01))
        found: IngestOptions = RowOptions(relation=named.pop("as"), max_rejected=share, **named).reading()
        return found


def some_pairs(seed: int, count: int, nodes: Sequence[str], topics: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of names in any order, some of them twice."""
    draw = random.Random(seed)
    return [(draw.choice(nodes), draw.choice(topics)) for _ in range(count)]


def counted(
    pairs: Iterable[tuple[str, str]],
    rejected: int = 0,
    alone: Iterable[str] = (),
    **facts: object,
) -> Expected:
    """What pairs hold; nodes that are `alone` have a row each, and no topic."""
    frame, alone = pd.DataFrame(list(pairs), columns=["node", "topic"]), list(alone)
    distinct = frame.drop_duplicates()
    return Expected(
        rows=len(frame) + len(alone) + rejected,
        rejected=rejected,
        interests=len(distinct),
        duplicates=len(frame) - len(distinct),
        nodes=len({*frame["node"], *alone}),
        topics=frame["topic"].nunique(),
        facts=facts,
    )


def write_quoted_csv(folder: Path) -> list[Path]:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(["", "last, first", "since", 'the "item"', "since"])
    for at, (node, topic) in enumerate(some_pairs(1, 150, NODES, [*TOPICS, "plant/+/t", "#"])):
        writer.writerow([at, node, 2020, topic, ""])
        if at % 40 == 0:
            text.write("\r\n")
    text.write("1,too,few\r\n2,a,1,t0,2,more\r\n3,,1,t0,\r\n")
    path = folder / "odd names.csv"
    path.write_bytes(b"\xef\xbb\xbf" + text.getvalue().encode())
    return [path]


def read_quoted_csv(paths: Sequence[Path]) -> Expected:
    with paths[0].open(encoding="utf-8-sig", newline="") as file:
        header, *rows = [row for row in csv.reader(file) if row]
    node, topic = header.index("last, first"), header.index('the "item"')
    whole = [(row[node], row[topic]) for row in rows if len(row) == len(header)]
    good = [pair for pair in whole if all(pair)]
    filters = {topic for _, topic in good if {"#", "+"} & set(topic.split("/"))}
    told = {"topics": len(filters), "example": min(filters, key=str.encode)}
    return counted(good, len(rows) - len(good), topics_with_wildcards=told)


def write_numbered_tsv(folder: Path) -> list[Path]:
    rows = [
        f"{topic}\t{at}\t{node}" for at, (node, topic) in enumerate(some_pairs(2, 120, NODES, TOPICS[:6]))
    ]
    path = folder / "no header.tsv.gz"
    path.write_bytes(gzip.compress("\n".join(rows).encode(), mtime=0))
    return [path]


def read_numbered_tsv(paths: Sequence[Path]) -> Expected:
    frame = pd.read_csv(paths[0], sep="\t", header=None, dtype=str, quoting=csv.QUOTE_NONE)
    return counted(zip(frame[2], frame[0], strict=True))


def write_weighted_edges(folder: Path) -> list[Path]:
    lines = [f"{a} {b}\t{at}" for at, (a, b) in enumerate(some_pairs(3, 140, PLAIN[0], PLAIN[0]))]
    path = folder / "follows.txt"
    path.write_text("\n".join(["# who whom weight", "% more", *lines, "", "alone", *lines[:5]]), "utf-8")
    return [path]


def read_weighted_edges(paths: Sequence[Path]) -> Expected:
    lines = paths[0].read_text("utf-8").splitlines()
    comments = [line for line in lines if line.startswith(("#", "%"))]
    rows = [line.split() for line in lines if line and line not in comments]
    good = [(row[0], row[1]) for row in rows if len(row) > 1]
    wide = sum(len(row) > 2 for row in rows)
    facts = {"comment_lines": len(comments), "lines_with_more_columns": wide}
    found = counted(good, len(rows) - len(good), **facts)
    return found._replace(nodes=len({name for pair in good for name in pair}))


def write_adjacency(folder: Path) -> list[Path]:
    lists: dict[str, list[str]] = {}
    for node, topic in some_pairs(4, 160, PLAIN[0], PLAIN[1]):
        lists.setdefault(node, []).append(topic)
    lines = [" ".join([node, *topics]) for node, topics in lists.items()]
    path = folder / "lists.adj"
    path.write_text("\r\n".join(["# user item item", *lines, "", "nobody", "  ", "ann t1"]), "utf-8")
    return [path]


def read_adjacency(paths: Sequence[Path]) -> Expected:
    lines = [line.split() for line in paths[0].read_text("utf-8").splitlines()]
    rows = [line for line in lines if line and line[0] != "#"]
    pairs = [(node, topic) for node, *topics in rows for topic in topics]
    return counted(pairs, alone=[row[0] for row in rows if len(row) == 1], comment_lines=1)


def write_json_object(folder: Path) -> list[Path]:
    lists: dict[str, list[object]] = {}
    for node, topic in some_pairs(5, 130, NODES, TOPICS):
        lists.setdefault(node, []).append(topic)
    lists["numbers"] = [1, 2.50, True, 10**20]
    lists["wrong"] = [["nested"], {"a": 1}, None, "t1"]
    lists["alone"] = []
    whole = json.dumps(lists, ensure_ascii=False, indent=1)
    path = folder / "lists.json"
    path.write_text(whole.removesuffix("\n}") + ',\n "ann": ["again", "again"]\n}', "utf-8")
    return [path]


def read_json_object(paths: Sequence[Path]) -> Expected:
    items = json.loads(paths[0].read_text("utf-8"), object_pairs_hook=list, parse_float=str)
    pairs, rejected, alone = [], 0, []
    for node, names in items:
        alone += [] if names else [node]
        for name in names:
            if name is None or isinstance(name, list):
                rejected += 1
            else:
                pairs.append((node, str(name).lower() if isinstance(name, bool) else str(name)))
    return counted(pairs, rejected, alone)


def write_json_lines(folder: Path) -> list[Path]:
    objects = [
        {"at": at, "user": node, "likes": [topic, TOPICS[at % 5]], "more": {"user": "not me"}}
        for at, (node, topic) in enumerate(some_pairs(6, 60, NODES, TOPICS))
    ]
    lines = [json.dumps(each, ensure_ascii=at % 2 == 0) for at, each in enumerate(objects)]
    lines += ["", '{"user": "x"}', "not json", '{"user": "u1", "user": "u2", "likes": "t"}', "[1, 2]"]
    path = folder / "likes.ndjson.bz2"
    path.write_bytes(bz2.compress("\n".join(lines).encode()))
    return [path]


def read_json_lines(paths: Sequence[Path]) -> Expected:
    lines = [line for line in bz2.decompress(paths[0].read_bytes()).decode().split("\n") if line]
    frame = pd.read_json(io.StringIO("\n".join(lines[:60])), lines=True, dtype=False).explode("likes")
    return counted(zip(frame["user"], frame["likes"], strict=True), len(lines) - 60)


def write_hypergraph(folder: Path) -> list[Path]:
    draw = random.Random(7)
    sizes = [draw.choice([0, 2, 3, 5, 9]) for _ in range(30)]
    members = [draw.choice(NODES) for _ in range(sum(sizes))]
    (folder / "sizes.txt").write_text("".join(f"{size}\n" for size in sizes))
    (folder / "members.txt").write_text("".join(f"{name}\r\n" for name in members), "utf-8")
    return [folder / "members.txt", folder / "sizes.txt"]


def read_hypergraph(paths: Sequence[Path]) -> Expected:
    members = iter(paths[0].read_text("utf-8").split("\n"))
    sizes = [int(line) for line in paths[1].read_text().split()]
    pairs = [(next(members).strip(), str(topic)) for topic, size in enumerate(sizes) for _ in range(size)]
    return counted(pairs, topics_without_nodes=sizes.count(0))


def write_npz(folder: Path) -> list[Path]:
    draw = random.Random(8)
    cells = [(draw.randrange(40), draw.randrange(15)) for _ in range(150)]
    values = [draw.choice([0.0, 1.0, 2.5, -1.0]) for _ in cells]
    rows, columns = zip(*cells, strict=True)
    save_npz(folder / "ratings.npz", coo_array((values, (rows, columns)), shape=(50, 20)))
    return [folder / "ratings.npz"]


def read_npz(paths: Sequence[Path]) -> Expected:
    with np.load(paths[0]) as held:
        frame = pd.DataFrame({"row": held["row"], "col": held["col"], "value": held["data"]})
        shape = tuple(held["shape"])
    return _of_entries(frame, shape)


def _of_entries(frame: pd.DataFrame, shape: tuple[int, ...]) -> Expected:
    good = frame[frame["value"] != 0]
    alone = sorted(set(range(shape[0])) - set(good["row"]))
    facts = {
        "zero_entries": len(frame) - len(good),
        "topics_without_nodes": shape[1] - good["col"].nunique(),
    }
    facts = {name: count for name, count in facts.items() if count}
    return counted(zip(good["row"], good["col"], strict=True), alone=alone, **facts)


def write_mtx(folder: Path) -> list[Path]:
    draw = random.Random(9)
    cells = [(draw.randrange(1, 36), draw.randrange(1, 11), draw.choice([0, 1, 4])) for _ in range(130)]
    lines = ["%%MatrixMarket matrix coordinate integer general", "% made for tests", "40 12 130"]
    lines += [f"{row} {column} {value}" for row, column, value in cells]
    path = folder / "ratings.mtx.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))
    return [path]


def read_mtx(paths: Sequence[Path]) -> Expected:
    frame = pd.read_csv(paths[0], sep=" ", comment="%", header=None, names=["row", "col", "value"])
    rows, columns, _ = frame.iloc[0]
    entries = frame.iloc[1:]
    return _of_entries(entries.assign(row=entries["row"] - 1), (int(rows), int(columns)))


def write_zip(folder: Path) -> list[Path]:
    rows = [f"{at};{node};{topic}" for at, (node, topic) in enumerate(some_pairs(10, 110, NODES, TOPICS[:7]))]
    path = folder / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("Export 2026/Abos.csv", "\ufeff" + "\r\n".join(["Nr;Gerät;Thema", *rows, ""]))
        archive.writestr("__MACOSX/._Abos.csv", "not data")
    return [path]


def read_zip(paths: Sequence[Path]) -> Expected:
    with zipfile.ZipFile(paths[0]) as archive:
        text = archive.read("Export 2026/Abos.csv")
    frame = pd.read_csv(io.BytesIO(text), sep=";", dtype=str, encoding="utf-8-sig", keep_default_na=False)
    return counted(zip(frame["Gerät"], frame["Thema"], strict=True))


def write_lists_parquet(folder: Path) -> list[Path]:
    pairs = some_pairs(11, 50, NODES, TOPICS)
    users = [*(node for node, _ in pairs), "alone", None, "gap"]
    genres = [*([topic, "t1", "t1"] for _, topic in pairs), [], ["t2"], [None, "t3", ""]]
    table = pa.table({"at": [1.5] * len(users), "User Name": users, "genre,s": genres})
    pq.write_table(table, folder / "profiles.parquet")
    return [folder / "profiles.parquet"]


def read_lists_parquet(paths: Sequence[Path]) -> Expected:
    frame = pd.read_parquet(paths[0])
    alone = frame.loc[frame["genre,s"].map(len) == 0, "User Name"]
    rows = frame.loc[frame["genre,s"].map(len) > 0].explode("genre,s")
    good = rows.dropna(subset=["User Name", "genre,s"])
    good = good[good["genre,s"] != ""]
    return counted(zip(good["User Name"], good["genre,s"], strict=True), len(rows) - len(good), alone)


def write_many_gzips(folder: Path) -> list[Path]:
    top = folder / "2026"
    for at in range(12):
        part = top / f"month={at + 1:02}"
        part.mkdir(parents=True)
        columns = ["device", "channel"] if at % 2 else ["channel", "noise", "device"]
        rows = [
            {"device": node, "channel": topic, "noise": "1"}
            for node, topic in some_pairs(100 + at, 15, NODES, TOPICS)
        ]
        frame = pd.DataFrame(rows, columns=columns)
        (part / "part-0.csv.gz").write_bytes(gzip.compress(frame.to_csv(index=False).encode(), mtime=0))
        (part / "_SUCCESS").touch()
    (top / ".hidden.csv").write_text("device,channel\nno,no\n")
    (top / "empty.csv.gz").touch()
    return [top]


def read_many_gzips(paths: Sequence[Path]) -> Expected:
    parts = sorted(paths[0].glob("*/*.csv.gz"))
    frame = pd.concat([pd.read_csv(part, dtype=str, keep_default_na=False) for part in parts])
    skipped = {"hidden": 13, "empty": 1}
    return counted(zip(frame["device"], frame["channel"], strict=True), skipped_files=skipped)


RAW_DATA_SETS = {
    "quoted csv": RawDataSet(
        write_quoted_csv,
        ("--as", "pairs", "--columns", '"last, first","the ""item"""', *DIRTY),
        read_quoted_csv,
    ),
    "tsv by number": RawDataSet(write_numbered_tsv, ("--as", "pairs", "--columns", "3,1"), read_numbered_tsv),
    "weighted edges": RawDataSet(write_weighted_edges, ("--as", "follows", *DIRTY), read_weighted_edges),
    "adjacency": RawDataSet(write_adjacency, ("--as", "pairs", "--format", "adjacency"), read_adjacency),
    "json object": RawDataSet(write_json_object, ("--as", "pairs", *DIRTY), read_json_object),
    "json lines": RawDataSet(
        write_json_lines, ("--as", "pairs", "--columns", "user,likes", *DIRTY), read_json_lines
    ),
    "hypergraph": RawDataSet(write_hypergraph, ("--as", "pairs", "--format", "hypergraph"), read_hypergraph),
    "npz": RawDataSet(write_npz, ("--as", "pairs"), read_npz),
    "mtx": RawDataSet(write_mtx, ("--as", "pairs"), read_mtx),
    "zip": RawDataSet(write_zip, ("--as", "pairs", "--delimiter", ";", "--columns", "Gerät,Thema"), read_zip),
    "parquet with lists": RawDataSet(
        write_lists_parquet, ("--as", "pairs", "--columns", 'User Name,"genre,s"', *DIRTY), read_lists_parquet
    ),
    "folder of gzips": RawDataSet(
        write_many_gzips, ("--as", "pairs", "--columns", "device,channel"), read_many_gzips
    ),
}
