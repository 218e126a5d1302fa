"""What Spark says about its running jobs, as progress."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from meshwright.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.status import StatusTracker

_POLL_SECONDS = 0.25


class Tasks(NamedTuple):
    """How many tasks the stages that are known so far have, and how many of them are done."""

    done: int
    total: int


@contextmanager
def spark_stage(session: "SparkSession", progress: Progress | None, label: str) -> Iterator[None]:
    """Show the tasks of all jobs that are started in here, from this thread, as one stage of `progress`.

    On any error, Ctrl-C included, the jobs that still run are cancelled.
    """
    context = session.sparkContext
    group = f"meshwright-{uuid4().hex}"
    context.setJobGroup(group, label, interruptOnCancel=True)
    over = Event()
    watcher = Thread(target=_watch, args=(context.statusTracker(), group, progress, over), daemon=True)
    if progress is not None:
        progress.start(label, 0)
        watcher.start()
    try:
        yield
    except BaseException:
        context.cancelJobGroup(group)
        raise
    finally:
        over.set()
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
        if progress is not None:
            watcher.join()
            progress.finish()


def _watch(tracker: "StatusTracker", group: str, progress: Progress, over: Event) -> None:
    shown = 0
    while not over.wait(_POLL_SECONDS):
        tasks = tasks_of(tracker, group)
        if tasks.total != shown:
            progress.resize(tasks.total)
            shown = tasks.total
        progress.advance(tasks.done)


def tasks_of(tracker: "StatusTracker", group: str) -> Tasks:
    """The tasks of all jobs of a group; stages that were skipped, or forgotten by now, don't count."""
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = {stage for job in jobs if job is not None for stage in job.stageIds}
    known = [info for info in map(tracker.getStageInfo, stages) if info is not None]
    return Tasks(sum(info.numCompletedTasks for info in known), sum(info.numTasks for info in known))
