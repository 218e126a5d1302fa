"""Damage to files of ours, and what readers make of it.

A victim is a folder that we wrote, kept in memory, with the readers that read it. Each damage is done to a
fresh copy; a reader must refuse it with an error of ours, or give what it gives of the whole folder.
"""

import json
import random
import shutil
import signal
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import meshwright as mw
from meshwright.maintain.journal.recording import SCHEMAS, Recording, read_recorded
from meshwright.model.storage.manifest import read_manifest
from meshwright.pipeline.verify import verify

REFUSED, SAME, OTHER, TRACEBACK, HANG = "refused", "same", "SOMETHING ELSE", "TRACEBACK", "HANG"
BAD = (OTHER, TRACEBACK, HANG)
MANIFEST = "manifest.json"
_HANG_SECONDS = 60
_LONGEST_BLOCK = 512

Files = Mapping[str, bytes]
Reader = Callable[[Path], Any]


@dataclass(frozen=True)
class Victim:
    """The files of a folder, those of another one of the same kind, and who reads it.

    A file that was the last to come may be missing: then the folder is what it was before it came.
    """

    name: str
    files: Files
    others: Files
    readers: Mapping[str, Reader]
    last: str | None = None


class Damage(NamedTuple):
    """What is done to which file; without content it is removed."""

    what: str
    path: str
    content: bytes | None


class Outcome(NamedTuple):
    """What a reader made of a damage; an error's text, where there was one."""

    damage: Damage
    reader: str
    result: str
    detail: str


