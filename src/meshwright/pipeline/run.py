"""The whole journey in one session: ingest, profile, build, evaluate, report; and how to go on after a kill.

Every stage that is finished leaves a note in `.run/`: what it found and how long it took. A run that is
killed leaves these notes and the datasets of its finished stages; resuming it goes on after the last of them.
When all is done the notes become `manifest.json`, and the folder `.run/` goes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from meshwright import registry
from meshwright.errors import DatasetError, OptionError
from meshwright.evaluate import evaluate
from meshwright.model.dataset import MANIFEST, make_manifest, remove_folder, versions, writing
from meshwright.model.overlay import Overlay
from meshwright.model.plain import plain
from meshwright.pipeline.build.in_process import build_here
from meshwright.pipeline.build.job import build_on_spark
from meshwright.pipeline.engine.loading import fits_here
from meshwright.pipeline.engine.settings import is_local
from meshwright.pipeline.evaluate.job import evaluate_on_spark
from meshwright.pipeline.ingest.job import IngestOptions, fingerprint, ingest
from meshwright.pipeline.profile.job import profile
from meshwright.pipeline.summary import write_summary
from meshwright.progress import Progress, StageTimer

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOTES = ".run"
PLAN = "plan.json"
REPORT = "report.html"
_SHOWN_TOPICS = 20
_BYTES_AN_INTEREST = 130
"""What building takes beside the interests, and evaluating an overlay of a link for each of them."""
FOLDERS = ("interests", "profile", "overlay", "rejected")

Note = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What a run does: how rows are read, what builds the overlay, with which seed.

    Attributes:
        ingest: how rows are read.
        algorithm: the name of a build.
        settings: its options by name.
        seed: of everything that is random.
    """

    ingest: IngestOptions
    algorithm: str = "dcbc-direct"
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        registry.find(self.algorithm, "build").make_options(self.settings)


@dataclass(frozen=True, kw_only=True)
class _Run:
    session: SparkSession
    inputs: Sequence[str]
    out: Path
    options: RunOptions
    spark_only: bool
    progress: Progress | None
    notes: dict[str, Note]  # of the stages that are finished


def run(
    session: SparkSession,
    inputs: Sequence[str],
    out: Path,
    options: RunOptions,
    *,
    resume: bool = False,
    force: bool = False,
    spark_only: bool = False,
    progress: Progress | None = None,
    on_stage: Callable[[str, float, bool], None] = lambda name, seconds, again: None,
) -> Note:
    """Do all stages that are not done yet, and return the manifest that is written last.

    `out` must be new or empty; with `force` what a run left there is removed first; with `resume` a run that
    was cut off goes on, unless its inputs, options or versions are not what they were. Where Spark runs on
    this machine, what fits it is built and evaluated in process, with the same result; not if `spark_only`.
    `on_stage` hears of each stage as it ends, of its seconds, and whether it had been done before.
    """
    plan = _plan(session, inputs, options)
    with writing(out):
        finished = _open(out, plan, resume, force)
    state = _Run(
        session=session,
        inputs=inputs,
        out=out,
        options=options,
        spark_only=spark_only,
        progress=progress,
        notes=finished,
    )
    for name, work in _STAGES.items():
        again = name in state.notes
        if not again:
            state.notes[name] = _timed(name, work, state)
        on_stage(name, state.notes[name]["seconds"], again)
    return _close(out, plan, state.notes)


def _timed(name: str, work: Callable[[_Run, Progress], Note], state: _Run) -> Note:
    """Do a stage, and note what it found."""
    timer = StageTimer(state.progress)
    begin = perf_counter()
    found = work(state, timer)
    note = {"seconds": round(perf_counter() - begin, 3), "steps": timer.seconds, "found": found}
    with writing(state.out):
        _write_json(state.out / NOTES / f"{name}.json", note)
    return note


