"""`meshwright demo`: why a topic-connected overlay is worth having."""

from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer

from meshwright.cli.common import Json, Seed, print_json, print_table, progress_bar
from meshwright.progress import stage


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(demo)


def demo(
    nodes: Annotated[int, typer.Option(min=2, max=20_000, help="Brokers.")] = 2_000,
    topics: Annotated[int, typer.Option(min=1)] = 200,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Make up interests, build overlays by gm and by ring, measure them, and compare.

    The first run on a machine also compiles the kernels, which takes a while.
    """
    import meshwright as mw

    bar = progress_bar()
    high = min(90, topics)
    interests = mw.workloads.unif(
        nodes, topics, min_subscriptions=min(10, high), max_subscriptions=high, seed=seed, progress=bar
    )
    with stage(bar, "preparing kernels, compiled once"):
        tiny = mw.workloads.unif(9, 3, subscriptions=2)
        mw.evaluate(mw.build(tiny, "gm"))
    rows = [_full_mesh(nodes, topics)]
    for algorithm, label in (("ring", "ring per topic"), ("gm", "greedy merge")):
        begin = perf_counter()
        overlay = mw.build(interests, algorithm, seed=seed, progress=bar)
        rows.append(_measured(label, overlay, perf_counter() - begin))
    rows.append(_measured("random links", _random_overlay(interests, len(overlay), seed), None))
    bound = mw.evaluate(overlay, diameters=False).lower_bound_average_degree or 0.0
    if as_json:
        print_json({"interests": len(interests), "overlays": rows, "lower_bound_average_degree": bound})
        return
    _print_for_people(interests, rows, bound)


def _full_mesh(nodes: int, topics: int) -> dict[str, Any]:
    return {
        "overlay": "full mesh",
        "links": nodes * (nodes - 1) // 2,
        "average_degree": float(nodes - 1),
        "maximum_degree": nodes - 1,
        "topics_connected": topics,
        "maximum_topic_diameter": 1,
        "seconds": None,
    }


def _measured(label: str, overlay: Any, seconds: float | None) -> dict[str, Any]:
    import meshwright as mw

    found = mw.evaluate(overlay, bound=False, progress=progress_bar())
    return {
        "overlay": label,
        "links": found.edges,
        "average_degree": found.average_degree,
        "maximum_degree": found.maximum_degree,
        "topics_connected": found.topics - found.disconnected_topics,
        "maximum_topic_diameter": found.maximum_topic_diameter if found.topic_connected else None,
        "seconds": seconds,
    }


def _random_overlay(interests: Any, links: int, seed: int) -> Any:
    import meshwright as mw
    from meshwright.seeds import generator

    nodes = interests.node_count
    pairs = np.column_stack(np.triu_indices(nodes, 1))
    chosen = generator(seed, "demo").choice(len(pairs), links, replace=False)
    return mw.Overlay.from_arrays(interests, pairs[chosen])


def _print_for_people(interests: Any, rows: list[dict[str, Any]], bound: float) -> None:
    columns = ("overlay", "links", "degree", "max", "connected", "diameter", "seconds")
    title = (
        f"{interests.node_count:,} brokers, {interests.topic_count:,} topics, {len(interests):,} interests"
    )
    print_table(columns, (row.values() for row in rows), title=title)
    fewer = rows[1]["links"] / max(1, rows[2]["links"])
    print(
        f"\nGreedy merge keeps the subscribers of every topic connected among themselves with "
        f"{fewer:.0f} times\nfewer links than a ring for each topic, and no overlay that does so has an "
        f"average degree under {bound:.2f}.\nAs many links at random leave "
        f"{rows[3]['topics_connected']:,} of {interests.topic_count:,} topics whole."
    )
