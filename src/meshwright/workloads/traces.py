"""Churn made up by a law, or after the sessions of a real network: events for the nodes of some interests."""

from collections.abc import Collection, Iterator, Sequence
from itertools import count

from meshwright.model.churn import Event
from meshwright.model.interests import Interests
from meshwright.model.sessions import Session
from meshwright.seeds import generator
from meshwright.workloads.checks import MOST_NAMES, number, whole
from meshwright.workloads.likeness import draw_like

_STAGE = "workloads.churn"
_SESSIONS = "workloads.sessions"


def churn(interests: Interests, rounds: int, *, join_chance: float = 0.5, seed: int = 0) -> list[Event]:
    """In each round a new node joins or one leaves: [3], VI.

    Which of the two is a coin of `join_chance`; where nobody is left, a join. Each node that is there is as
    likely to leave as any other. Those who join have topics as nodes of `interests` might have had, see
    `draw_like`. The time of a round is its number, from 1 on. The first of more rounds are the same as of
    fewer.

    [3] Chen, Jacobsen, Vitenberg: Reinforce Your Overlay with Shadows, 2012.
    """
    whole("rounds", rounds, 0, MOST_NAMES)
    number("join_chance", join_chance, 0, 1)
    present = interests.nodes.to_pylist()
    coins, choices = generator(seed, _STAGE).random((rounds, 2)).T
    newcomers = _new_names(present)
    topics = iter(draw_like(interests, rounds, seed, _STAGE))
    events = []
    for at in range(rounds):
        if coins[at] < join_chance or not present:
            node = next(newcomers)
            present.append(node)
            events.append(Event(at + 1, "join", node, next(topics)))
        else:
            place = int(choices[at] * len(present))
            present[place], present[-1] = present[-1], present[place]
            events.append(Event(at + 1, "leave", present.pop()))
    return events


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
