"""Runs of studies: seed by seed, in this process or on Spark, and kept so that they can be continued.

A unit of work is one study with one seed. Its rows are written when it is done. Claims share what they
measure, also those of different studies of a paper, so these are one task of Spark. What is random is drawn
from the seed, so both engines give the same rows, but for times.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from meshwright.runtime.atomic_files import write_whole
from meshwright.runtime.checks import check_whole
from meshwright.runtime.errors import DatasetError, OptionError
from meshwright.runtime.progress import Progress, stage
from meshwright.runtime.wording import choose
from meshwright.studies.catalogue import SCALES, Study, runs_of, studies
from meshwright.studies.claims import Claim, Finding, Scope, judge, statistics_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WRITTEN = ("index.html", "results.md", "tolerances.md", "findings.json", "data", "figures")
"""What a folder of studies has, whichever they are."""

POOLED = -1
"""In place of a seed: all seeds together."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to run.

    Attributes:
        studies: names of studies.
        scale: one of `SCALES`.
        runs: over how many seeds; unless given, as many as the scale says.
        seed: the first seed.
        data: a folder with data that can't be shipped.
    """

    studies: Sequence[str]
    scale: str = "quick"
    runs: int | None = None
    seed: int = 0
    data: str | None = None

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise OptionError(f"--scale is {self.scale!r}; {choose(self.scale, SCALES)}", option="scale")
        check_whole("runs", self.runs, 1)
        check_whole("seed", self.seed, 0, required=True)

    @property
    def scope(self) -> Scope:
        """What claims are measured on."""
        return Scope(self.scale, self.data)

    def runs_of(self, claim: Claim) -> int:
        """Over how many seeds a claim is measured."""
        return runs_of(claim, self.scale, self.runs)

    def units(self) -> list[Unit]:
        """All units of work; those of pooled claims come after the others of their study."""
        found = []
        for name in self.studies:
            claims = studies()[name].claims(self.scope)
            drawn = bool(studies()[name].panels)
            seeds = max((self.runs_of(claim) for claim in claims if claim.measure or drawn), default=0)
            found += [Unit(name, self.seed + run) for run in range(seeds)]
            if any(claim.pooled for claim in claims):
                found.append(Unit(name, POOLED))
        return found


class Unit(NamedTuple):
    """One study with one seed."""

    study: str
    seed: int


class Row(NamedTuple):
    """A number: of a claim, or a point of a curve, which has the name of its series and an x."""

    study: str
    seed: int
    name: str
    x: float | None
    value: float
    seconds: float
    """Of processor time."""


SCHEMA = pa.schema(
    [
        ("study", pa.string()),
        ("seed", pa.int64()),
        ("name", pa.string()),
        ("x", pa.float64()),
        ("value", pa.float64()),
        ("seconds", pa.float64()),
    ]
)


def measure(plan: Plan, unit: Unit) -> list[Row]:
    """Do a unit of work."""
    study = studies()[unit.study]
    rows = []
    for claim in study.claims(plan.scope):
        runs = plan.runs_of(claim)
        begin = process_time()
        if unit.seed == POOLED and claim.pooled:
            value = claim.pooled(range(plan.seed, plan.seed + runs))
        elif unit.seed != POOLED and claim.measure and unit.seed < plan.seed + runs:
            value = claim.measure(unit.seed)
        else:
            continue
        rows.append(Row(*unit, claim.name, None, float(value), process_time() - begin))
    if unit.seed != POOLED and study.panels:
        begin = process_time()
        points = list(study.points(unit.seed, plan.scope))
        spent = (process_time() - begin) / max(len(points), 1)
        rows += [Row(*unit, point.series, point.x, point.y, spent) for point in points]
    return rows


def run(
    plan: Plan,
    folder: Path,
    *,
    resume: bool = False,
    force: bool = False,
    session: SparkSession | None = None,
    progress: Progress | None = None,
) -> dict[str, list[Row]]:
    """All rows by study, also of those that were run there before; with a session, units are tasks of Spark.

    Rows are kept in `folder/.units` unit by unit. With `resume`, units that are there are not done again.
    With `force`, those of the plan's studies are; units of another plan are forgotten.

    Raises:
        DatasetError: the folder holds units of another plan, or there is something in it without `resume`.
    """
    kept = _Kept(folder / ".units", plan, resume, force)
    units = plan.units()
    waiting = [unit for unit in units if not kept.has(unit)]
    with stage(progress, "running studies", len(units)) as advance:
        advance(len(units) - len(waiting))
        for done, (unit, rows) in enumerate(_results(plan, waiting, session), len(units) - len(waiting) + 1):
            kept.write(unit, rows)
            advance(done)
    kept.begin()
    found: dict[str, list[Row]] = {}
    for name in studies():
        own = replace(plan, studies=[name]).units()
        if name in plan.studies or (own and all(map(kept.has, own))):
            found[name] = [row for unit in own for row in kept.read(unit)]
    return found


def _results(
    plan: Plan, units: Sequence[Unit], session: SparkSession | None
) -> Iterator[tuple[Unit, list[Row]]]:
    if session is None:
        for unit in units:
            yield unit, measure(plan, unit)
        return
    yield from _on_spark(plan, _together(units), session)


def _together(units: Sequence[Unit]) -> list[list[Unit]]:
    """Units of the same paper and seed, which share what they measure."""
    found: dict[tuple[str, int], list[Unit]] = {}
    for unit in units:
        found.setdefault((studies()[unit.study].paper, unit.seed), []).append(unit)
    return list(found.values())


def _on_spark(
    plan: Plan, tasks: Sequence[list[Unit]], session: SparkSession
) -> Iterator[tuple[Unit, list[Row]]]:
    """Each task is a job of its own, so that its rows are kept as soon as it is done."""
    context = session.sparkContext

    def job(units: list[Unit]) -> list[tuple[Unit, list[Row]]]:
        return context.parallelize([units], 1).map(_task(plan)).collect()[0]

    waiting = ThreadPoolExecutor(context.defaultParallelism)
    try:
        for done in as_completed([waiting.submit(job, units) for units in tasks]):
            for unit, rows in done.result():
                yield Unit(*unit), [Row(*row) for row in rows]
    finally:
        # After Ctrl-C nobody waits for jobs: they end with the session.
        waiting.shutdown(wait=False, cancel_futures=True)


def _task(plan: Plan) -> Callable[[list[Unit]], list[tuple[Unit, list[Row]]]]:
    def work(units: list[Unit]) -> list[tuple[Unit, list[Row]]]:
        return [(unit, measure(plan, Unit(*unit))) for unit in units]

    return work


class _Kept:
    """Rows of units on disk, each unit a file that is whole or not there."""

    def __init__(self, folder: Path, plan: Plan, resume: bool, force: bool) -> None:
        self._folder = folder
        about = json.dumps(
            {"scale": plan.scale, "runs": plan.runs, "seed": plan.seed, "data": plan.data is not None}
        )
        told = folder / "plan.json"
        if force and not resume:
            self._forget(plan.studies if told.exists() and told.read_text("utf-8") == about else None)
        if told.exists() and told.read_text("utf-8") != about:
            raise DatasetError(
                f"{folder.parent} holds runs of another plan: {told.read_text('utf-8')}; "
                f"give the same --scale, --runs, --seed and --data, another --out, or --force to start again"
            )
        if told.exists() and not resume and not force:
            raise DatasetError(
                f"{folder.parent} holds runs already; continue with --resume, start again with --force, or "
                f"give another --out"
            )
        foreign = next((path for path in map(folder.parent.joinpath, WRITTEN) if path.exists()), None)
        if foreign and not told.exists() and not force:
            raise DatasetError(
                f"{foreign} already exists, and is not of a run in this folder; give another --out, or "
                f"overwrite with --force"
            )
        self._about = about

    def _forget(self, names: Sequence[str] | None) -> None:
        """Remove the units of these studies; without names, all units and the plan."""
        for old in self._folder.glob("*.json"):
            if names is None or old.name.partition(".")[0] in names:
                old.unlink()

    def begin(self) -> None:
        """Tell the plan, once: a run that fails in its first unit leaves nothing that others would heed."""
        told = self._folder / "plan.json"
        if not told.exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(told, self._about.encode())

    def _path(self, unit: Unit) -> Path:
        return self._folder / f"{unit.study}.{'pooled' if unit.seed == POOLED else unit.seed}.json"

    def has(self, unit: Unit) -> bool:
        """Whether a unit is done."""
        return self._path(unit).exists()

    def write(self, unit: Unit, rows: Sequence[Row]) -> None:
        """Keep the rows of a unit."""
        self.begin()
        write_whole(self._path(unit), json.dumps([row[2:] for row in rows]).encode())

    def read(self, unit: Unit) -> list[Row]:
        """The rows of a unit.

        Raises:
            DatasetError: the file is damaged.
        """
        path = self._path(unit)
        try:
            return [Row(*unit, *row) for row in json.loads(path.read_text("utf-8"))]
        except (OSError, ValueError, TypeError) as error:
            raise DatasetError(
                f"{path} is damaged ({error}); remove it, and continue with --resume"
            ) from None


def write_rows(path: Path, rows: Sequence[Row]) -> None:
    """Write the rows of a study as Parquet."""
    columns: Iterable[Any] = zip(*rows, strict=True) if rows else ([] for _ in SCHEMA)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    pq.write_table(pa.table(arrays, schema=SCHEMA), path, compression="zstd")


def findings(study: Study, plan: Plan, rows: Sequence[Row]) -> list[Finding]:
    """The verdict on each claim of a study.

    Raises:
        DatasetError: a claim has no rows, since another version of the study made them.
    """
    values: dict[str, list[float]] = {}
    for row in rows:
        if row.x is None:
            values.setdefault(row.name, []).append(row.value)
    missing = [
        claim.name
        for claim in study.claims(plan.scope)
        if (claim.measure or claim.pooled) and claim.name not in values
    ]
    if missing:
        raise DatasetError(
            f"the runs of {study.name} that were kept have no {missing[0]}: another version made them; "
            f"run {study.name} again with --force"
        )
    return [_judged(claim, plan, values) for claim in study.claims(plan.scope)]


def _judged(claim: Claim, plan: Plan, values: Mapping[str, list[float]]) -> Finding:
    if claim.name not in values:
        return judge(claim, None)
    found = statistics_of(values[claim.name])
    return judge(claim, replace(found, runs=plan.runs_of(claim)) if claim.pooled else found)
