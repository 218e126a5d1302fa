"""Damage files of every kind that we write, and look whether any reader takes them for something else.

    python -m benchmarks.flips [--flips 5000] [--others 1000] [--seed N] [--only NAME…] [--run DIR]

So many bits are flipped, one at a time, spread evenly over all files of datasets, journals, recordings and a
run's folder; so many times a file is cut, has a block of zeros, or a block twice; each file is removed, and
exchanged for that of a dataset with equal counts, or of the same journal some steps earlier. Every reader of
the folder must refuse it with an error of ours, or give what it gave before. Ends with 1 where one did not.
A run's folder is made on Spark, unless one is given.
"""

import argparse
import random
import resource
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

from tests import damage
from tests.damage import BAD, CHANGES, HANG, OTHER, REFUSED, SAME, TRACEBACK, Damage, Outcome, Patient, Victim

_COLUMNS = (REFUSED, SAME, OTHER, TRACEBACK, HANG)
_KINDS = [*damage.DATASETS, "journal", "run"]
_MOST_MEMORY = 8 << 30


def victims(work: Path, names: list[str], run: Path | None) -> Iterator[Victim]:
    """One of each kind."""
    for name in names:
        if name == "journal":
            yield damage.journal(work)
        else:
            yield damage.run(run or _made_run(work)) if name == "run" else damage.dataset(name, work)


def _made_run(work: Path) -> Path:
    """The smallest run."""
    from meshwright.pipeline.ingest.options import IngestOptions
    from meshwright.pipeline.run import RunOptions, run
    from meshwright.pipeline.spark.session import spark_session

    table = work / "pairs.csv"
    table.write_text("node,topic\nb1,news\nb2,news\nb3,news\nb3,art\nb1,art\n,art\n")
    options = RunOptions(ingest=IngestOptions(relation="pairs", max_rejected=0.5), algorithm="gm")
    with spark_session("local[1]", {}) as session:
        run(session, [str(table)], work / "run", options)
    return work / "run"


def plan(victims: list[Victim], count: int, kinds: list[str], seed: int) -> Iterator[tuple[int, Damage]]:
    """So many damages of these kinds, evenly over the files of all victims."""

    def rounds() -> Iterator[tuple[int, Damage]]:
        rng = random.Random(seed)
        for kind in cycle(kinds):
            for number, victim in enumerate(victims):
                yield from ((number, found) for found in damage.damages(victim, kind, rng))

    return islice(rounds(), count)


def kind_of(victim: Victim, path: str) -> str:
    """What a file is: its folder or suffix in the victim."""
    parts = path.split("/")
    if victim.name == "journal":
        return f"{parts[0]}: {parts[1] if len(parts) > 2 else parts[-1].rpartition('.')[2]}"
    if parts[-1] == damage.MANIFEST or victim.name == "run":
        return f"{victim.name}: {path if len(parts) < 3 else f'{parts[0]}/{parts[1]}'}"
    return f"{victim.name.partition(',')[0]}: {parts[0]}"


def _told(victim: Victim, outcome: Outcome) -> str:
    found, reader, result, detail = outcome
    return f"{victim.name}, {found.what} of {found.path}, read as {reader}: {result} {detail}"[:300]


def main() -> None:
    """Print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--flips", type=int, default=5000)
    parser.add_argument("--others", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="+", choices=_KINDS, default=_KINDS)
    parser.add_argument("--run", type=Path, metavar="DIR")
    given = parser.parse_args()
    table: Counter[tuple[str, str]] = Counter()
    bad: list[str] = []
    with tempfile.TemporaryDirectory() as work:
        found = list(victims(Path(work), given.only, given.run))
        # From here on, as Java would not start with it.
        resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, resource.RLIM_INFINITY))
        patients = [Patient(victim, Path(work) / "patient") for victim in found]
        planned = [*plan(found, given.flips, ["flip"], given.seed)]
        planned += plan(found, given.others, [kind for kind in CHANGES if kind != "flip"], given.seed)
        for number, victim in enumerate(found):
            planned += [(number, each) for each in damage.exchanges(victim)]
        for done, (number, each) in enumerate(planned, 1):
            print(f"\r{done:,} of {len(planned):,}", end="", file=sys.stderr, flush=True)
            table[kind_of(found[number], each.path), "damages"] += 1
            for outcome in patients[number].suffer(each):
                table[kind_of(found[number], each.path), outcome.result] += 1
                bad += [_told(found[number], outcome)] if outcome.result in BAD else []
    _print(table, bad, f"{given.flips:,} flips, {len(planned):,} damages, seed {given.seed}")
    sys.exit(1 if bad else 0)


def _print(table: Counter[tuple[str, str]], bad: list[str], summary: str) -> None:
    columns = ("damages", *_COLUMNS)
    print(f"\n{'file':45}" + "".join(f"{name:>15}" for name in columns))
    for kind in dict.fromkeys(kind for kind, _ in table):
        print(f"{kind:45}" + "".join(f"{table[kind, name]:15,}" for name in columns))
    print(f"{summary}: {len(bad):,} read as something else, with a traceback, or never", flush=True)
    print("\n".join(bad[:40]), file=sys.stderr)


if __name__ == "__main__":
    main()
