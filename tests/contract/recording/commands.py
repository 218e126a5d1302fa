"""What commands say and write, called in this process, one after the other in one folder.

Of each: the exit code, its `--json`, and the files of what it wrote: for a table the columns, the number of
rows and a digest of the rows, for a manifest its keys with those values that are the same everywhere.
"""

import io
import json
import re
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow.parquet as pq

import meshwright as mw
from meshwright.cli import main
from tests.contract.recording import inputs, maintenance, values

_W, _O = ("DIR/unif",), ("DIR/gm",)
_COSTS = ("--costs", "DIR/costs.csv", "--sites", "DIR/sites.csv", "--local", "1")

# By name: the words, in which DIR is the folder, and what was written, if anything.
_COMMANDS: dict[str, tuple[tuple[str, ...], str | None]] = {
    "generate": (("generate", "unif", "--nodes", "40", "--topics", "8", "--subscriptions", "3"), "unif"),
    "generate grid": (("generate", "grid", "--nodes", "36", "--topics", "9", "--set", "torus=yes"), "grid"),
    "generate zipf": (("generate", "zipf", "--nodes", "30", "--topics", "9", "--seed", "3"), "zipf"),
    "build gm": (("build", *_W, "--algorithm", "gm", "--seed", "1"), "gm"),
    "build dc": (("build", *_W, "--algorithm", "dc", "--set", "partitions=3", "--reverse-delete"), "dc"),
    "build gr-maw": (("build", *_W, "--algorithm", "gr-maw", *_COSTS), "gr-maw"),
    "build gr-swico": (("build", *_W, "--algorithm", "gr-swico"), "gr-swico"),
    "build stan": (("build", *_W, "--algorithm", "stan", "--set", "rounds=3"), "stan"),
    "build other": (("build", "DIR/other", "--algorithm", "low-oda"), "other-overlay"),
    "import": (("import", *_W, "--edges", "DIR/edges.csv", "--cost", "ms"), "mine"),
    "merge": (("merge", *_O, "DIR/other-overlay", "--algorithm", "sm"), "merged"),
    "evaluate": (("evaluate", *_O), None),
    "evaluate not connected": (("evaluate", "DIR/mine"), None),
    "evaluate with costs": (("evaluate", *_O, *_COSTS), None),
    "evaluate views": (("evaluate", "DIR/stan", "--no-bound", "--no-diameters"), None),
    "route flood": (("route", *_O, "--protocol", "flood", "--publications", "50"), None),
    "route tree": (("route", "DIR/gr-maw", "--protocol", "tree", "--tree", "cheapest"), None),
    "route nsmf": (("route", "DIR/gr-swico", "--protocol", "nsmf", "--loss", "0.1"), None),
    "gossip": (("gossip", *_W, "--rounds", "3"), "gossip"),
    "gossip simulator": (("gossip", *_W, "--engine", "simulator", "--rounds", "2", "--churn", "0.1"), None),
    "churn": (("churn", "DIR/zipf-overlay", "--events", "DIR/events.jsonl", "--together"), "churned"),
    "churn rounds": (
        ("churn", *_O, "--rounds", "30", "--journal", "DIR/journal", "--policy", "naive"),
        "later",
    ),
    "verify": (("verify", "DIR/gm", "DIR/later", "DIR/journal"), None),
    "verify damaged": (("verify", "DIR/damaged"), None),
    "algorithms": (("algorithms",), None),
}
_SPARK_PART = re.compile(r"part-\d+-[0-9a-f]{8}-[-0-9a-f]*-c000")
_EXPORTS = ("csv", "json", "dot", "graphml", "gml")
_EXIT_CODES: dict[str, tuple[str, ...]] = {
    "no command": (),
    "version": ("--version",),
    "help": ("--help",),
    "help of a command": ("build", "--help"),
    "unknown command": ("fly",),
    "unknown option": ("evaluate", *_O, "--fast"),
    "unknown algorithm": ("build", *_W, "--algorithm", "magic", "--out", "DIR/none"),
    "unknown law": ("generate", "flat", "--out", "DIR/none"),
    "a setting that is none": ("build", *_W, "--algorithm", "gm", "--set", "speed=9", "--out", "DIR/none"),
    "no costs": ("build", *_W, "--algorithm", "gr-maw", "--out", "DIR/none"),
    "a place that is taken": ("build", *_W, "--algorithm", "gm", "--out", "DIR/gm"),
    "a place that is replaced": ("build", *_W, "--algorithm", "gm", "--out", "DIR/dc", "--force"),
    "no such dataset": ("evaluate", "DIR/none"),
    "interests are no overlay": ("evaluate", *_W),
    "a damaged dataset": ("evaluate", "DIR/damaged"),
    "a common node": ("merge", *_O, *_O, "--algorithm", "sm", "--out", "DIR/none"),
    "no fingers": ("route", *_O, "--protocol", "nsmf"),
    "no events": ("churn", *_O, "--out", "DIR/none"),
    "a file that is none": ("import", *_W, "--edges", "DIR/none.csv", "--out", "DIR/none"),
}
CASES = ("exit codes", "exports", *_COMMANDS)


