"""Give mutated files to the readers of every format that users bring, and to those of an ingest's tasks.

    python -m benchmarks.fuzz [--count 2000] [--seed N] [--format NAME…] [--case NUMBER] [--keep DIR]

A reader must take a file or refuse it with an error of ours: no other exception, no end of the process, no
hang of a minute, no more memory than a bound; and where an independent reading can say what the file holds,
it holds that. Format, seed and number tell a file; with `--case` one is made again, read and written to DIR.
What goes wrong is kept in DIR, as small as it still goes wrong. Ends with 1 where something did.
"""

import argparse
import json
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import meshwright as mw
from benchmarks import fuzz_formats
from benchmarks.fuzz_formats import Format, case
from benchmarks.fuzz_tasks import TASKS

FORMATS = {**fuzz_formats.FORMATS, **TASKS}
TAKEN, REFUSED, LOSS, TRACEBACK, HANG, END = "taken", "refused", "LOSS", "TRACEBACK", "HANG", "END"
_BAD = (LOSS, TRACEBACK, HANG, END)
_HANG_SECONDS = 60
_MOST_MEMORY = 6 << 30
_TRIES_TO_SHRINK = 300


class Result(NamedTuple):
    """What came of a file, in how much memory at most so far."""

    number: int
    outcome: str
    detail: str
    peak_mb: int


def judged(format: Format, path: Path, data: bytes) -> tuple[str, str]:
    """What a reader makes of a file."""
    path.write_bytes(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = format.read(path)
    except mw.MeshwrightError as error:
        return (
            (REFUSED, "") if "\n" not in str(error) else (TRACEBACK, f"an error of several lines: {error!r}")
        )
    except _Hang:
        return HANG, ""
    except Exception as error:
        return TRACEBACK, f"{type(error).__name__}: {error}"
    try:
        expected = format.expected(data)
    except Exception as error:
        expected = f"an independent reader refuses it: {error}"
    if expected is not None and found != expected:
        return LOSS, f"read {found!r:.200}, expected {expected!r:.200}"
    return TAKEN, ""


class _Hang(BaseException):
    pass


def _stop(*_: object) -> None:
    raise _Hang


def work(name: str, numbers: range, seed: int) -> None:
    """Judge some files of a format, a line of JSON each; in a process that may end."""
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, _stop)
    with tempfile.TemporaryDirectory() as folder:
        for number in numbers:
            signal.alarm(_HANG_SECONDS)
            outcome, detail = judged(FORMATS[name], Path(folder) / name, case(FORMATS[name], seed, number))
            signal.alarm(0)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            print(json.dumps([number, outcome, detail[:400], peak]), flush=True)


def results(name: str, count: int, seed: int) -> Iterator[Result]:
    """Of all files of a format; a process that ends, or says nothing for too long, is followed by another."""
    number = 0
    while number < count:
        command = [
            sys.executable,
            "-m",
            "benchmarks.fuzz",
            "--worker",
            name,
            str(number),
            str(count),
            str(seed),
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                result = Result(*json.loads(line))
                number = result.number + 1
                yield result
        if number < count:
            yield Result(number, END, f"the process ended with {process.returncode}", 0)
            number += 1


def shrunk(data: bytes, still: Callable[[bytes], bool]) -> bytes:
    """A smaller file that goes wrong as well; halves, quarters and so on are left out while that holds."""
    size, tries = len(data) // 2, 0
    while size and tries < _TRIES_TO_SHRINK:
        at = 0
        while at < len(data) and tries < _TRIES_TO_SHRINK:
            tries += 1
            smaller = data[:at] + data[at + size :]
            if still(smaller):
                data = smaller
            else:
                at += size
        size //= 2
    return data


def keep(name: str, result: Result, seed: int, folder: Path) -> Path:
    """Write a file that goes wrong to a folder, as small as it can be made."""
    data = case(FORMATS[name], seed, result.number)
    folder.mkdir(parents=True, exist_ok=True)
    if result.outcome in (LOSS, TRACEBACK):
        kind = result.detail.partition(":")[0] if result.outcome == TRACEBACK else ""

        def still(smaller: bytes) -> bool:
            outcome, detail = judged(FORMATS[name], folder / name, smaller)
            return outcome == result.outcome and detail.startswith(kind)

        data = shrunk(data, still)
        (folder / name).unlink()
    place = folder / f"{seed}-{result.number}-{name}"
    place.write_bytes(data)
    return place


def main() -> None:
    """Print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--format", nargs="+", choices=FORMATS, default=list(FORMATS))
    parser.add_argument("--case", type=int)
    parser.add_argument("--keep", type=Path, metavar="DIR", default=Path(tempfile.gettempdir()) / "fuzz")
    given = parser.parse_args()
    if given.case is not None:
        for name in given.format:
            place = keep(name, Result(given.case, "", "", 0), given.seed, given.keep)
            print(f"{place}: {judged(FORMATS[name], place, place.read_bytes())}")
        return
    columns = (TAKEN, REFUSED, *_BAD)
    print(f"{'format':20}" + "".join(f"{column:>11}" for column in columns) + f"{'peak MB':>11}")
    bad = 0
    for name in given.format:
        found = list(results(name, given.count, given.seed))
        counts = Counter(result.outcome for result in found)
        peak = max(result.peak_mb for result in found)
        print(
            f"{name:20}" + "".join(f"{counts[column]:11,}" for column in columns) + f"{peak:11,}", flush=True
        )
        wrong = [result for result in found if result.outcome in _BAD]
        bad += len(wrong)
        for detail in dict.fromkeys(result.detail[:40] for result in wrong):
            result = next(result for result in wrong if result.detail.startswith(detail))
            print(
                f"    {keep(name, result, given.seed, given.keep)}: {result.outcome} {result.detail}",
                flush=True,
            )
    print(f"{given.count:,} files a format, seed {given.seed}: {bad:,} went wrong")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        start, stop, chosen = map(int, sys.argv[3:])
        work(sys.argv[2], range(start, stop), chosen)
    else:
        main()
