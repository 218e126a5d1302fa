"""`meshwright plan-capacity`: what an overlay of some size would take."""

from typing import TYPE_CHECKING, Annotated

import typer

from meshwright.cli.common import Json, print_json, print_table
from meshwright.runtime.checks import check_whole
from meshwright.runtime.wording import count

if TYPE_CHECKING:
    from meshwright.pipeline.capacity import Plan

EPILOG = """The exit code is 1 if it does not fit into `--memory`.

**Examples**

`meshwright plan-capacity --nodes 1000000 --topics 1000 --interests 28000000 --algorithm dcbc-direct`

`meshwright plan-capacity --nodes 90000 --topics 400 --interests 900000 --algorithm dcbc --memory 4 --json`
"""


def plan_capacity(
    nodes: Annotated[int, typer.Option(metavar="N", help="How many nodes there are.")],
    topics: Annotated[int, typer.Option(metavar="N", help="How many topics there are.")],
    interests: Annotated[int, typer.Option(metavar="N", help="How many interests they have together.")],
    algorithm: Annotated[str, typer.Option(metavar="NAME", help="What would build the overlay.")],
    executors: Annotated[
        int | None, typer.Option(metavar="N", help="How many executors of Spark; without it, this process.")
    ] = None,
    cores: Annotated[int | None, typer.Option(metavar="N", help="How many cores an executor has.")] = None,
    memory: Annotated[
        float | None, typer.Option(metavar="GIB", help="How much memory this process or an executor has.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Predict the seconds, memory and disk of ingest, build and evaluate, from measured constants."""
    from meshwright.pipeline.capacity import Size, constants, planned

    for flag, number in (("--executors", executors), ("--cores", cores)):
        check_whole(flag, number, 1)
    plan = planned(Size(nodes, topics, interests), algorithm, executors=executors, cores=cores)
    room = None if memory is None else memory * 2**30
    needed = plan.memory_bytes if plan.executor_bytes is None else plan.executor_bytes
    fits = None if room is None else needed <= room
    if as_json:
        print_json(
            {
                "engine": plan.engine,
                **plan.size._asdict(),
                "algorithm": algorithm,
                "seconds": plan.seconds,
                "memory_bytes": plan.memory_bytes,
                "executor_bytes": plan.executor_bytes,
                "disk_bytes": plan.disk_bytes,
                "fits": fits,
                "stages": [stage._asdict() for stage in plan.stages],
                "machine": constants()["machine"],
            }
        )
    else:
        _show(plan)
        if fits is not None:
            print("It fits." if fits else f"It does not fit into {memory:,g} GiB.")
    if fits is False:
        raise typer.Exit(1)


def _show(plan: "Plan") -> None:
    """The table of stages, and what it holds for."""
    from meshwright.pipeline.capacity import JAVA_HEAP, PART_SIZE

    titles = ["stage", "processor seconds", "GB of memory", "GB of disk"]
    rows = [
        [stage.name, *_shown(stage.seconds, stage.memory_bytes, stage.disk_bytes)] for stage in plan.stages
    ]
    rows.append(["all", *_shown(plan.seconds * plan.processors, plan.memory_bytes, plan.disk_bytes)])
    if plan.executor_bytes is not None:
        titles.insert(3, "GB of an executor")
        each = [*(stage.executor_bytes for stage in plan.stages), plan.executor_bytes]
        for row, held in zip(rows, each, strict=True):
            row.insert(3, f"{(held or 0) / 1e9:,.2f}")
    print_table(titles, rows)
    if plan.executor_bytes is not None:
        print(
            f"On {count(plan.processors, 'core')}, that is about {plan.seconds:,.0f} s, plus the start of "
            f"Spark. An executor holds Java, with spark.executor.memory={JAVA_HEAP >> 30}g, and a Python "
            f"process for each core. dc and dcbc are taken to have part_size={PART_SIZE}, and dcbc "
            f"bulk_limit={PART_SIZE}."
        )
    worst = max((stage.worst_ratio for stage in plan.stages if stage.worst_ratio), default=None)
    if worst is not None:
        print(f"On runs that it had not seen, the prediction of a stage was off by up to {worst:.1f} times.")


def _shown(seconds: float, memory: float, disk: float) -> tuple[str, str, str]:
    return f"{seconds:,.1f}", f"{memory / 1e9:,.2f}", f"{disk / 1e9:,.2f}"
