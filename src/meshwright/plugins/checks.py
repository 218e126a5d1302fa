"""Run an algorithm of another package, and check what it returns before anything is made of it."""

import sys
from collections.abc import Callable
from contextlib import redirect_stdout

import numpy as np

from meshwright.model.dense import rows_of
from meshwright.model.edges import Built
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.model.union import Union
from meshwright.plugins.installed import Origin, described
from meshwright.runtime.arrays import Ids
from meshwright.runtime.errors import InputError, MeshwrightError, PluginError
from meshwright.runtime.progress import Progress, stage
from meshwright.runtime.wording import type_of


def run_outside(
    name: str,
    origin: Origin,
    run: Callable[[], object],
    subject: Interests | Union,
    *,
    topic_connected: bool,
    progress: Progress | None,
) -> Built:
    """What `run` returns for interests, or for the union of overlays, if the algorithm keeps its contract.

    Errors of Meshwright that it raises pass; any other becomes a PluginError. Checks are linear: the form of
    the edges, that a merge keeps those it was given, and that every topic is connected where that is
    promised, by links whose ends share a topic; a merge has to connect the topics that each of its overlays
    connects. What the algorithm prints goes to stderr, since stdout belongs to the command.
    """
    blame = f"{name} ({origin})"
    try:
        with stage(progress, f"running {name}"), redirect_stdout(sys.stderr):
            built = run()
    except (MeshwrightError, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        raise PluginError(f"{blame} failed: {described(error)}; report it to that package") from error
    if not isinstance(built, Built):
        raise PluginError(f"{blame} returned {type_of(built)}; it has to return meshwright.Built")
    interests = subject if isinstance(subject, Interests) else subject.interests
    overlay = _overlay(blame, interests, built)
    if isinstance(subject, Union):
        _check_kept(blame, subject, built)
    elif topic_connected:
        _check_shared(blame, overlay)
    if topic_connected:
        _check_connected(blame, overlay, subject, progress)
    return built


def _overlay(blame: str, interests: Interests, built: Built) -> Overlay:
    """The overlay of these edges; edges, facts or tables that no overlay can have are the plugin's error."""
    try:
        given = np.asarray(built.edges)
        overlay = Overlay.from_arrays(interests, given, facts=built.facts, tables=built.tables)
    except (InputError, ValueError, TypeError) as error:
        raise PluginError(f"{blame} returned an invalid overlay: {error}") from error
    if len(overlay) < len(given):
        twice = len(given) - len(overlay)
        raise PluginError(f"{blame} returned {twice:,} of its edges twice; it has to return each edge once")
    return overlay


def _check_kept(blame: str, union: Union, built: Built) -> None:
    kept = np.asarray(built.edges)[: len(union.edges)]
    if not np.array_equal(kept.reshape(-1, 2), union.edges):
        raise PluginError(
            f"{blame} did not keep the edges that it was given; "
            f"a merge has to return them first, in their order, and new ones after them"
        )


def _check_shared(blame: str, overlay: Overlay) -> None:
    from meshwright.kernels.greedy.sub_overlays import count_links

    interests, edges = overlay.interests, overlay.edges
    starts = count_links(interests.indptr.copy(), interests.topic_ids.copy(), edges.copy())
    apart = np.flatnonzero(np.diff(starts) == 0)
    if len(apart):
        ends = " and ".join(repr(interests.nodes[int(node)].as_py()) for node in edges[apart[0]])
        more = f", and {len(apart) - 1:,} more such links" if len(apart) > 1 else ""
        raise PluginError(
            f"{blame} links {ends}, which share no topic{more}; "
            f"leave such links out, or declare topic_connected=False"
        )


def _check_connected(
    blame: str, overlay: Overlay, subject: Interests | Union, progress: Progress | None
) -> None:
    parts = _topic_parts(overlay, progress)
    broken = np.flatnonzero(parts > 1)
    if isinstance(subject, Union) and len(broken):
        whole = _topic_parts(Overlay.from_arrays(subject.interests, subject.edges), progress)
        broken = broken[whole[broken] == _overlays_of(subject)[broken]]
    if len(broken):
        topic = overlay.interests.topics[int(broken[0])].as_py()
        more = f" and {len(broken) - 1:,} more topics are not connected" if len(broken) > 1 else ""
        raise PluginError(
            f"{blame} promises to connect every topic, but topic {topic!r} is in {parts[broken[0]]:,} parts"
            f"{more}; repair it, or declare topic_connected=False"
        )


def _topic_parts(overlay: Overlay, progress: Progress | None) -> Ids:
    """By topic, into how many parts the links between its subscribers leave them."""
    from meshwright.metrics.topics import budget_of, measure_topics, prepare

    links, lists = prepare(overlay, progress)
    return measure_topics(
        overlay, links, lists, budget=budget_of(False, None), progress=progress
    ).topics.components


def _overlays_of(union: Union) -> Ids:
    """By topic, how many of the overlays have subscribers of it."""
    interests = union.interests
    keys = interests.topic_ids.astype(np.int64) * union.parts + union.part_of[rows_of(interests.indptr)]
    return np.bincount(np.unique(keys) // union.parts, minlength=interests.topic_count).astype(np.int32)
