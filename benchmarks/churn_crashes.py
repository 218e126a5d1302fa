"""Kill a maintainer with a journal again and again, and look whether anything is lost or done twice.

    python -m benchmarks.churn_crashes [--kills N] [--nodes N] [--policy NAME] [--seed N]

A process applies a stream of events through a journal with `sync="always"` and says so after each. It is
killed with SIGKILL at a random moment, the journal is opened and compared with a run that was never killed,
and the next process sends some of the last events again and goes on.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

import meshwright as mw
from meshwright.maintain.journal.recording import Recording, read_recorded
from meshwright.model.events import read_events, with_ids, write_events

_SENT_AGAIN = 5
_LONGEST_STREAK = 40
_LONGEST_WAIT = 0.004


@dataclass
class Outcome:
    """What came of it: all but the first three must be 0."""

    kills: int = 0
    events: int = 0
    torn: int = 0
    lost: int = 0
    doubled: int = 0
    different: int = 0


def crash(
    folder: Path,
    overlay: mw.Overlay,
    events: list[mw.Event],
    kills: int,
    seed: int = 0,
    tell: Callable[[Outcome], None] = lambda _: None,
    costs: mw.Costs | None = None,
    **options: Any,
) -> Outcome:
    """Apply events in processes that are killed so many times, and in a last one that is not."""
    expected = [_state(live) for live in _uninterrupted(overlay, costs, events, options)]
    overlay.write(folder / "overlay")
    if costs is not None:
        costs.write(folder / "costs")
    write_events(events, folder / "events.jsonl")
    outcome = Outcome(events=len(events))
    chance = random.Random(seed)
    done = 0
    with _zygote(folder, options) as (requests, answers):
        while done < len(events):
            may_live = outcome.kills >= kills
            print(max(0, done - _SENT_AGAIN), file=requests, flush=True)
            said = _let_run(answers, None if may_live else chance)
            outcome.kills += not may_live and said.killed
            recording = Recording(folder / "recorded")
            with mw.Journal(folder / "journal", follower=recording, costs=costs) as journal:
                revision = journal.live.revision
                outcome.torn += journal.recovery.torn > 0
                outcome.lost += revision < max(done, said.acknowledged)
                outcome.different += _state(journal.live) != expected[revision]
                journal.settle()
            done = revision
            tell(outcome)
    outcome.doubled = doubled(folder / "recorded", overlay, len(events))
    return outcome


def _uninterrupted(
    overlay: mw.Overlay, costs: mw.Costs | None, events: list[mw.Event], options: dict[str, Any]
) -> Iterator[mw.Maintainer]:
    live = mw.Maintainer(overlay, costs=costs, **options)
    yield live
    for event in events:
        live.apply([event])
        yield live


def _state(live: mw.Maintainer) -> bytes:
    return blake2b(live.snapshot(), digest_size=16).digest()


def doubled(recorded: Path, overlay: mw.Overlay, events: int) -> int:
    """How many revisions are not there exactly once, or don't lead from link to link."""
    revisions = read_recorded(recorded, "repairs")["revision"].to_pylist()
    wrong = abs(len(revisions) - (events + 1)) + (revisions != sorted(set(revisions)))
    names = overlay.interests.nodes.to_pylist()
    links = {(names[u], names[v]) for u, v in overlay.edges.tolist()}
    for row in read_recorded(recorded, "changes").to_pylist():
        link = (row["source"], row["target"])
        wrong += (link in links) != (row["action"] == "close")
        links ^= {link}
    return wrong


@dataclass
class _Said:
    """The last revision that a process said to have reached, and whether it was killed."""

    acknowledged: int
    killed: bool


def _let_run(answers: IO[str], chance: random.Random | None) -> _Said:
    """Read what a process says, and kill it after some of that, if there is a chance to go by."""
    pid = int(answers.readline())
    streak = chance.randint(1, _LONGEST_STREAK) if chance else -1
    said = _Said(0, False)
    for line in answers:
        if line.startswith("ended"):
            return said
        said.acknowledged = int(line)
        streak -= 1
        if streak == 0 and chance is not None:
            time.sleep(chance.uniform(0, _LONGEST_WAIT))
            os.kill(pid, signal.SIGKILL)
            said.killed = True
    raise RuntimeError("the process that makes others has ended; its words are above")


@contextmanager
def _zygote(folder: Path, options: dict[str, Any]) -> Iterator[tuple[IO[str], IO[str]]]:
    """A process that imports and compiles all once, and forks one for each line that it reads."""
    command = [sys.executable, "-m", "benchmarks.churn_crashes", "--zygote", str(folder)]
    command += [f"{name}={value}" for name, value in options.items()]
    root = Path(__file__).parents[1]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=root, **pipes)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process.stdin, process.stdout
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()


def _be_zygote(folder: Path, options: dict[str, Any]) -> None:
    overlay, events = mw.Overlay.read(folder / "overlay"), read_events(folder / "events.jsonl").events
    costs = mw.Costs.read(folder / "costs") if (folder / "costs").exists() else None
    for _ in _uninterrupted(overlay, costs, list(events[:50]), options):
        pass
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _be_killed(folder, overlay, list(events[int(line) :]), {"costs": costs, **options})
            os._exit(0)
        os.waitpid(pid, 0)
        os.write(1, b"ended\n")


def _be_killed(folder: Path, overlay: mw.Overlay, events: list[mw.Event], options: dict[str, Any]) -> None:
    os.write(1, b"%d\n" % os.getpid())
    recording = Recording(folder / "recorded")
    with mw.Journal(folder / "journal", overlay, compact_after=30, follower=recording, **options) as journal:
        for event in events:
            journal.live.apply([event])
            os.write(1, b"%d\n" % journal.live.revision)


def main() -> None:
    """Print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--nodes", type=int, default=300)
    parser.add_argument("--policy", default="shadow")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    interests = mw.workloads.unif(given.nodes, 50, min_subscriptions=3, max_subscriptions=20, seed=given.seed)
    events = with_ids(mw.workloads.churn(interests, given.kills * _LONGEST_STREAK, seed=given.seed))
    with tempfile.TemporaryDirectory() as folder:
        found = crash(
            Path(folder),
            mw.build(interests, "low-oda", seed=given.seed),
            events,
            given.kills,
            given.seed,
            lambda so_far: print(f"\r{so_far.kills} kills", end="", file=sys.stderr, flush=True),
            policy=given.policy,
        )
    print(f"\n{found.kills} kills among {found.events:,} events, policy {given.policy}")
    print(f"acknowledged events lost: {found.lost}; applied twice: {found.doubled}")
    print(f"states that differ from a run that was never killed: {found.different}")
    print(f"records cut off by a kill, and left out when the journal was opened: {found.torn}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--zygote"]:
        _be_zygote(Path(sys.argv[2]), dict(pair.split("=", 1) for pair in sys.argv[3:]))
    else:
        main()