def _ingest(state: _Run, progress: Progress) -> Note:
    rejected = state.out / "rejected"
    if rejected.exists():
        remove_folder(rejected)
    return ingest(
        state.session,
        state.inputs,
        state.out / "interests",
        state.options.ingest,
        rejected=rejected,
        force=True,  # a kill between the dataset and its note leaves one
        progress=progress,
    )


def _profile(state: _Run, progress: Progress) -> Note:
    found = profile(state.session, state.out / "interests", seed=state.options.seed, progress=progress)
    with writing(state.out):
        (state.out / "profile").mkdir(parents=True, exist_ok=True)
        _write_json(state.out / "profile" / "profile.json", found.to_json())
    return {}


def _build(state: _Run, progress: Progress) -> Note:
    build = build_here if _fits_here(state) else partial(build_on_spark, state.session)
    return build(
        state.out / "interests",
        state.out / "overlay",
        state.options.algorithm,
        seed=state.options.seed,
        options=state.options.settings,
        force=True,  # as above
        progress=progress,
    )


def _evaluate(state: _Run, progress: Progress) -> Note:
    if _fits_here(state):
        found = evaluate(Overlay.read(state.out / "overlay"), progress=progress)
    else:
        found = evaluate_on_spark(state.session, state.out / "overlay", progress=progress)
    broken = list(found.disconnected_topic_components().items())[:_SHOWN_TOPICS]
    return found.to_json() | {
        "degree_distribution": found.degree_distribution().tolist(),
        "diameter_distribution": found.diameter_distribution(),
        "disconnected_topic_components": dict(broken),
    }


def _fits_here(state: _Run) -> bool:
    """Whether to build and evaluate in this process: Spark runs here alone, and there is memory for it."""
    here = is_local(state.session.sparkContext.master or "") and isinstance(state.out, Path)
    counts = state.notes["ingest"]["found"]["counts"]
    return here and not state.spark_only and fits_here(counts, _BYTES_AN_INTEREST)


def _report(state: _Run, progress: Progress) -> Note:
    found = {name: note["found"] for name, note in state.notes.items()}
    found["profile"] = json.loads((state.out / "profile" / "profile.json").read_text("utf-8"))
    seconds = {name: note["seconds"] for name, note in state.notes.items()}
    parameters = {
        "inputs": list(state.inputs),
        "relation": state.options.ingest.relation,
        "algorithm": state.options.algorithm,
        "options": found["build"]["facts"]["options"],
        "seed": state.options.seed,
        "master": state.session.sparkContext.master,
        "versions": versions(),
    }
    compared = write_summary(state.session, state.out, found, parameters, seconds, progress)
    return {"alternatives": [asdict(overlay) for overlay in compared]}


_STAGES: Mapping[str, Callable[[_Run, Progress], Note]] = {
    "ingest": _ingest,
    "profile": _profile,
    "build": _build,
    "evaluate": _evaluate,
    "report": _report,
}
_PRODUCTS = {
    "ingest": f"interests/{MANIFEST}",
    "profile": "profile/profile.json",
    "build": f"overlay/{MANIFEST}",
    "evaluate": f"overlay/{MANIFEST}",
    "report": REPORT,
}
"""What a finished stage has made; without it the stage, and those after it, are done again."""


def _plan(session: SparkSession, inputs: Sequence[str], options: RunOptions) -> Note:
    """What must be the same for a run to be resumed."""
    wanted = asdict(options)
    return {
        **plain(
            {
                **{f"ingest {name}": value for name, value in wanted.pop("ingest").items()},
                **wanted,
                "inputs": list(inputs),
                "versions": versions(),
            },
            "the options",
        ),
        "files": fingerprint(session, inputs),
    }


