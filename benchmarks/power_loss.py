"""Cut recorded writes at every point, as a loss of power would, and look what can be read of what is left.

    python -m benchmarks.power_loss [--states 20] [--seed N]

Overlays, exports, events and journals are written in process while every write, rename and sync is recorded.
For each cut the disk is laid out as it may be then: all lost that was not synced, all kept, and so many
random states between. What is read must be the old thing, the new one or none, and the new one once the call
has returned; of a journal at least what its policy promised. Ends with 1 where something else was read.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import meshwright as mw
from tests import power_loss
from tests.power_loss import WRITERS, Scenario, replay

_EVENTS = 24


def scenarios(seed: int) -> Iterator[tuple[str, Callable[[Path], Scenario]]]:
    """What is written, by name, each in a folder of its own."""
    for force in (False, True):
        place = "in place of an old one" if force else "new"
        yield f"overlay, {place}", partial(power_loss.dataset, force=force)
        for name in WRITERS:
            yield f"{name}, {place}", partial(power_loss.file, name=name, force=force)
    interests = mw.workloads.unif(40, 8, min_subscriptions=1, max_subscriptions=4, seed=seed)
    events = mw.workloads.churn(interests, _EVENTS, seed=seed)
    given = power_loss.steps(mw.build(interests, "low-oda", seed=seed), list(events))
    for sync in ("always", 5, "never"):
        for after in (5, 1000):
            make = partial(power_loss.journal, given=given, sync=sync, compact_after=after)
            yield f"journal, sync {sync}, compact after {after}", make


def main() -> None:
    """Print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--states", type=int, default=20, help="random states a cut")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(f"{'written':45} {'cuts':>6} {'states':>7} {'different':>9} {'wrong':>6}")
    cuts, wrong = 0, []
    for name, make in scenarios(given.seed):
        with tempfile.TemporaryDirectory() as work:
            (Path(work) / "recorded").mkdir()
            tally = replay(make(Path(work) / "recorded"), Path(work), given.states, given.seed)
        cuts += tally.cuts
        wrong += [f"{name}: {what}" for what in tally.wrong]
        print(f"{name:45} {tally.cuts:6,} {tally.states:7,} {len(tally.found):9,} {len(tally.wrong):6,}")
    print(
        f"{cuts:,} cuts, seed {given.seed}: {len(wrong)} states in which something else was read", flush=True
    )
    print("\n".join(wrong[:20]), file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
