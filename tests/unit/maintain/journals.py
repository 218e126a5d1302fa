"""Overlays, events and journals to try things with."""

import resource
import shutil
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import meshwright as mw


def small_overlay(seed: int = 1) -> mw.Overlay:
    return mw.build(mw.workloads.unif(40, 8, min_subscriptions=1, max_subscriptions=4, seed=seed), "low-oda")


def events_for(overlay: mw.Overlay, count: int, seed: int = 0, ids: bool = True) -> list[mw.Event]:
    """Events of all kinds that can be applied one after the other."""
    rng = np.random.default_rng(seed)
    names = overlay.interests.nodes.to_pylist()
    end = "\n" if overlay.interests.topic_attributes is None else ""  # which no filter may have
    topics = [*overlay.interests.topics.to_pylist(), "ключ", f'say "hi"{end}']
    events = []
    for at in range(count):
        own = tuple(rng.choice(topics, rng.integers(1, 4), replace=False).tolist())
        kind = ("join", "leave", "subscribe", "unsubscribe")[rng.integers(0, 4)]
        node = f"new {at}" if kind == "join" else names[rng.integers(0, len(names))]
        if kind == "join":
            names.append(node)
        if kind == "leave":
            names.remove(node)
        events.append(mw.Event(at, kind, node, () if kind == "leave" else own, f"k{at}" if ids else None))
    return events


def costs_for(overlay: mw.Overlay, events: list[mw.Event], seed: int = 0) -> mw.Costs:
    """Costs by distance, for the nodes of an overlay and all that join later."""
    rng = np.random.default_rng(seed)
    joining = [event.node for event in events if event.event == "join"]
    names = [*overlay.interests.nodes.to_pylist(), *dict.fromkeys(joining)]
    places = dict(zip(names, rng.uniform(0, 100, (len(names), 2)).tolist(), strict=True))
    return mw.Costs.coordinates(places, base=1, metric="euclidean")


def state_after(overlay: mw.Overlay, events: list[mw.Event], **options: object) -> bytes:
    """What a maintainer that nobody ever stopped comes to."""
    live = mw.Maintainer(overlay, **options)
    for event in events:
        live.apply([event])
    return live.snapshot()


def log_of(folder: Path) -> Path:
    return max(folder.glob("*.log"))


def copied(folder: Path, target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    return Path(shutil.copytree(folder, target))


@contextmanager
def no_file_longer_than(size: int):
    """As on a full disk, the system refuses to write: the bytes that fit are written, those after are not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def filtered_overlay() -> mw.Overlay:
    """An overlay whose topics are classes of filters."""
    texts = ["plant/#", "plant/+/temp", "plant/7/#", "+/7/temp", "plant/8/temp", "#", "home/+"]
    pairs = [(f"b{number}", text) for number in range(12) for text in texts[number % 7 :: 3]]
    return mw.build(mw.Interests.from_filters(pairs), "low-oda")
