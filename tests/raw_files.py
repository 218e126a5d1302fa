"""Raw files in several formats, and datasets compared table by table."""

import bz2
import csv
import gzip
import json
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

import meshwright as mw
from meshwright.model.storage.manifest import read_manifest
from meshwright.pipeline.cost_files import CostFiles

PAIRS = [("a", "x"), ("a", "y"), ("b", "x"), ("a", "x"), ("c", "z z"), ("ü", "x"), ("B", "y"), ("b ", "y")]
# Names whose order in UTF-16, or whose quotes and blanks, other tools get wrong.
AWKWARD = [
    ("\U0001f600", "\uffff"),
    ("\uffff", "\U0001f600"),
    ('"', ","),
    (" ", "\t"),
    ("\x00", "'"),
    ("#", "+/#"),
    ("É", "Y"),
    ("é", "x"),
    ("İ", "ΑΣ"),
    ("i\u0307", "ας"),
]


def write_csv(path, pairs, header=("node", "topic"), delimiter=","):
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([header, *pairs])
    return path


def write_jsonl(path, pairs):
    path.write_text("".join(json.dumps({"node": n, "topic": t}) + "\n" for n, t in pairs), "utf-8")
    return path


def write_parquet(path, pairs):
    columns = [pa.array([pair[at] for pair in pairs], pa.string()) for at in (0, 1)]
    pq.write_table(pa.table(columns, ["node", "topic"]), path)
    return path


def rejected(out: Path) -> list[tuple[str, int, str]]:
    """File name, line and reason of what could not be used."""
    rows = pq.read_table(out / "rejected").to_pylist()
    return sorted((Path(row["file"]).name, row["line"], row["reason"]) for row in rows)


class Contents(NamedTuple):
    """What a dataset says, but for where and how fast it was made."""

    manifest: dict[str, Any]
    tables: dict[str, pa.Table]


def contents(dataset: Path) -> Contents:
    """All tables of a dataset, rows in order, and what its manifest says about them."""
    manifest = read_manifest(dataset)
    names = ("nodes", "topics", "lists", "interests", *manifest["tables"])
    tables = {}
    for name in names:
        parts = sorted((dataset / name).glob("*.parquet"))
        table = pa.concat_tables([pq.read_table(part) for part in parts])
        columns = [pa.field(own.name, own.type) for own in table.schema]
        tables[name] = table.cast(pa.schema(columns)).combine_chunks()
    said = {key: manifest[key] for key in ("kind", "counts", "facts", "tables", "options")}
    return Contents(said, tables)


class Raw(NamedTuple):
    """Files of one kind and the options to read them with."""

    files: list[Path]
    options: dict[str, Any]


def raw_inputs(folder: Path) -> dict[str, Raw]:
    """Inputs of every format, clean and dirty, written to `folder`."""
    many = [write_csv(folder / "awkward.csv", [*PAIRS, *AWKWARD])]
    lines = "".join(f"n{n % 97},t{n % 13}\n" for n in range(3_000)) + 'a\n,x\nb,+/x\n"q,z\nc,d,e\n'
    (folder / "dirty.csv").write_bytes(b"node,topic\n" + lines.encode() + b"\xff,y\n")
    many += [folder / "dirty.csv", write_csv(folder / "no rows.csv", [])]
    many.append(write_csv(folder / "other way.csv", [(3, "t", "n")], ("at", "topic", "node")))
    (folder / "follows.txt").write_text("# who whom\nann bob 1\nbob bob 2\ncat ann 3\nann bob 4\nalone\n")
    (folder / "friends.tsv.gz").write_bytes(gzip.compress(b"source\ttarget\n1\t2\n2\t3\n3\t3\n2\t1\n"))
    objects = [
        '{"node": "a", "topic": ["x", "y"]}',
        '{"node": "b", "topic": []}',
        '{"node": 7, "topic": "x"}',
    ]
    objects += ['{"node": null, "topic": "x"}', "[1]", '{"node": "c", "topic": ["x", null, ""]}']
    (folder / "objects.jsonl.bz2").write_bytes(bz2.compress("\n".join(objects).encode()))
    lists = pa.array([["x", "y"], [], None, ["y", None], ["#"], ["\u00fc" * 40_000]], pa.list_(pa.string()))
    table = pa.table({"at": [1.5] * 6, "user": [7, 8, 9, 10, 11, 12], "genres": lists})
    pq.write_table(table, folder / "lists.parquet")
    raw = pa.table({"node": pa.array([b"a", b"\xff", None, b""]), "topic": [True, False, True, True]})
    pq.write_table(raw, folder / "bytes.parquet")
    (folder / "neighbours.txt").write_text("# a node and its topics\nann x y z\nbob x\ncat\nann y +/#\n")
    with zipfile.ZipFile(folder / "pairs.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("deep/pairs.csv", "node,topic\na,x\nb,y\na,x\n")
        archive.writestr("__MACOSX/._pairs.csv", "junk")
    dirty = {"max_rejected": 1.0}
    return {
        "csv": Raw(many, {"relation": "pairs", **dirty}),
        "follows": Raw([folder / "follows.txt"], {"relation": "follows", "own_topic": True, **dirty}),
        "friends": Raw([folder / "friends.tsv.gz"], {"relation": "friendship"}),
        "jsonl": Raw([folder / "objects.jsonl.bz2"], {"relation": "pairs", **dirty}),
        "parquet": Raw([folder / "lists.parquet"], {"relation": "pairs", "columns": (2, 3), **dirty}),
        "adjacency": Raw([folder / "neighbours.txt"], {"relation": "pairs", "format": "adjacency", **dirty}),
        "zip": Raw([folder / "pairs.zip"], {"relation": "pairs"}),
        "bytes": Raw([folder / "bytes.parquet"], {"relation": "pairs", **dirty}),
    }


def written_table(folder):
    interests = mw.workloads.unif(60, 12, min_subscriptions=2, max_subscriptions=6, seed=3)
    path = folder / "subscriptions.csv"
    lines = [f"{node},{topic}" for node, topic in interests.to_pairs()]
    path.write_text("\n".join(["node,topic", *lines, lines[0], "alone", ""]), "utf-8")
    return path


def cost_files(folder):
    """Costs of the table's nodes on three sites, of which one has no coordinates."""
    names = ("ams", "nyc", "syd")
    files = {
        "places": ["site,lat,lon", "ams,52.4,4.9", "nyc,40.7,-74"],
        "costs": ["source,target,cost", "ams,nyc,80", "ams,syd,250", "nyc,syd,200"],
        "sites": ["node,site", *(f"n{at:02},{names[at % 3]}" for at in range(60))],
    }
    for name, lines in files.items():
        (folder / f"{name}.csv").write_text("\n".join(lines))
    return CostFiles(**{name: str(folder / f"{name}.csv") for name in files}, local=1.0)


def spoil_page(path):
    """Leave the footer as it is, and damage the first pages."""
    data = bytearray(path.read_bytes())
    data[4:60] = bytes(56)
    path.write_bytes(data)
