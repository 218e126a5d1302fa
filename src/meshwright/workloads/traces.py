"""Churn by a law, or after the sessions of a real network: events for the nodes of some interests."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import count, pairwise

import numpy as np
import numpy.typing as npt

from meshwright.model.events import Event
from meshwright.model.interests import Interests
from meshwright.model.sessions import Session
from meshwright.runtime.checks import MOST_NAMES, number, whole
from meshwright.runtime.seeds import generator
from meshwright.workloads.laws import waiting_times

_SIZES, _TOPICS = 1, 2
"""Parts of a stage that have random streams of their own."""


def draw_like(interests: Interests, count: int, seed: int, stage: str) -> list[tuple[str, ...]]:
    """The topics of `count` further nodes, drawn as those of `interests` might have been.

    Each takes as many topics as a random node has, and these without replacement in proportion to their
    subscribers. Which topics go together is not kept: a copy of a node would need one link only. The first
    of more nodes are the same as of fewer.
    """
    subscribers = np.diff(interests.topic_indptr)
    order = np.argsort(-subscribers, kind="stable")[: np.count_nonzero(subscribers)]
    sizes = np.diff(interests.indptr)
    drawn = generator(seed, stage, _SIZES).choice(sizes, count) if len(sizes) else np.zeros(count, np.int64)
    indptr = np.concatenate([[0], np.cumsum(drawn, dtype=np.int64)])
    ranks = _ranks(subscribers[order], indptr, generator(seed, stage, _TOPICS))
    names = interests.topics.take(order[ranks]).to_pylist()
    return [tuple(names[start:end]) for start, end in pairwise(indptr.tolist())]


def _ranks(
    subscribers: npt.NDArray[np.int64], indptr: npt.NDArray[np.int64], rng: np.random.Generator
) -> npt.NDArray[np.int32]:
    from meshwright.kernels.core.sampling import draw_distinct

    ranks = np.empty(indptr[-1], np.int32)
    if len(ranks):
        chances = subscribers / subscribers.sum()
        spans = waiting_times(chances, int(np.diff(indptr).max()))
        draw_distinct(rng, chances, spans, indptr, ranks)
    return ranks


_STAGE = "workloads.churn"
_SESSIONS = "workloads.sessions"


def churn(
    interests: Interests,
    rounds: int,
    *,
    join_chance: float = 0.5,
    among: Iterable[str] | None = None,
    seed: int = 0,
) -> list[Event]:
    """In each round a new node joins or one leaves: [3], VI.

    A join has the probability `join_chance`, or 1 if no node is left. All present nodes are equally likely to
    leave. A new node's topics are drawn to resemble those of the nodes of `interests`; see `draw_like`. The
    time of a round is its number, starting from 1. A longer run begins with the same rounds as a shorter one.

    A node that joins has a new name or, if `among` is given, one of these names that is not present, all
    equally likely. While all of them are present, nodes only leave.

    Example:
        >>> import meshwright as mw
        >>> pairs = [("b1", "news"), ("b2", "news"), ("b2", "sport"), ("b3", "sport")]
        >>> interests = mw.Interests.from_pairs(pairs)
        >>> [event.event for event in mw.workloads.churn(interests, 3, seed=1)] == ["join"] * 3
        False
    """
    whole("rounds", rounds, 0, MOST_NAMES)
    number("join_chance", join_chance, 0, 1)
    present = interests.nodes.to_pylist()
    coins, choices = generator(seed, _STAGE).random((rounds, 2)).T
    newcomers = _new_names(present)
    absent = None if among is None else _others(among, present)
    topics = iter(draw_like(interests, rounds, seed, _STAGE))
    events = []
    for at in range(rounds):
        if (coins[at] < join_chance or not present) and absent != []:
            node = next(newcomers) if absent is None else _taken(absent, choices[at])
            present.append(node)
            events.append(Event(at + 1, "join", node, next(topics)))
        elif present:
            node = _taken(present, choices[at])
            if absent is not None:
                absent.append(node)
            events.append(Event(at + 1, "leave", node))
    return events


def _others(names: Iterable[str], taken: Iterable[str]) -> list[str]:
    """Those of the names that are not taken, each once."""
    known = frozenset(taken)
    return [name for name in dict.fromkeys(names) if name not in known]


def _taken(names: list[str], chance: float) -> str:
    """Take a name out of a list, the last of which takes its place."""
    place = int(chance * len(names))
    names[place], names[-1] = names[-1], names[place]
    return names.pop()


def _new_names(taken: Collection[str]) -> Iterator[str]:
    """Names of a prefix with which no name that is taken begins, and a number."""
    prefix = "j"
    while any(name.startswith(prefix) for name in taken):
        prefix += "j"
    return (f"{prefix}{at:06d}" for at in count())


def session_churn(interests: Interests, sessions: Sequence[Session], *, seed: int = 0) -> list[Event]:
    """The joins and leaves of sessions, in the order of their times; equal times keep the sessions' order.

    A node of `interests` joins with its topics there; others get topics as nodes of `interests` might have
    had, see `draw_like`, in the order in which the sessions first name them, the same each time they join.
    The nodes of `interests` are taken to be there at the first time of all: they do not join then.
    """
    if not sessions:
        return []
    known = frozenset(interests.nodes.to_pylist())
    strangers = list(dict.fromkeys(session.node for session in sessions if session.node not in known))
    drawn = draw_like(interests, len(strangers), seed, _SESSIONS)
    topics = dict(zip(strangers, drawn, strict=True))
    begin = min(session.start for session in sessions)
    events = []
    for node, start, end in sessions:
        if start > begin or node not in known:
            own = topics[node] if node in topics else tuple(interests.topics_of(node))
            events.append(Event(start, "join", node, own))
        if end is not None:
            events.append(Event(end, "leave", node))
    events.sort(key=lambda event: event.at)
    return events
