"""The whole journey in one go: ingest, profile, build, evaluate, report; and how to go on after a kill.

Each finished stage leaves a note (`run_folder`), so that a killed run can be resumed.
When all is done the notes become `manifest.json`, and the folder `.run/` goes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from meshwright.metrics.bounds import tight_pays
from meshwright.metrics.certificates import write_certificate
from meshwright.metrics.evaluation import QUICK, check_bound, check_spark_bound, evaluate
from meshwright.model.interests import Interests, interest_counts
from meshwright.model.overlay import Overlay
from meshwright.model.storage.dataset import (
    LEFT_BEHIND,
    check_apart,
    list_left_behind,
    remove_left_behind,
    whole,
    write_tables,
    writing,
)
from meshwright.model.storage.manifest import (
    make_manifest,
    read_manifest,
    read_sealed,
    versions,
    write_sealed,
)
from meshwright.pipeline.build.in_process import BuildPlan, build_here
from meshwright.pipeline.build.job import build_on_spark
from meshwright.pipeline.evaluate.job import evaluate_on_spark
from meshwright.pipeline.ingest.job import fingerprint, ingest
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.pipeline.ingest.parquet_files import REJECTED
from meshwright.pipeline.profile.job import profile
from meshwright.pipeline.run_folder import (
    CERTIFICATE,
    NOTES,
    Note,
    alone_in,
    begun,
    check_place,
    check_resumable,
    finish,
    gone_if_nothing_finished,
    resumed,
)
from meshwright.pipeline.spark.settings import is_local_master
from meshwright.pipeline.summary.job import write_summary
from meshwright.report.load import topic_loads
from meshwright.runtime.errors import DatasetError
from meshwright.runtime.json_values import plain
from meshwright.runtime.memory import fits
from meshwright.runtime.places import Place, is_local, local_path
from meshwright.runtime.progress import Progress, StageTimer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SHOWN_TOPICS = 20


@dataclass(frozen=True, kw_only=True)
class RunOptions(BuildPlan):
    """What a run does: how rows are read (`ingest`; None where the input is a dataset), and what builds."""

    ingest: IngestOptions | None
    algorithm: str = "dcbc-direct"
    bound: str = QUICK
    """The lower bound on the links of any overlay; "tight" is only in this process, with its certificate, and
    the quick one takes its place where topics are too large for it."""


class _Run(NamedTuple):
    session: SparkSession | None
    inputs: Sequence[str]
    out: Place
    options: RunOptions
    spark_only: bool
    progress: Progress | None
    notes: dict[str, Note]  # of the stages that are finished


def run(
    session: SparkSession | None,
    inputs: Sequence[str],
    out: Place,
    options: RunOptions,
    *,
    resume: bool = False,
    force: bool = False,
    spark_only: bool = False,
    spark_start: float = 0.0,
    progress: Progress | None = None,
    on_stage: Callable[[str, float, bool], None] = lambda name, seconds, again: None,
) -> Note:
    """Do all stages that are not done yet, and return the manifest that is written last.

    `out` must be new or empty; with `force` what a run left there is removed first; with `resume` a run that
    was cut off goes on, unless its inputs, options or versions are not what they were. Without a session, all
    is done in this process. Where Spark runs on this machine, what fits it is built and evaluated in process,
    with the same result; not if `spark_only`. The manifest states the seconds that Spark took to start.
    `on_stage` hears of each stage as it ends, of its seconds, and whether it had been done before.
    """
    check_bound(options.bound)
    if spark_only:
        check_spark_bound(options.bound)
    plan = _plan(session, inputs, options)
    with alone_in(out):
        check_place(out, resume, force)
        with gone_if_nothing_finished(out):
            with writing(out):
                finished = resumed(out, plan) if resume else begun(out, plan)
            state = _Run(session, inputs, out, options, spark_only, progress, finished)
            for name, work in _STAGES.items():
                again = name in state.notes
                if not again:
                    state.notes[name] = _timed(name, work, state)
                on_stage(name, state.notes[name]["seconds"], again)
        return _close(state, plan, {} if session is None else {"spark_start": round(spark_start, 3)})


def check_run(
    inputs: Sequence[str], out: Path, options: RunOptions, *, resume: bool = False, force: bool = False
) -> None:
    """Refuse what `run` would refuse of inputs and a folder on this machine, before Spark is started."""
    check_apart(out, [local_path(text) for text in inputs])
    check_place(out, resume, force)
    if resume:
        check_resumable(out, _plan(None, inputs, options))


def _timed(name: str, work: Callable[[_Run, Progress], Note], state: _Run) -> Note:
    """Do a stage, and note what it found."""
    timer = StageTimer(state.progress)
    begin = perf_counter()
    found = work(state, timer)
    seconds = round(perf_counter() - begin, 3)
    note = {"seconds": seconds, "steps": timer.seconds, "engine": _engine(name, state), "found": found}
    with writing(state.out):
        write_sealed(state.out / NOTES / f"{name}.json", note)
    return note


def _engine(name: str, state: _Run) -> str:
    """Where a stage was done: in this process, or on Spark."""
    copied = name == "ingest" and state.options.ingest is None
    built_here = name in ("build", "evaluate") and _folder_for_this_process(state) is not None
    return "local" if state.session is None or copied or built_here else "spark"


def _ingest(state: _Run, progress: Progress) -> Note:
    if state.options.ingest is None:
        return _copy(state, progress)
    return ingest(
        state.session,
        state.inputs,
        state.out / "interests",
        state.options.ingest,
        rejected=state.out / LEFT_BEHIND,
        force=True,  # a kill between the dataset and its note leaves one
        progress=progress,
    )


def _copy(state: _Run, progress: Progress) -> Note:
    """Take the interests of a dataset as they are, with what an earlier ingest found in them."""
    source, out = local_path(state.inputs[0]), state.out
    assert is_local(out)
    facts = read_manifest(source, "interests", "overlay")["facts"]
    interests = Interests.read(source, progress=progress)
    made_by = {"command": "run", "inputs": list(state.inputs)}
    interests.write(out / "interests", force=True, made_by=made_by, progress=progress)
    remove_left_behind(out / LEFT_BEHIND)
    with writing(out):
        write_tables(out, {LEFT_BEHIND: whole(REJECTED.empty_table())}, None)
        list_left_behind(out / LEFT_BEHIND)
    known = {name: facts[name] for name in ("duplicates", "look_alikes") if name in facts}
    return {"counts": interest_counts(interests), "facts": {"rows": len(interests), **known}}


def _profile(state: _Run, progress: Progress) -> Note:
    found = profile(state.session, state.out / "interests", seed=state.options.seed, progress=progress)
    with writing(state.out):
        (state.out / "profile").mkdir(parents=True, exist_ok=True)
        write_sealed(state.out / "profile" / "profile.json", found.to_json())
    return {}


def _read_profile(path: Place) -> Note:
    found = read_sealed(path)
    if found is None:
        raise DatasetError(f"{path} is damaged or missing; start the run again with --force")
    return found


def _build(state: _Run, progress: Progress) -> Note:
    how: dict[str, Any] = {"force": True, "progress": progress}  # forced, as above
    if (here := _folder_for_this_process(state)) is not None:
        return build_here(here / "interests", here / "overlay", state.options, **how)
    assert state.session is not None
    places = state.out / "interests", state.out / "overlay"
    return build_on_spark(state.session, *places, state.options, **how)


def _evaluate(state: _Run, progress: Progress) -> Note:
    if (here := _folder_for_this_process(state)) is not None:
        overlay = Overlay.read(here / "overlay", progress=progress)
        # Too late to refuse the tight bound: what was built would be lost to a resumed run.
        bound = state.options.bound if tight_pays(overlay.interests) else QUICK
        found = evaluate(overlay, bound=bound, progress=progress)
        if found.certificate is not None:
            with writing(here):
                write_certificate(
                    here / CERTIFICATE, found.certificate, overlay.interests, found.cost_certificate
                )
    else:
        assert state.session is not None
        check_spark_bound(state.options.bound)
        found = evaluate_on_spark(state.session, state.out / "overlay", progress=progress)
    broken = list(found.disconnected_topic_components().items())[:_SHOWN_TOPICS]
    loads = {name: [asdict(one) for one in topics] for name, topics in topic_loads(found).items()}
    shown = {"disconnected_topic_components": dict(broken), "topic_loads": loads}
    return found.to_json() | found.distributions() | shown


def _folder_for_this_process(state: _Run) -> Path | None:
    """The folder, if this process builds and evaluates: Spark is not used, or runs here and there is room."""
    if state.session is None:
        assert is_local(state.out)
        return state.out
    alone = is_local_master(state.session.sparkContext.master or "") and not state.spark_only
    counts = state.notes["ingest"]["found"]["counts"]
    return state.out if alone and is_local(state.out) and fits("running", counts) else None


def _report(state: _Run, progress: Progress) -> Note:
    found = {name: note["found"] for name, note in state.notes.items()}
    found["profile"] = _read_profile(state.out / "profile" / "profile.json")
    seconds = {name: note["seconds"] for name, note in state.notes.items()}
    parameters = _parameters(state, found["build"]["facts"]["options"])
    compared = write_summary(
        state.session, state.out, found, parameters, seconds, progress, state.options.costs
    )
    return {"alternatives": [asdict(overlay) for overlay in compared]}


def _parameters(state: _Run, options: Mapping[str, Any]) -> Note:
    """All that made the overlay, what was left to its default included."""
    given, session = state.options, state.session
    rows = {} if given.ingest is None else asdict(given.ingest)
    return {
        "inputs": list(state.inputs),
        "ingest": {name: "default" if value is None else value for name, value in rows.items()},
        "algorithm": given.algorithm,
        "options": options,
        "reverse_delete": given.reverse_delete,
        "costs": None if given.costs is None else given.costs.given(),
        "seed": given.seed,
        "engine": "local" if session is None else "spark",
        "master": None if session is None else session.sparkContext.master,
        "spark_only": state.spark_only,
        "versions": versions() | ({} if session is None else _spark_versions(session)),
    }


_STAGES: Mapping[str, Callable[[_Run, Progress], Note]] = {
    "ingest": _ingest,
    "profile": _profile,
    "build": _build,
    "evaluate": _evaluate,
    "report": _report,
}


def _plan(session: SparkSession | None, inputs: Sequence[str], options: RunOptions) -> Note:
    """What must be the same for a run to be resumed."""
    wanted = asdict(options)
    cost_files = [] if options.costs is None else options.costs.files()
    return {
        **plain(
            {
                **{f"ingest {name}": value for name, value in (wanted.pop("ingest") or {}).items()},
                **wanted,
                "inputs": list(inputs),
                "versions": versions() | _spark_version(),
            },
            "the options",
        ),
        "input_files": fingerprint(session, inputs) + [_stamp(file) for file in cost_files],
    }


def _spark_version() -> dict[str, str]:
    with suppress(metadata.PackageNotFoundError):
        return {"spark": metadata.version("pyspark")}
    return {}


def _spark_versions(session: SparkSession) -> dict[str, str]:
    """The versions of PySpark and of the Java that Spark runs in."""
    jvm: Any = session.sparkContext._jvm
    return _spark_version() | {"java": str(jvm.java.lang.System.getProperty("java.version"))}


def _stamp(file: Path) -> Note:
    found = file.stat()
    return {"path": str(file), "bytes": found.st_size, "modified": found.st_mtime_ns // 1_000_000}


def _close(state: _Run, plan: Note, started: Mapping[str, float]) -> Note:
    """The manifest of the whole, in place of the notes."""
    out, session, notes = state.out, state.session, state.notes
    built = notes["build"]["found"]
    made_by = {
        "command": "run",
        **{name: value for name, value in plan.items() if name != "versions"},
        "engine": {name: note.get("engine") for name, note in notes.items()},
        "master": None if session is None else session.sparkContext.master,
        "seconds": {**started, **{name: note["seconds"] for name, note in notes.items()}},
        "steps": {name: note["steps"] for name, note in notes.items()},
    }
    facts = {
        "ingest": notes["ingest"]["found"]["facts"],
        "build": built["facts"],
        "evaluation": notes["evaluate"]["found"],
        **notes["report"]["found"],
    }
    manifest = make_manifest("run", built["counts"], facts, {}, made_by)
    manifest["versions"] |= {} if session is None else _spark_versions(session)
    with writing(out):
        finish(out, manifest)
    return manifest
