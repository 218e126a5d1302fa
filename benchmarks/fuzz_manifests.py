"""Datasets whose manifests are whole but wrong: every key gets values of other types, and all readers look.

    python -m benchmarks.fuzz_manifests [--only NAME] [--all]

Each manifest of some small datasets is changed at one key at a time, by every value of a list: other types,
huge numbers, deep nesting, and nothing at all. A reader may take it or raise a MeshwrightError. Whatever else
it raises is told, once for each place that raises it, and makes the exit code 1.
"""

import argparse
import copy
import io
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from traceback import extract_tb
from typing import Any, NamedTuple

import meshwright as mw
from meshwright.cli import app
from meshwright.runtime.checksums import sealed

MANIFEST = "manifest.json"
GONE = object()
DEEP = "deep"
"""Stands for lists in lists that Python's own JSON can't read."""

VALUES: tuple[Any, ...] = (
    GONE, None, True, -1, 3, 10**30, 10**400, 1.5, "", "text", "\x1b[31m\ud800", [], [[]], {}, {"a": 1}, DEEP,
)  # fmt: skip

Reader = Callable[[Path], object]


class Failure(NamedTuple):
    """Where a reader raised what it should not, and what."""

    reader: str
    error: str
    place: str


class Dataset(NamedTuple):
    """A dataset to change, and the readers that look at it."""

    make: Callable[[Path], object]
    readers: Mapping[str, Reader]


def command(*words: str) -> Reader:
    """A reader that is a command; `DIR` is the dataset, and `OUT` a place to write to."""

    def read(folder: Path) -> None:
        with tempfile.TemporaryDirectory() as out:
            given = [str(folder) if word == "DIR" else word.replace("OUT", f"{out}/x") for word in words]
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                app(given, standalone_mode=False)

    return read


@cache
def interests() -> mw.Interests:
    """Small enough for thousands of tries, and with all that algorithms ask for."""
    return mw.workloads.unif(12, 6, min_subscriptions=2, max_subscriptions=4, seed=1)


def costs() -> mw.Costs:
    """Of the same nodes."""
    nodes = interests().nodes.to_pylist()
    return mw.Costs.clusters({node: f"c{at % 3}" for at, node in enumerate(nodes)}, inner=1.0, outer=4.0)


def maintained(folder: Path) -> None:
    """What `churn` leaves."""
    live = mw.Maintainer(mw.build(interests(), "low-oda"))
    live.leave(interests().nodes[0].as_py())
    live.overlay.write(folder)


OVERLAY: Mapping[str, Reader] = {
    "Overlay.read": mw.Overlay.read,
    "Interests.read": mw.Interests.read,
    "evaluate": lambda folder: mw.evaluate(mw.Overlay.read(folder)),
    "Maintainer": lambda folder: mw.Maintainer(mw.Overlay.read(folder)),
    "evaluate command": command("evaluate", "DIR", "--json"),
}
COMMANDS: Mapping[str, Reader] = {
    "evaluate for people": command("evaluate", "DIR"),
    "export command": command("export", "DIR", "--to", "json", "--out", "OUT"),
    "route command": command("route", "DIR", "--protocol", "flood", "--publications", "3"),
    "churn command": command("churn", "DIR", "--rounds", "2", "--out", "OUT"),
}
INTERESTS: Mapping[str, Reader] = {
    "Interests.read": mw.Interests.read,
    "build command": command("build", "DIR", "--algorithm", "ring", "--out", "OUT"),
    "profile command": command("profile", "DIR", "--engine", "local"),
    "gossip command": command("gossip", "DIR", "--rounds", "1"),
}
DATASETS: Mapping[str, Dataset] = {
    "interests": Dataset(lambda folder: interests().write(folder), INTERESTS),
    "overlay": Dataset(lambda folder: mw.build(interests(), "low-oda").write(folder), OVERLAY | COMMANDS),
    "costs": Dataset(lambda folder: costs().write(folder), {"Costs.read": mw.Costs.read}),
    "priced": Dataset(
        lambda folder: mw.build(interests(), "gr-maw", costs=costs()).write(folder),
        OVERLAY | {"Costs.read": mw.Costs.read},
    ),
    "stan": Dataset(lambda folder: mw.build(interests(), "stan").write(folder), OVERLAY),
    "chord": Dataset(
        lambda folder: mw.build(interests(), "chord").write(folder),
        OVERLAY | {"nsmf": command("route", "DIR", "--protocol", "nsmf", "--publications", "3")},
    ),
    "maintained": Dataset(maintained, OVERLAY),
}


def places(value: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all values of a manifest, the whole of it first."""
    yield here
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inner:
        yield from places(below, (*here, key))


def changed(manifest: Any, place: tuple[Any, ...], value: Any) -> str:
    """The text of a manifest with another value at a place."""
    whole = [copy.deepcopy(manifest)]
    holder, key = whole, 0
    for step in place:
        holder, key = holder[key], step
    if value is GONE:
        del holder[key]
    else:
        holder[key] = "DEEP" if value is DEEP else value
    text = json.dumps(sealed(whole[0]) if whole and isinstance(whole[0], dict) else whole[0]) if whole else ""
    return text.replace('"DEEP"', "[" * 100_000 + "]" * 100_000)


def tries(manifest: Any) -> Iterator[tuple[str, str]]:
    """What is changed in words, and the text of the manifest."""
    for place in places(manifest):
        for value in VALUES:
            told = "gone" if value is GONE else repr(value)
            yield f"{'.'.join(map(str, place)) or 'all of it'} is {told}", changed(manifest, place, value)


def attempt(name: str, reader: Reader, folder: Path) -> Failure | None:
    """What a reader raises that it should not."""
    try:
        reader(folder)
    except (mw.MeshwrightError, SystemExit):
        return None
    except BaseException as error:
        if type(error).__module__.startswith(("typer", "click")):
            return None
        frames = [frame for frame in extract_tb(error.__traceback__) if "meshwright" in frame.filename]
        last = frames[-1] if frames else None
        place = f"{last.filename.rpartition('meshwright/')[2]}:{last.lineno}" if last else "elsewhere"
        return Failure(name, f"{type(error).__name__}: {error!s:.80}", place)
    return None


def fuzz(dataset: Dataset, folder: Path) -> Iterator[tuple[str, Failure | None]]:
    """All tries of a dataset."""
    dataset.make(folder)
    whole = (folder / MANIFEST).read_text("utf-8")
    for told, text in tries(json.loads(whole)):
        (folder / MANIFEST).write_text(text, "utf-8", errors="surrogatepass")
        for name, reader in dataset.readers.items():
            yield told, attempt(name, reader, folder)


def main() -> int:
    """Try all, and tell what fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", choices=DATASETS, action="append", help="Datasets to change.")
    parser.add_argument("--all", action="store_true", help="Tell every failure, not one a place.")
    given = parser.parse_args()
    told: Counter[tuple[str, str]] = Counter()
    count = 0
    for name in given.only or DATASETS:
        with tempfile.TemporaryDirectory() as folder:
            for what, failure in fuzz(DATASETS[name], Path(folder) / "dataset"):
                count += 1
                if failure is None:
                    continue
                told[failure.place, failure.error.partition(":")[0]] += 1
                if given.all or told[failure.place, failure.error.partition(":")[0]] == 1:
                    print(f"{name}: {what}: {failure.reader}: {failure.error} ({failure.place})", flush=True)
    print(f"{count:,} tries, {told.total():,} failures in {len(told)} places")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
