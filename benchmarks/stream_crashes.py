"""Kill a stream of events again and again, and look whether anything is lost or done twice.

    python -m benchmarks.stream_crashes [--kills N] [--files N] [--seed N]

`meshwright churn --stream` follows a folder of files, JSON lines and Parquet in turns. It and its Spark are
killed with SIGKILL when the journal has grown by a random number of bytes since the last batch, and started
again, as often as asked; it says how many kills were in the middle of a micro-batch, with some of its events
applied and others not. In the end its overlay is compared with one that was maintained without a break, and
its changes are followed one by one.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import meshwright as mw
from benchmarks.churn_crashes import doubled
from meshwright.model.events import write_events

_EVENTS_A_FILE = 200
_FILES_A_BATCH = 2
_BYTES_A_BATCH = 40_000


def feed(folder: Path, events: list[mw.Event]) -> None:
    """Files of as many events each, one a second later than the one before."""
    for number, start in enumerate(range(0, len(events), _EVENTS_A_FILE)):
        path = folder / f"{number:04d}.{('jsonl', 'parquet')[number % 2]}"
        write_events(events[start : start + _EVENTS_A_FILE], path)
        os.utime(path, (1_000_000 + number,) * 2)


def let_grow(journal: Path, by: int) -> None:
    """Wait until the log of a journal has so many bytes more, or half a minute."""
    end = time.monotonic() + 30
    before = sum(log.stat().st_size for log in journal.glob("*.log"))
    while sum(log.stat().st_size for log in journal.glob("*.log")) < before + by and time.monotonic() < end:
        time.sleep(0.001)


def follow(folder: Path, wait: tuple[int, int] | None) -> tuple[list[dict[str, int]], bool]:
    """Run the command; kill it after so many reports and bytes. Gives the reports, and if it was killed."""
    command = [sys.executable, "-m", "meshwright", "churn", "overlay", "--stream", "in", "--out", "out"]
    command += ["--once", "--json", "--master", "local[1]", "--files-a-batch", str(_FILES_A_BATCH)]
    reports = []
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdout is not None
    killed = False
    with process.stdout as lines:
        for line in lines:
            row = json.loads(line)
            if "batch" in row:
                reports.append(row)
            if wait is not None and not killed and len(reports) >= wait[0]:
                let_grow(folder / "out" / "journal", wait[1])
                os.killpg(process.pid, signal.SIGKILL)
                killed = True
    if process.wait() and not killed:
        raise SystemExit(f"the command ended with {process.returncode}; its words are above")
    return reports, killed


def main() -> None:
    """Print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--files", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    interests = mw.workloads.unif(300, 50, min_subscriptions=3, max_subscriptions=20, seed=given.seed)
    overlay = mw.build(interests, "low-oda", seed=given.seed)
    events = mw.workloads.churn(interests, given.files * _EVENTS_A_FILE, seed=given.seed)
    chance = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        overlay.write(folder / "overlay")
        (folder / "in").mkdir()
        feed(folder / "in", events)
        kills = again = between = 0
        ended = False
        while not ended:
            wait = (chance.randint(1, 3), chance.randint(1, _BYTES_A_BATCH)) if kills < given.kills else None
            reports, killed = follow(folder, wait)
            kills += killed
            again += sum(report["repeated"] for report in reports)
            ended = not killed
            with mw.Journal(folder / "out" / "journal") as journal:
                between += journal.live.revision % (_EVENTS_A_FILE * _FILES_A_BATCH) != 0
        live = mw.Maintainer(overlay)
        for event in events:
            live.apply([event])
        found, expected = mw.Overlay.read(folder / "out" / "overlay"), live.overlay
        same = found.interests == expected.interests and np.array_equal(found.edges, expected.edges)
        wrong = doubled(folder / "out", overlay, len(events))
    print(
        f"{kills} kills among {len(events):,} events of {given.files} files, {between} of them inside a batch"
    )
    print(f"events that Spark handed out again and that were passed over: {again:,}")
    print(f"events lost or applied twice: {wrong}; the overlay differs: {'no' if same else 'yes'}")


if __name__ == "__main__":
    main()
