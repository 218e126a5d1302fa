"""Kill `meshwright run` again and again, go on with what it left, and look whether anything differs.

    python -m benchmarks.run_crashes [--kills N] [--seed N]

Each run is killed with SIGKILL at a moment that is drawn from the time that a whole run takes. The next one
goes on with `--resume`, or begins anew with `--force`. After every kill, each dataset in the folder must be
intact, or no dataset at all. In the end the overlay must be that of a run that was never killed, and `verify`
must find every file intact.
"""

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import meshwright as mw
from meshwright.pipeline.verify import verify
from meshwright.runtime.errors import DatasetError


def start(table: Path, out: Path, *how: str) -> "subprocess.Popen[bytes]":
    """Start a run in a group of its own, so that a kill takes its Java along."""
    command = ["-m", "meshwright", "run", str(table), "--as", "pairs", "--algorithm", "gm", "--out", str(out)]
    return subprocess.Popen(
        [sys.executable, *command, *how], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, process_group=0
    )


def killed(process: "subprocess.Popen[bytes]", after: float) -> bool:
    """Whether a run had to be killed after so many seconds."""
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
        return True
    return False


def damaged(out: Path) -> list[str]:
    """The datasets in the folder of a run that say that they are complete, and are not."""
    found = []
    for folder in (out, out / "interests", out / "overlay"):
        try:
            if (folder / "manifest.json").exists() and not verify(folder).intact:
                found.append(str(folder))
        except DatasetError as error:
            found.append(str(error))
    return found


def main() -> None:
    """Kill, go on, compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    chance = random.Random(asked.seed)
    with tempfile.TemporaryDirectory(prefix="meshwright-kills-") as name:
        folder = Path(name)
        interests = mw.workloads.unif(300, 40, min_subscriptions=3, max_subscriptions=12, seed=asked.seed)
        table = folder / "pairs.csv"
        rows = [("node", "topic"), *interests.to_pairs()]
        table.write_text("".join(f"{node},{topic}\n" for node, topic in rows))
        begin = time.perf_counter()
        if start(table, folder / "whole").wait():
            sys.exit("the run that is not killed failed")
        usual = time.perf_counter() - begin
        truth = mw.Overlay.read(folder / "whole" / "overlay")
        out, kills, wrong = folder / "out", 0, []
        while kills < asked.kills:
            begun = (out / ".run" / "plan.json").exists()
            how = "--resume" if begun and chance.random() < 0.7 else "--force"
            process = start(table, out, how)
            if killed(process, chance.uniform(0.1, 1.1) * usual):
                kills += 1
            elif process.returncode:
                wrong.append((process.stderr.read() if process.stderr else b"").decode()[-300:])
            wrong += damaged(out)
            print(
                f"kill {kills}, {how}: {', '.join(entry.name for entry in sorted(out.glob('*')))}", flush=True
            )
        last = start(table, out, "--force")
        same = last.wait() == 0 and mw.Overlay.read(out / "overlay") == truth and verify(out).intact
    print(f"{kills} kills of run, seed {asked.seed}: {len(wrong)} wrong, the last overlay the same: {same}")
    for line in wrong:
        print(line)
    sys.exit(bool(wrong) or not same)


if __name__ == "__main__":
    main()