def flip(rng: random.Random, old: bytes) -> bytes:
    """One bit is another."""
    at = rng.randrange(8 * len(old))
    new = bytearray(old)
    new[at // 8] ^= 1 << at % 8
    return bytes(new)


def truncate(rng: random.Random, old: bytes) -> bytes:
    """The end is missing; half of the time, where it has lines, whole lines of it."""
    ends = [at + 1 for at, byte in enumerate(old[:-1]) if byte == ord("\n")]
    return old[: rng.choice(ends) if ends and rng.random() < 0.5 else rng.randrange(len(old))]


def _block(rng: random.Random, old: bytes) -> slice:
    start = rng.randrange(len(old))
    return slice(start, min(len(old), start + rng.randint(1, _LONGEST_BLOCK)))


def zero(rng: random.Random, old: bytes) -> bytes:
    """A block is all zeros."""
    block = _block(rng, old)
    return old[: block.start] + bytes(block.stop - block.start) + old[block.stop :]


def duplicate(rng: random.Random, old: bytes) -> bytes:
    """A block is there twice."""
    block = _block(rng, old)
    return old[: block.stop] + old[block] + old[block.stop :]


CHANGES: Mapping[str, Callable[[random.Random, bytes], bytes]] = {
    "flip": flip,
    "truncate": truncate,
    "zero": zero,
    "duplicate": duplicate,
}


def damages(victim: Victim, what: str, rng: random.Random) -> Iterator[Damage]:
    """One damage of a kind to each file, as far as it changes it."""
    for path, old in victim.files.items():
        new = CHANGES[what](rng, old) if old else old
        if new != old:
            yield Damage(what, path, new)


def exchanges(victim: Victim) -> Iterator[Damage]:
    """Each file is removed, and exchanged for that of the other folder.

    Not so the manifest: read by itself, that of another dataset is as good as any.
    """
    for path, old in victim.files.items():
        if path == MANIFEST:
            continue
        if path != victim.last:
            yield Damage("remove", path, None)
        if victim.others.get(path, old) != old:
            yield Damage("exchange", path, victim.others[path])


class Patient:
    """A folder in which one victim is damaged again and again."""

    def __init__(self, victim: Victim, folder: Path) -> None:
        self._victim, self._folder = victim, folder
        self.truth = {name: read(self._laid_out()) for name, read in victim.readers.items()}

    def _laid_out(self) -> Path:
        shutil.rmtree(self._folder, ignore_errors=True)
        for path, content in self._victim.files.items():
            (self._folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self._folder / path).write_bytes(content)
        return self._folder

    def suffer(self, damage: Damage) -> Iterator[Outcome]:
        """What each reader makes of it."""
        for name, read in self._victim.readers.items():
            file = self._laid_out() / damage.path
            if damage.content is None:
                file.unlink()
            else:
                file.write_bytes(damage.content)
            yield Outcome(damage, name, *self._result(name, read))

    def _result(self, name: str, read: Reader) -> tuple[str, str]:
        try:
            with _watched(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return (SAME if read(self._folder) == self.truth[name] else OTHER), ""
        except mw.MeshwrightError as error:
            return REFUSED, str(error)
        except _Hang:
            return HANG, ""
        except Exception as error:
            return TRACEBACK, f"{type(error).__name__}: {error}"


class _Hang(BaseException):
    pass


@contextmanager
def _watched() -> Iterator[None]:
    """Raise after a minute."""

    def stop(*_: object) -> None:
        raise _Hang

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_HANG_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def files_of(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def _written(name: str, readers: Mapping[str, Reader], work: Path) -> Victim:
    """The dataset of a name, of one seed and of another."""
    for seed in (1, 2):
        DATASETS[name](work / f"{name} {seed}", seed)
    return Victim(name, files_of(work / f"{name} 1"), files_of(work / f"{name} 2"), readers)


def _interests(seed: int) -> mw.Interests:
    return mw.workloads.unif(12, 5, min_subscriptions=2, max_subscriptions=2, seed=seed)


def _costs(seed: int, form: str) -> mw.Costs:
    nodes = _interests(seed).nodes.to_pylist()
    rng = random.Random(seed)
    if form == "coordinates":
        places = {node: (rng.random(), rng.random()) for node in nodes}
        return mw.Costs.coordinates(places, base=1, metric="euclidean")
    if form == "clusters":
        return mw.Costs.clusters({node: rng.choice("abc") for node in nodes}, inner=1, outer=9.5 + seed)
    matrix = [[0 if u == v else 1 + (u + v) % 7 + seed / 4 for v in range(12)] for u in range(12)]
    return mw.Costs.from_matrix(matrix, names=nodes)


def _overlay(seed: int, algorithm: str) -> mw.Overlay:
    costs = _costs(seed, "matrix") if mw.algorithms()[algorithm].needs_costs else None
    return mw.build(_interests(seed), algorithm, costs=costs, seed=seed)


def _read_overlay(folder: Path) -> Any:
    found = mw.Overlay.read(folder)
    return found, found.facts


DATASETS: Mapping[str, Callable[[Path, int], None]] = {
    "interests": lambda folder, seed: _interests(seed).write(folder),
    "overlay with costs": lambda folder, seed: _overlay(seed, "gr-maw").write(folder),
    "overlay with fingers": lambda folder, seed: _overlay(seed, "chord").write(folder),
    "overlay with views": lambda folder, seed: _overlay(seed, "stan").write(folder),
    "costs, matrix": lambda folder, seed: _costs(seed, "matrix").write(folder),
    "costs, clusters": lambda folder, seed: _costs(seed, "clusters").write(folder),
    "costs, coordinates": lambda folder, seed: _costs(seed, "coordinates").write(folder),
}


def _read_run(folder: Path) -> Any:
    return _read_overlay(folder / "overlay"), read_manifest(folder, "run")


def read_verified(folder: Path) -> Any:
    """All that is there, if `verify` finds nothing wrong with it."""
    if problems := verify(folder).problems:
        raise mw.DatasetError(f"{problems[0]}")
    files = files_of(folder)
    return {path: json.loads(files[path]) if path.endswith(".json") else files[path] for path in files}


_EVERY: Mapping[str, Reader] = {"manifest": read_manifest, "verify": read_verified}
_READERS: Mapping[str, Mapping[str, Reader]] = {
    "interests": {"interests": mw.Interests.read, **_EVERY},
    "overlay": {"overlay": _read_overlay, "interests": mw.Interests.read, **_EVERY},
    "costs": {"costs": mw.Costs.read, **_EVERY},
    "run": {"run": _read_run, **_EVERY},
}


def run(finished: Path) -> Victim:
    """The folder of a run that came to its end."""
    return Victim("run", files_of(finished), {}, _READERS["run"])


def dataset(name: str, work: Path) -> Victim:
    """One of `DATASETS`."""
    readers = _READERS[name.partition(" ")[0].rstrip(",")]
    return _written(name, readers, work)


def journal(work: Path) -> Victim:
    """A journal with its recording; the other one is the same some steps earlier."""
    overlay = _overlay(1, "low-oda")
    events = mw.workloads.churn(overlay.interests, 14, seed=1)
    for count, place in ((14, "late"), (10, "early")):
        folder = work / f"journal {place}"
        with _opened(folder, overlay, compact_after=4) as opened:
            for event in events[:count]:
                opened.live.apply([event])
            opened.settle()
    files, earlier = (files_of(work / f"journal {place}") for place in ("late", "early"))
    last = max(path for path in files if "changes/part-" in path)
    readers = {"journal": _read_journal, "recorded": _read_recording}
    return Victim("journal", files, earlier, readers, last)


def _opened(folder: Path, overlay: mw.Overlay | None = None, **options: Any) -> mw.Journal:
    return mw.Journal(folder / "journal", overlay, follower=Recording(folder / "recorded"), **options)


def _read_journal(folder: Path) -> Any:
    with _opened(folder) as opened:
        return opened.live.revision, opened.live.snapshot()


def _read_recording(folder: Path) -> Any:
    return {name: read_recorded(folder / "recorded", name) for name in SCHEMAS}
