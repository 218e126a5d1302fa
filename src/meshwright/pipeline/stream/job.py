"""Following a folder of event files: each micro-batch goes through the journaled maintainer, exactly once.

Spark's checkpoint says which files were handed out in which batch, and the journal which events were applied.
A batch is committed in the checkpoint after its events are on disk in the journal. Spark hands out again what
was not committed; its events are then known by their ids. So whatever ends the process, and between whichever
two steps, each event is applied once. Both lie in one folder, since neither is worth much without the other.
"""

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

from meshwright.maintain.journal.journal import Journal
from meshwright.maintain.journal.recording import Recording
from meshwright.maintain.journal.survey import LostStepsError
from meshwright.maintain.journal.syncing import NEVER
from meshwright.maintain.prices import Start
from meshwright.maintain.warm_up import rehearse
from meshwright.model.overlay import Overlay
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.pipeline.churn import CostPlan
from meshwright.pipeline.name_files import names_given, read_names
from meshwright.pipeline.spark.storage import url
from meshwright.pipeline.stream.batches import BatchReport, apply_batch, event_stream, files_of
from meshwright.pipeline.stream.folders import CHECKPOINT, RESEND, bind, check_folders, finish, prepare
from meshwright.runtime.errors import DatasetError, MeshwrightError, MeshwrightWarning
from meshwright.runtime.places import Place
from meshwright.runtime.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

_SECONDS_TO_LOOK = 0.5


@dataclass(frozen=True, kw_only=True)
class StreamPlan:
    """How a stream is followed.

    Attributes:
        source: the folder in which event files appear.
        out: the folder of the tables `changes/`, `repairs/` and `rejected/`.
        journal: the folder of the journal and the checkpoint.
        options: of the maintainer, `policy` among them.
        costs: what new links cost; without them, what the overlay itself says.
        names: a file of the names that exist, for filters whose classes were made with one.
        seed: for the maintainer.
        together: whether events of equal times in a micro-batch are one batch, with one repair.
        once: whether to end when all files that are there are done.
        every: seconds from the beginning of one micro-batch to that of the next.
        files_a_batch: the most files of a micro-batch.
        compact_after: events after which the journal is compacted.
        accept_loss: whether to go on with a journal that has lost steps.
        limits: of what is read of a file; one beyond them is put aside.
    """

    source: Place
    out: Path
    journal: Path
    options: Mapping[str, Any] = field(default_factory=dict)
    costs: CostPlan = field(default_factory=CostPlan)
    names: Path | None = None
    seed: int = 0
    together: bool = False
    once: bool = False
    every: float = 1.0
    files_a_batch: int = 100
    compact_after: int = 5_000
    accept_loss: bool = False
    limits: ReadLimits = READ_LIMITS


def follow(
    session: "SparkSession",
    dataset: Path,
    plan: StreamPlan,
    tell: Callable[[BatchReport], None],
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Follow a stream of events for the overlay of a dataset until it is done; gives the manifest.

    `tell` hears of every micro-batch when its changes are on disk. On Ctrl-C the present micro-batch ends
    first, and the folder is left as after any other end.
    """
    overlay = Overlay.read(dataset)
    start = plan.costs.start(overlay)
    check_folders(plan.out, plan.journal)
    bind(plan.journal, url(plan.source), plan.accept_loss)
    rehearse(plan.options, progress, with_costs=start.costs is not None)
    interrupted = False
    with _journal(plan, start, progress) as journal:
        recovery = journal.recovery.as_row()
        prepare(plan.out)
        journal.settle()
        try:
            _run(session, plan, journal, tell)
        except KeyboardInterrupt:
            interrupted = True
        live = journal.live
    made_by = {**_made_by(dataset, plan), "recovery": recovery}
    manifest = finish(plan.out, live, plan.costs.told(overlay), made_by)
    if interrupted:
        raise KeyboardInterrupt
    return manifest


def _journal(plan: StreamPlan, start: Start, progress: Progress | None) -> Journal:
    """The journal; one that has lost steps of batches that are committed needs their events once more.

    A batch is forced to disk as a whole before it is committed; to force each event would only cost time. So
    what a loss of power takes was not committed, and comes again by itself.
    """
    how: dict[str, Any] = {
        "sync": NEVER,
        "compact_after": plan.compact_after,
        "accept_loss": plan.accept_loss,
    }
    how |= {"costs": start.costs, "names": read_names(plan.names, plan.limits), "seed": plan.seed}
    how |= plan.options
    try:
        journal = Journal(plan.journal, start.overlay, follower=Recording(plan.out), progress=progress, **how)
    except LostStepsError as error:
        raise DatasetError(f"{error}; {RESEND}") from None
    lost = journal.recovery.lost
    if lost is not None and not lost.by_power:
        warnings.warn(f"{plan.journal} has lost steps: {RESEND}", MeshwrightWarning, stacklevel=2)
    return journal


def _run(
    session: "SparkSession", plan: StreamPlan, journal: Journal, tell: Callable[[BatchReport], None]
) -> None:
    busy, over = Lock(), Event()
    failures: list[Exception] = []

    def apply(batch: "DataFrame", number: int) -> None:
        """On a thread of Spark's; what it raises keeps the batch from being committed."""
        with busy:
            if over.is_set():
                raise MeshwrightError("the stream has ended")
            try:
                tell(apply_batch(journal, plan.out, number, files_of(batch), plan.together, plan.limits))
            except Exception as error:
                failures.append(error)
                raise

    with _query(session, plan, apply) as query:
        ended = _end_of(query, failures)
        try:
            # Here and not inside a call to Java, which Ctrl-C would leave half done.
            while not ended.wait(_SECONDS_TO_LOOK):
                pass
        finally:
            over.set()
            with busy:
                pass  # the present batch is done
    if failures:
        raise failures[0] from None


def _end_of(query: "StreamingQuery", failures: list[Exception]) -> Event:
    """Is set when the query has ended, by a thread of its own; an error that ended it goes to `failures`."""
    ended = Event()

    def wait() -> None:
        try:
            query.awaitTermination()
        except Exception as error:
            failures.append(error)
        finally:
            ended.set()

    Thread(target=wait, name="meshwright stream", daemon=True).start()
    return ended


@contextmanager
def _query(
    session: "SparkSession", plan: StreamPlan, apply: Callable[["DataFrame", int], None]
) -> Iterator["StreamingQuery"]:
    writer = (
        event_stream(session, plan.source, plan.files_a_batch)
        .writeStream.foreachBatch(apply)
        .option("checkpointLocation", url(plan.journal / CHECKPOINT))
    )
    if plan.once:
        writer = writer.trigger(availableNow=True)
    else:
        writer = writer.trigger(processingTime=f"{round(1_000 * plan.every)} milliseconds")
    query = writer.start()
    try:
        yield query
    finally:
        query.stop()


def _made_by(dataset: Place, plan: StreamPlan) -> dict[str, Any]:
    return {
        "command": "churn",
        "options": {**plan.options, "together": plan.together},
        "costs": plan.costs.given(),
        **names_given(plan.names),
        "seed": plan.seed,
        "journal": str(plan.journal),
        "inputs": [str(dataset), str(plan.source)],
    }
