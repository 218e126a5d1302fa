"""What a loss of power may leave of recorded writes, by the rules of POSIX in their most pessimistic form.

What is written to a file is sure once the file was synced, a name once its folder was. All else may be there
or not, each by itself: the content of a file lost, cut anywhere, or with holes of zeros; of the changes of a
folder some. A rename is there as a whole or not at all, between two folders too, as in every journaling file
system. All else is less than ext4, XFS or Btrfs promise, so that what survives here survives there.
"""

import os
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

ROOT = 0
SECTOR = 512


class Put(NamedTuple):
    """A name in a folder stands for a file or folder."""

    folder: int
    name: str
    node: int


class Drop(NamedTuple):
    """A name is no longer in a folder."""

    folder: int
    name: str


class Move(NamedTuple):
    """A name goes elsewhere, in place of what is there."""

    folder: int
    name: str
    to_folder: int
    to_name: str
    node: int


class Write(NamedTuple):
    """Bytes go to a place in a file."""

    file: int
    at: int
    data: bytes


class Resize(NamedTuple):
    """A file gets another length; it grows by zeros."""

    file: int
    size: int


class Sync(NamedTuple):
    """A file or folder is forced to disk."""

    node: int


Change = Write | Resize
Step = Put | Drop | Move | Change | Sync
Names = Mapping[str, int | None]
"""What becomes of the names in one folder at once; None where there is no such name any more."""


@dataclass
class Disk:
    """Files and folders by number; the folder that all is in is `ROOT`."""

    files: dict[int, bytes] = field(default_factory=dict)
    folders: dict[int, dict[str, int]] = field(default_factory=lambda: {ROOT: {}})

    def apply(self, step: Step) -> None:
        """What everybody sees at once, synced or not."""
        for folder, names in names_of(step).items():
            _rename(self.folders[folder], names)
        if isinstance(step, Change):
            self.files[step.file] = changed(self.files[step.file], [step])

    def listing(self, folder: int = ROOT, prefix: str = "") -> dict[str, bytes | None]:
        """The content of all files by path; None for a folder."""
        found: dict[str, bytes | None] = {}
        for name, node in sorted(self.folders[folder].items()):
            found[prefix + name] = self.files.get(node)
            if node in self.folders:
                found |= self.listing(node, f"{prefix}{name}/")
        return found

    def lay_out(self, place: Path) -> Path:
        """Make a folder of it; a file of two names is one there too."""
        self._lay_out(ROOT, place, {})
        return place

    def _lay_out(self, folder: int, place: Path, made: dict[int, Path]) -> None:
        place.mkdir()
        for name, node in self.folders[folder].items():
            if node in self.folders:
                self._lay_out(node, place / name, made)
            elif node in made:
                os.link(made[node], place / name)
            else:
                (place / name).write_bytes(self.files[node])
                made[node] = place / name


@dataclass(frozen=True)
class Trace:
    """A disk on which all was sure, and what was done to it, in order; new files and folders begin empty."""

    start: Disk
    steps: Sequence[Step]
    new_folders: frozenset[int] = frozenset()

    def states(self, cut: int, count: int = 0, seed: int = 0, wild: bool = True) -> Iterator[Disk]:
        """What may be there after a loss of power that came after so many steps: worst, best, some between.

        With `wild` half of those between have any of the names that were not sure, else the first of them.
        """
        yield self.after(cut, _Lost())
        yield self.after(cut, _Kept())
        for number in range(count):
            chance = random.Random(f"{seed}-{cut}-{number}")
            yield self.after(cut, _Chance(chance, wild and number % 2 == 1))

    def after(self, cut: int, fate: "_Fate") -> Disk:
        """The disk after a loss of power at which `fate` decides what is left of what was not sure."""
        steps = dict(enumerate(self.steps[:cut]))
        synced = {step.node: at for at, step in steps.items() if isinstance(step, Sync)}
        disk = self._with_all_nodes(steps.values())
        by_folder: dict[int, dict[int, Names]] = {}
        by_file: dict[int, dict[int, Change]] = {}
        for at, step in steps.items():
            for folder, names in names_of(step).items():
                by_folder.setdefault(folder, {})[at] = names
            if isinstance(step, Change):
                by_file.setdefault(step.file, {})[at] = step
        for folder, kept in fate.names(by_folder, synced).items():
            for at in sorted(kept):
                _rename(disk.folders[folder], by_folder[folder][at])
        for file, changes in by_file.items():
            sure = [change for at, change in changes.items() if at < synced.get(file, -1)]
            content = changed(disk.files[file], sure)
            disk.files[file] = fate.content(content, list(changes.values())[len(sure) :])
        return disk

    def _with_all_nodes(self, steps: Iterable[Step]) -> Disk:
        """The disk at the start, and what was made since, empty and without a name."""
        folders = {node: dict(names) for node, names in self.start.folders.items()}
        folders |= {node: {} for node in self.new_folders}
        made = {step.node for step in steps if isinstance(step, Put)}
        made |= {step.file for step in steps if isinstance(step, Change)}
        return Disk(dict.fromkeys(made - folders.keys(), b"") | self.start.files, folders)


