"""Let the disk fill up at every stage of `meshwright run`, make room, and go on with `--resume`.

    python -m benchmarks.full_disk [--sizes 12] [--engine local|spark]

The disk is a file system in memory of a size that is given, in a name space of its own, so no root is needed.
A run gets disks of rising sizes. Where one is too small, the run must end with exit code 2 and a last line
that says so, and no dataset may be left that is damaged. Then the disk grows, and `--resume` must finish
without doing a finished stage again. The overlay must be that of a run that had room from the start.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import meshwright as mw
from benchmarks.run_crashes import damaged
from meshwright.pipeline.verify import verify

_ROOM = "8g"
_WORDS = ("No space left on device", "disk is full")


def run(table: Path, out: Path, *how: str) -> "subprocess.CompletedProcess[str]":
    """A run of the command line to its end."""
    command = ["-m", "meshwright", "run", str(table), "--as", "pairs", "--out", str(out), *how]
    return subprocess.run([sys.executable, *command], check=False, capture_output=True, text=True)


def finished(out: Path) -> dict[str, Any]:
    """The stages that are noted as finished, with what the notes say."""
    notes = (out / ".run").glob("*.json")
    return {note.stem: json.loads(note.read_text("utf-8")) for note in notes if note.stem != "plan"}


def tried(size: int, table: Path, truth: mw.Overlay, engine: str, disk: Path) -> tuple[str, list[str]]:
    """What happened on a disk of so many bytes, and what was wrong with it."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(disk)], check=True)
    conf = ["--conf", f"spark.local.dir={disk}"] if engine == "spark" else []
    out, how = disk / "out", ["--engine", engine, *conf]
    try:
        first, wrong = run(table, out, *how), list[str]()
        if first.returncode == 0:
            return "there was room", []
        done, said = finished(out), first.stderr.strip().splitlines()
        wrong += damaged(out)
        if first.returncode != 2 or "Traceback" in first.stderr or not _tells_of_disk(said):
            wrong.append(f"exit code {first.returncode}, said {said}")
        subprocess.run(["mount", "-o", f"remount,size={_ROOM}", str(disk)], check=True)
        second = run(table, out, *how, *(["--resume"] if done else []))
        if second.returncode:
            wrong.append(f"resuming ended with {second.returncode}: {second.stderr}")
        else:
            wrong += _differences(out, truth, done)
        where = next((name for name in _STAGES if name not in done), "the end")
        return f"full in {where}: {said[-1] if said else ''}", wrong
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def _tells_of_disk(said: list[str]) -> bool:
    """Whether the last line does; those before it tell of progress."""
    return bool(said) and said[-1].startswith("meshwright: ") and any(word in said[-1] for word in _WORDS)


_STAGES = ("ingest", "profile", "build", "evaluate", "report")


def _differences(out: Path, truth: mw.Overlay, done: dict[str, Any]) -> list[str]:
    seconds = json.loads((out / "manifest.json").read_text("utf-8"))["seconds"]
    again = [name for name, note in done.items() if seconds[name] != note["seconds"]]
    wrong = [f"{name} was done again" for name in again]
    if mw.Overlay.read(out / "overlay") != truth:
        wrong.append("the overlay is another one")
    if not verify(out).intact:
        wrong.append("a file is damaged")
    return wrong


def main() -> None:
    """Fill disks of all sizes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--sizes", type=int, default=12)
    parser.add_argument("--engine", choices=("local", "spark"), default="local")
    parser.add_argument("--apart", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if not asked.apart:  # once more, where file systems can be mounted
        words = [sys.executable, "-m", "benchmarks.full_disk", *sys.argv[1:], "--apart"]
        sys.exit(subprocess.run(["unshare", "-Urm", *words], check=False).returncode)
    with tempfile.TemporaryDirectory(prefix="meshwright-full-") as name:
        folder = Path(name)
        interests = mw.workloads.unif(asked.nodes, 200, subscriptions=12, seed=1)
        interests.write(folder / "made")
        table, disk = folder / "made" / "interests", folder / "disk"
        disk.mkdir()
        whole = run(table, folder / "whole", "--engine", asked.engine)
        if whole.returncode:
            sys.exit(f"the run with room failed: {whole.stderr}")
        needed = sum(path.stat().st_size for path in (folder / "whole").rglob("*") if path.is_file())
        truth, bad = mw.Overlay.read(folder / "whole" / "overlay"), 0
        for step in range(asked.sizes):
            size = int(1.2 * needed * (step + 0.5) / asked.sizes)
            happened, wrong = tried(size, table, truth, asked.engine, disk)
            bad += len(wrong)
            print(f"{size / 1e6:6.2f} MB of {needed / 1e6:.2f}: {happened}", *wrong, sep="\n  ", flush=True)
    print(f"{asked.sizes} disks, {bad} promises broken")
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
