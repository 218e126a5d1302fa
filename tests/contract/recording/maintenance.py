"""What maintainers and journals make of a fixed list of events."""

import tempfile
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import meshwright as mw
from tests.contract.recording import inputs, values

_BLOCK = 10


@cache
def _start() -> mw.Overlay:
    return mw.build(inputs.interests("zipf"), "low-oda", seed=1)


@cache
def churn_events() -> tuple[mw.Event, ...]:
    """Joins and leaves at random, and after every fourth a change of interests of somebody who is there."""
    who = inputs.interests("zipf")
    topics, here = who.topics.to_pylist(), who.nodes.to_pylist()
    events = []
    for at, event in enumerate(mw.workloads.churn(who, 64, seed=6)):
        events.append(event)
        (here.append if event.event == "join" else here.remove)(event.node)
        if at % 4 == 3:
            kind = "unsubscribe" if at % 8 == 3 else "subscribe"
            own = [topics[(at * 5 + step) % len(topics)] for step in (0, 3, 11)]
            events.append(mw.Event(event.at, kind, here[at * 7 % len(here)], own))
    return tuple(events)


def _state(live: mw.Maintainer) -> dict[str, Any]:
    overlay = live.overlay
    return {
        "revision": live.revision,
        "links": len(overlay),
        "edges": values.array_digest(overlay.edges),
        "interests": values.interests(overlay.interests),
        "maximum_degree": live.maximum_degree,
    }


def _changes(repairs: Sequence[mw.Repair]) -> str:
    told = [
        (own.revision, own.events, own.repeated, len(own.refused), own.added, own.removed, own.shadows)
        for own in repairs
    ]
    return values.digest(repr(told))


def _blocks() -> list[tuple[mw.Event, ...]]:
    events = churn_events()
    return [events[at : at + _BLOCK] for at in range(0, len(events), _BLOCK)]


def _one_by_one(**options: Any) -> dict[str, Any]:
    """Each event by itself."""
    live = mw.Maintainer(_start(), seed=4, **options)
    states = []
    for block in _blocks():
        repairs = [live.apply([event]) for event in block]
        states.append(_state(live) | {"changes": _changes(repairs)})
    return {
        "start": _changes([live.start]),
        "states": [values.digest(repr(own)) for own in states],
        **_state(live),
    }


def _in_batches(**options: Any) -> dict[str, Any]:
    """Ten events at a time, from an overlay that is not connected."""
    names = _start().interests.nodes.to_pylist()
    live = mw.Maintainer(mw.Overlay.from_edges(_start().interests, [tuple(names[:2])]), seed=4, **options)
    repairs = [live.start, *(live.apply(block) for block in _blocks())]
    return {"changes": [_changes([own]) for own in repairs], **_state(live)}


def _repeated() -> dict[str, Any]:
    """Events with ids, of which some come again and some can't be applied."""
    live = mw.Maintainer(_start())
    named = [
        mw.Event(own.at, own.event, own.node, own.topics, f"e{at}") for at, own in enumerate(churn_events())
    ]
    wrong = mw.Event(1, "leave", "not there")
    accepted, refused = live.sort_out([*named[:20], wrong])
    repairs = [live.apply([*named[at : at + 15], wrong], lenient=True) for at in (0, 10, 20, 5)]
    return {"accepted": len(accepted), "refused": len(refused), "changes": _changes(repairs), **_state(live)}


def _restored() -> dict[str, Any]:
    """A maintainer that goes on from its snapshot."""
    first, *rest = _blocks()
    live = mw.Maintainer(_start(), seed=4)
    live.apply(first)
    live = mw.Maintainer.restore(live.snapshot())
    changes = [_changes([live.apply(block)]) for block in rest]
    node = live.overlay.interests.nodes[0].as_py()
    rows = (live.topics_of, live.neighbours_of, live.backups_of, live.primaries_of)
    return {"changes": changes, "rows": [sorted(own(node)) for own in rows], **_state(live)}


def _reoptimised() -> dict[str, Any]:
    """Drift, a link more, and the way back to a fresh overlay."""
    live = mw.Maintainer(_start(), "naive", seed=4)
    live.apply(churn_events())
    drift = [values.plain(live.drift(measure=flag)) for flag in (False, True)]
    way = live.reoptimise(most_changes=6)
    steps = []
    while (step := way.step()) is not None:
        steps.append(step)
    return {"drift": drift, "steps": len(steps), "changes": _changes(steps), **_state(live)}


def _journal() -> dict[str, Any]:
    """A journal that is closed and opened again after each block; its steps are taken again."""
    opened = []
    with tempfile.TemporaryDirectory() as folder:
        for block in _blocks():
            with mw.Journal(Path(folder) / "j", _start(), sync="never", compact_after=15, seed=4) as journal:
                for event in block:
                    journal.live.apply([event])
                kept = journal.recovery
                opened.append([kept.snapshot_revision, kept.steps, kept.torn, _state(journal.live)["edges"]])
        with mw.Journal(Path(folder) / "j") as journal:
            return {"opened": opened, **_state(journal.live)}


def _event_files() -> dict[str, Any]:
    """Events as files have them."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("jsonl", "parquet"):
            path = Path(folder) / f"events.{kind}"
            mw.write_events(churn_events(), path)
            found[kind] = values.digest(repr(mw.read_events(path).events))
        found["text"] = values.digest((Path(folder) / "events.jsonl").read_text("utf-8"))
    return found


CASES: dict[str, Callable[[], Any]] = {
    "shadow": _one_by_one,
    "shadow, greedy backups": partial(_one_by_one, backups="greedy", coverage=2),
    "shadow, degree of shadows": partial(_one_by_one, degree_of="shadows", ties="shuffled"),
    "shadow, light primaries": partial(_one_by_one, weigh_primaries=False, rho=1.5),
    "naive": partial(_one_by_one, policy="naive"),
    "rebuild": partial(_one_by_one, policy="rebuild"),
    **{
        f"{policy} in batches": partial(_in_batches, policy=policy)
        for policy in ("shadow", "naive", "rebuild")
    },
    "repeated and refused": _repeated,
    "snapshot": _restored,
    "drift and reoptimisation": _reoptimised,
    "journal": _journal,
    "event files": _event_files,
}