def _open(out: Path, plan: Note, resume: bool, force: bool) -> dict[str, Note]:
    """Make the folder ready, and read the notes of what is finished."""
    if resume and force:
        raise OptionError("resume goes on with what is there and force removes it; give one of them")
    old = _read_json(out / NOTES / PLAN)
    if resume:
        return _resumed(out, old, plan)
    entries = [entry.name for entry in out.iterdir()] if out.is_dir() else []
    if entries and not force:
        go_on = ", go on with resume=True (--resume)" if old is not None else ""
        raise DatasetError(
            f"{out} is there already and not empty; choose another path{go_on}, "
            f"or overwrite with force=True (--force)"
        )
    if entries:
        _clear(out, entries)
    (out / NOTES).mkdir(parents=True, exist_ok=True)
    _write_json(out / NOTES / PLAN, plan)
    return {}


def _resumed(out: Path, old: Note | None, plan: Note) -> dict[str, Note]:
    if old is None:
        finished = "was finished" if (out / MANIFEST).exists() else "there was none"
        raise DatasetError(f"{out}: no run was cut off here ({finished}); leave --resume out")
    changed = differences(old, plan)
    if changed:
        raise DatasetError(
            f"{out} can't be resumed: {changed[0]}; start anew in another folder or with --force"
        )
    notes = {}
    for name in _STAGES:
        note = _read_json(out / NOTES / f"{name}.json")
        if note is None or not (out / _PRODUCTS[name]).exists():
            break
        notes[name] = note
    return notes


def differences(old: Note, new: Note) -> list[str]:
    """What changed between two plans, a sentence each."""
    found = [
        f"{name} was {old.get(name)!r} and is {new.get(name)!r}"
        for name in sorted(old.keys() | new.keys())
        if name != "files" and old.get(name) != new.get(name)
    ]
    before = {file["path"]: file for file in old.get("files", [])}
    after = {file["path"]: file for file in new.get("files", [])}
    for path in sorted(before.keys() | after.keys()):
        if path not in after:
            found.append(f"the input {path} is gone")
        elif path not in before:
            found.append(f"the input {path} is new")
        elif before[path] != after[path]:
            found.append(f"the input {path} was changed since")
    return found


def _clear(out: Path, entries: Sequence[str]) -> None:
    """Remove what a run left; refuse a folder that is not one of a run."""
    ours = {*FOLDERS, NOTES, MANIFEST, REPORT}
    strange = sorted(name for name in entries if name not in ours and not name.startswith(f".{REPORT}."))
    manifest = _read_json(out / MANIFEST)
    of_run = (manifest or {}).get("kind") == "run" or NOTES in entries
    if strange or not of_run:
        what = f"holds {strange[0]}, which is not of a run" if strange else "is not of a run"
        raise DatasetError(f"{out} {what}; choose another path")
    (out / NOTES).mkdir(exist_ok=True)  # so that what a kill in here leaves is known as a run's
    (out / NOTES / PLAN).unlink(missing_ok=True)
    for name in (MANIFEST, *(name for name in entries if name not in (MANIFEST, NOTES)), NOTES):
        entry = out / name
        if entry.is_dir():
            remove_folder(entry)
        else:
            entry.unlink(missing_ok=True)


def _close(out: Path, plan: Note, notes: Mapping[str, Note]) -> Note:
    """The manifest of the whole, in place of the notes."""
    built = notes["build"]["found"]
    made_by = {
        "command": "run",
        **{name: value for name, value in plan.items() if name != "versions"},
        "seconds": {name: note["seconds"] for name, note in notes.items()},
        "steps": {name: note["steps"] for name, note in notes.items()},
    }
    facts = {
        "ingest": notes["ingest"]["found"]["facts"],
        "build": built["facts"],
        "evaluation": notes["evaluate"]["found"],
        **notes["report"]["found"],
    }
    manifest = make_manifest("run", built["counts"], facts, {}, made_by)
    with writing(out):
        _write_json(out / MANIFEST, manifest)
        remove_folder(out / NOTES)
    return manifest


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _read_json(path: Path) -> Note | None:
    """A note, or None where there is none; one that a kill has cut off is none either."""
    with suppress(OSError, ValueError):
        found: Note = json.loads(path.read_text("utf-8"))
        return found
    return None