def names_of(step: Step) -> dict[int, Names]:
    """What a step does to the names of each folder that it changes."""
    if isinstance(step, Put):
        return {step.folder: {step.name: step.node}}
    if isinstance(step, Drop):
        return {step.folder: {step.name: None}}
    if not isinstance(step, Move):
        return {}
    if step.folder == step.to_folder:
        return {step.folder: {step.name: None, step.to_name: step.node}}
    return {step.to_folder: {step.to_name: step.node}, step.folder: {step.name: None}}


def _rename(folder: dict[str, int], names: Names) -> None:
    for name, node in names.items():
        if node is None:
            folder.pop(name, None)
        else:
            folder[name] = node


def changed(content: bytes, changes: Sequence[Change]) -> bytes:
    """A file's content after some changes."""
    now = bytearray(content)
    for change in changes:
        size = change.size if isinstance(change, Resize) else change.at + len(change.data)
        now.extend(bytes(max(0, size - len(now))))
        if isinstance(change, Resize):
            del now[size:]
        else:
            now[change.at : size] = change.data
    return bytes(now)


Sure = Mapping[int, int]
"""The step at which a node was last synced."""


class _Fate:
    """Decides what is left of what was not sure."""

    def names(self, by_folder: Mapping[int, Mapping[int, Names]], synced: Sure) -> dict[int, set[int]]:
        """The changes of each folder that are kept, by step; of a move between two folders both or none."""
        found = {}
        for folder, changes in by_folder.items():
            unsure = [at for at in changes if at > synced.get(folder, -1)]
            found[folder] = (changes.keys() - set(unsure)) | set(self.some(unsure))
        return self.completed(by_folder, found)

    def completed(
        self, by_folder: Mapping[int, Mapping[int, Names]], kept: dict[int, set[int]]
    ) -> dict[int, set[int]]:
        """With what must be kept as well: what came before in the folder, and the other ends of moves."""
        ends = {folder: max(found, default=-1) for folder, found in kept.items()}
        found = _until(by_folder, ends)
        while torn := list(_torn(by_folder, found)):
            for at, folder in torn:
                ends[folder] = max(ends[folder], at)
            found = _until(by_folder, ends)
        return found

    def some(self, unsure: list[int]) -> list[int]:
        """Those of the changes of a folder that are kept."""
        raise NotImplementedError

    def content(self, content: bytes, changes: list[Change]) -> bytes:
        """What becomes of a file."""
        raise NotImplementedError


def _until(by_folder: Mapping[int, Mapping[int, Names]], ends: Mapping[int, int]) -> dict[int, set[int]]:
    return {folder: {at for at in by_folder[folder] if at <= end} for folder, end in ends.items()}


def _torn(
    by_folder: Mapping[int, Mapping[int, Names]], kept: Mapping[int, set[int]]
) -> Iterator[tuple[int, int]]:
    """The moves between two folders that are kept in the other one alone."""
    for folder, changes in by_folder.items():
        for other, found in kept.items():
            yield from ((at, folder) for at in found & changes.keys() - kept[folder] if other != folder)


class _Lost(_Fate):
    def some(self, unsure: list[int]) -> list[int]:
        del unsure
        return []

    def content(self, content: bytes, changes: list[Change]) -> bytes:
        del changes
        return content


class _Kept(_Fate):
    def some(self, unsure: list[int]) -> list[int]:
        return unsure

    def content(self, content: bytes, changes: list[Change]) -> bytes:
        return changed(content, changes)


class _Chance(_Fate):
    """Some of it: any changes of a folder, or without `wild` the first."""

    def __init__(self, chance: random.Random, wild: bool) -> None:
        self._chance, self._wild = chance, wild

    def completed(
        self, by_folder: Mapping[int, Mapping[int, Names]], kept: dict[int, set[int]]
    ) -> dict[int, set[int]]:
        if not self._wild:
            return super().completed(by_folder, kept)
        for at, folder in list(_torn(by_folder, kept)):
            kept[folder].add(at)
        return kept

    def some(self, unsure: list[int]) -> list[int]:
        if self._wild:
            return [at for at in unsure if self._chance.random() < 0.5]
        return unsure[: self._chance.randint(0, len(unsure))]

    def content(self, content: bytes, changes: list[Change]) -> bytes:
        way = self._chance.choice([_Lost().content, _Kept().content, self._cut, self._with_holes])
        return way(content, changes)

    def _cut(self, content: bytes, changes: list[Change]) -> bytes:
        if not changes:
            return content
        last = self._chance.randrange(len(changes))
        torn = changes[last]
        if isinstance(torn, Write):
            torn = torn._replace(data=torn.data[: self._chance.randint(0, len(torn.data))])
        return changed(content, [*changes[:last], torn])

    def _with_holes(self, content: bytes, changes: list[Change]) -> bytes:
        """The file has its length, and some of its sectors never came."""
        now = content
        for change in changes:
            if isinstance(change, Resize):
                now = changed(now, [change])
                continue
            now = changed(now, [Resize(change.file, max(len(now), change.at + len(change.data)))])
            now = changed(now, [piece for piece in _sectors(change) if self._chance.random() < 0.5])
        return now


def _sectors(change: Write) -> Iterator[Write]:
    for start in range(0, len(change.data), SECTOR):
        yield Write(change.file, change.at + start, change.data[start : start + SECTOR])
