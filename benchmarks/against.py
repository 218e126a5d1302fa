"""Is this checkout as fast as another commit, and does it give the same links?

    python -m benchmarks.against COMMIT [--case NAME ...] [--processes 3] [--times 5] [--scale 1]
                                 [--twitter FILE]

Clones COMMIT into a temporary folder, makes its environment as its launcher does, and measures both in this
one run, in turns. Each case is measured in several processes: where a process happens to lie in memory
changes its speed by up to 10% (measured with the same code twice). Only the public face is used, so modules
may have moved between the two. A ratio below 1 says that this checkout is faster. Times are seconds, for a
leave and a join the median of 200 in microseconds; `processor` counts all cores, and depends less than the
clock on what else runs.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import pyarrow.parquet as pq

_HERE = Path(__file__).resolve().parent.parent
_LIBRARY = (
    "gm unif-1000",
    "gm unif-200",
    "gm expo-1000",
    "gm twitter",
    "dc 100,000",
    "dcbc-direct 100,000",
    "leave",
    "join",
)
_GENERATE = "generate unif --nodes 500 --topics 50 --subscriptions 10 --out workload"
_COMMANDS = {
    "version": "--version",
    "help": "--help",
    "build": "build workload --algorithm gm --out overlay --force",
    "evaluate": "evaluate overlay --json",
}
_COMPARED = (
    "nodes",
    "edges",
    "average_degree",
    "maximum_degree",
    "maximum_topic_diameter",
    "topic_connected",
)
_HEADER = (
    ("", "there", "there", "here", "here", "ratio", "ratio", "wall", "same"),
    ("case", "best", "median", "best", "median", "best", "median", "best", "links"),
)


class Side:
    """A checkout with its environment: a process that measures the library, and a folder for commands."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._bin = root / ".venv" / "bin"
        self._program = self._bin / "meshwright"
        self._folder = folder
        self._process: subprocess.Popen[str] | None = None
        folder.mkdir()
        self._run(_GENERATE)
        self._run(_COMMANDS["build"])

    def start(self) -> None:
        """Start a process that measures, in place of the one before."""
        self.close()
        # -P: a module beside the script is not to be taken for one of the standard library.
        self._process = subprocess.Popen(
            [self._bin / "python", "-P", _HERE / "benchmarks" / "against_side.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        """End the process."""
        if self._process:
            self._process.communicate()

    def measure(self, case: str, scale: float, twitter: str | None) -> dict[str, Any]:
        """What one measurement of a case says."""
        if case in _COMMANDS:
            return self._measure_command(case)
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = json.dumps({"case": case, "scale": scale, "twitter": twitter})
        print(request, file=self._process.stdin, flush=True)
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found

    def _measure_command(self, case: str) -> dict[str, Any]:
        begin = perf_counter()
        out, processor = self._run(_COMMANDS[case])
        wall = perf_counter() - begin
        return {"processor": processor, "wall": wall, "result": self._result(case, out)}

    def _result(self, case: str, out: str) -> Any:
        """What has to be the same on both sides; None where nothing has."""
        if case == "build":
            links = pq.read_table(self._folder / "overlay" / "edges", columns=["source", "target"])
            return list(links.to_pydict().values())
        return [json.loads(out)[key] for key in _COMPARED] if case == "evaluate" else None

    def _run(self, words: str) -> tuple[str, float]:
        """What a command prints, and the processor seconds of it and of all that it waited for."""
        with tempfile.TemporaryFile("w+") as out:
            process = subprocess.Popen([self._program, *words.split()], cwd=self._folder, stdout=out)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                raise SystemExit(f"{self._program} {words} ended with {process.returncode}")
            out.seek(0)
            return out.read(), used.ru_utime + used.ru_stime


@contextmanager
def checkout(commit: str) -> Iterator[Path]:
    """A clone of this repository at a commit, with its environment."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "there"
        for words in (
            ("clone", "-q", "--no-checkout", _HERE.as_uri(), str(root)),
            ("-C", str(root), "checkout", "-q", "--detach", commit),
        ):
            subprocess.run(["git", *words], check=True)
        set_up(root)
        yield root


def set_up(root: Path) -> None:
    """Make the environment of a checkout, as its first start does."""
    subprocess.run([root / "meshwright", "--version"], check=True, stdout=subprocess.DEVNULL)


def compare(case: str, sides: Sequence[Side], options: argparse.Namespace) -> str:
    """A line of the table: a case measured on both sides in turns, in each process after once to compile."""
    found: list[list[dict[str, Any]]] = [[], []]
    for _ in range(options.processes):
        for side in sides:
            side.start()
            side.measure(case, options.scale, options.twitter)
        for turn in range(options.times):
            for at in (0, 1) if turn % 2 else (1, 0):
                found[at].append(sides[at].measure(case, options.scale, options.twitter))
    results = {json.dumps(own["result"]) for side in found for own in side}
    times = {kind: [[own[kind] for own in side] for side in found] for kind in ("processor", "wall")}
    there, here = times["processor"]
    same = "-" if results == {"null"} else "yes" if len(results) == 1 else "NO"
    cells = [min(there), median(there), min(here), median(here)]
    ratios = [_ratio(min, times["processor"]), _ratio(median, times["processor"]), _ratio(min, times["wall"])]
    shown = [f"{cell:.3f}" if cell < 100 else f"{cell:,.0f}" for cell in cells]
    return _line(case, shown, [f"{ratio:.2f}" for ratio in ratios], same)


def _line(case: str, times: Sequence[str], ratios: Sequence[str], same: str) -> str:
    cells = [*(f"{own:>8}" for own in times), *(f"{own:>6}" for own in ratios)]
    return f"{case:<20} {' '.join(cells)} {same:>5}"


def _ratio(of: Any, times: Sequence[Sequence[float]]) -> float:
    return float(of(times[1]) / of(times[0]))


def twitter_sample(path: Path, folder: Path, scale: float) -> str:
    """A sample of a file of follows, as a table that both sides read."""
    from benchmarks.social import follows_sample

    sample = folder / "twitter.parquet"
    pq.write_table(follows_sample(path, round(10_000 * scale), seed=1).to_arrow(), sample)
    return str(sample)


def main() -> None:
    """Print a table with a line for each case."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("commit", metavar="COMMIT")
    parser.add_argument("--case", action="append", choices=[*_LIBRARY, *_COMMANDS])
    parser.add_argument("--processes", type=int, default=3, help="in how many processes on each side")
    parser.add_argument("--times", type=int, default=5, help="how often each case is measured in a process")
    parser.add_argument("--scale", type=float, default=1.0, help="times the nodes of builds and churn")
    parser.add_argument("--twitter", type=Path, help="a file of follower followee lines")
    options = parser.parse_args()
    cases = options.case or [
        case for case in (*_LIBRARY, *_COMMANDS) if case != "gm twitter" or options.twitter
    ]
    if "gm twitter" in cases and not options.twitter:
        parser.error("the case gm twitter needs --twitter FILE")
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        if options.twitter:
            options.twitter = twitter_sample(options.twitter, folder, options.scale)
        there = opened.enter_context(checkout(options.commit))
        set_up(_HERE)
        sides = []
        for name, root in (("there", there), ("here", _HERE)):
            sides.append(Side(root, folder / name))
            opened.callback(sides[-1].close)
        print(f"processor time of {options.commit} (there) and of this checkout (here); ratio: here / there")
        for words in _HEADER:
            print(_line(words[0], words[1:5], words[5:8], words[8]))
        for case in cases:
            print(compare(case, sides, options), flush=True)


if __name__ == "__main__":
    # The clone and its environment, a gigabyte, are removed then too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main()
