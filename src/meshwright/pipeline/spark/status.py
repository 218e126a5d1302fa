"""What Spark says about its running jobs, as progress."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from meshwright.runtime.progress import Progress, stage

if TYPE_CHECKING:
    from pyspark import SparkContext, StatusTracker
    from pyspark.sql import SparkSession

_POLL_SECONDS = 0.25
_GROUP = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")


class Tasks(NamedTuple):
    """How many tasks the stages that are known so far have, and how many of them are done."""

    done: int
    total: int


@contextmanager
def spark_stage(session: "SparkSession", progress: Progress | None, label: str) -> Iterator[None]:
    """Show the tasks of all jobs that are started in here, from this thread, as one stage of `progress`.

    On any error, Ctrl-C included, the jobs that still run are cancelled.
    """
    with stage(progress, label), _job_group(session.sparkContext, label) as group:
        if progress is None:
            yield
            return
        over = Event()
        tracker = session.sparkContext.statusTracker()
        watcher = Thread(target=_watch, args=(tracker, group, progress, over), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()


@contextmanager
def _job_group(context: "SparkContext", label: str) -> Iterator[str]:
    """A group for the jobs started in here; the properties of the thread are put back afterwards."""
    before = {name: context.getLocalProperty(name) for name in _GROUP}
    group = f"meshwright-{uuid4().hex}"
    context.setJobGroup(group, label, interruptOnCancel=True)
    try:
        yield group
    except BaseException:
        # Java may be gone, which is then the error that is on its way already.
        with suppress(Exception):
            context.cancelJobGroup(group)
        raise
    finally:
        with suppress(Exception):
            for name, value in before.items():
                context.setLocalProperty(name, value)  # type: ignore[arg-type]


def _watch(tracker: "StatusTracker", group: str, progress: Progress, over: Event) -> None:
    """Tell `progress` how far the group is until it is over; a Java that is gone has nothing more to tell."""
    finished: dict[int, Tasks] = {}
    shown = 0
    with suppress(Exception):
        while not over.wait(_POLL_SECONDS):
            tasks = tasks_of(tracker, group, finished)
            if tasks.total != shown:
                progress.resize(tasks.total)
                shown = tasks.total
            progress.advance(tasks.done)


def tasks_of(tracker: "StatusTracker", group: str, finished: dict[int, Tasks] | None = None) -> Tasks:
    """The tasks of all jobs of a group; stages that were skipped, or forgotten by now, don't count.

    What a job that has ended came to is kept in `finished`: each question to Spark costs a millisecond.
    """
    finished = {} if finished is None else finished
    jobs = [
        finished.get(job) or _tasks_of_job(tracker, job, finished) for job in tracker.getJobIdsForGroup(group)
    ]
    return Tasks(sum(tasks.done for tasks in jobs), sum(tasks.total for tasks in jobs))


def _tasks_of_job(tracker: "StatusTracker", job: int, finished: dict[int, Tasks]) -> Tasks:
    found = tracker.getJobInfo(job)
    if found is None:
        return Tasks(0, 0)
    stages = [info for info in map(tracker.getStageInfo, found.stageIds) if info is not None]
    done = sum(info.numCompletedTasks for info in stages)
    if found.status != "RUNNING":
        # A stage whose result was there already was never begun.
        finished[job] = Tasks(done, done)
        return finished[job]
    return Tasks(done, sum(info.numTasks for info in stages))