def run(folder: Path) -> dict[str, Any]:
    """All recordings of commands, by name; the folder is empty."""
    _write_inputs(folder)
    found = {}
    for name, (words, written) in _COMMANDS.items():
        if name == "verify damaged":
            _damage(folder)
        out = () if written is None else ("--out", f"DIR/{written}")
        found[name] = told(call, folder, *words, *out, "--json")
        if written is not None:
            found[name]["files"] = tree(folder / written, folder)
    texts = {to: call(folder, "export", *_O, "--to", to)[1] for to in _EXPORTS}
    found["exports"] = {to: values.digest(text) for to, text in texts.items()}
    found["exports"]["json"] = values.plain(json.loads(texts["json"]))  # has the facts, seconds among them
    found["exit codes"] = {name: call(folder, *words)[0] for name, words in _EXIT_CODES.items()}
    return found


def call(folder: Path, *words: str) -> tuple[int, str]:
    """The exit code and the standard output of a command."""
    own = [word.replace("DIR", str(folder)) for word in words]
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")  # some commands set its encoding, which StringIO has not
    with (
        patch.object(sys, "argv", ["meshwright", *own]),
        redirect_stdout(out),
        redirect_stderr(io.StringIO()),
    ):
        code = main()
    out.flush()
    return code, out.buffer.getvalue().decode()


def told(how: Callable[..., tuple[int, str]], folder: Path, *words: str) -> dict[str, Any]:
    """What is recorded of a command that prints JSON."""
    code, out = how(folder, *words)
    return {"code": code, "json": values.plain(json.loads(out), str(folder))}


def tree(place: Path, folder: Path, *, ordered: bool = True) -> dict[str, Any]:
    """What is recorded of the files below `place`: a folder of Parquet files is a table."""
    found: dict[str, Any] = {}
    for path in sorted(own for own in place.rglob("*") if own.is_file()):
        name = path.relative_to(place).as_posix()
        if path.suffix == ".parquet":
            name = f"{path.parent.relative_to(place).as_posix()}/"
            rows = pq.read_table(path.parent, partitioning=None)
            found[name] = values.table(rows, str(folder), ordered=ordered)
        elif path.suffix == ".json" and not path.name.startswith("_"):
            found[name] = _json_file(path, folder)
        else:
            found[name] = values.MASK
    return found


def _json_file(path: Path, folder: Path) -> dict[str, Any]:
    """A manifest, with those of its files that are there, or a profile."""
    content = values.rounded(json.loads(path.read_text("utf-8")))
    files = [name for name in content.pop("files", ()) if (path.parent / name).exists()]
    return {
        **values.plain(content, str(folder)),
        "files": sorted({_SPARK_PART.sub("part", name) for name in files}),
    }


def _write_inputs(folder: Path) -> None:
    inputs.islands(3)[1].write(folder / "other")
    mw.build(inputs.interests("zipf"), "low-oda", seed=1).write(folder / "zipf-overlay")
    mw.write_events(maintenance.churn_events(), folder / "events.jsonl")
    (folder / "edges.csv").write_text("source,target,ms\nn00,n01,3\nn02,n07,1.5\nn11,n00,9\n")
    (folder / "costs.csv").write_text("source,target,cost\nams,nyc,80\nams,syd,250\nnyc,syd,200\n")
    places = [f"n{at:02d},{('ams', 'nyc', 'syd')[at % 3]}" for at in range(40)]
    (folder / "sites.csv").write_text("\n".join(["node,site", *places, ""]))


def _damage(folder: Path) -> None:
    """A dataset, one of whose files has lost its end."""
    mw.build(inputs.interests("unif"), "ring").write(folder / "damaged")
    file = next((folder / "damaged" / "edges").iterdir())
    file.write_bytes(file.read_bytes()[:-1])
