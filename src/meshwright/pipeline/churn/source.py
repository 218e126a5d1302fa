"""Where events come from: files, a law, or the sessions of a real network."""

from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from meshwright.errors import OptionError
from meshwright.model.churn import Event, with_ids
from meshwright.model.event_files import read_events
from meshwright.model.interests import Interests
from meshwright.model.read_limits import READ_LIMITS, ReadLimits
from meshwright.model.sessions import read_sessions
from meshwright.workloads.traces import churn, session_churn


class Trace(NamedTuple):
    """Events in the order of their times, and what is to be said about where they came from."""

    events: list[Event]
    facts: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ChurnSource:
    """One of: files of events; a number of rounds, in each of which a node joins or leaves; sessions.

    What is read of files has limits.
    """

    events: Path | None = None
    rounds: int | None = None
    sessions: Path | None = None
    snapshots: Path | None = None
    limits: ReadLimits = READ_LIMITS

    def __post_init__(self) -> None:
        given = [way for way in (self.events, self.rounds, self.sessions) if way is not None]
        if len(given) != 1:
            raise OptionError("give one of --events PATH, --rounds N, --sessions PATH and --stream PATH")
        if self.snapshots is not None and self.sessions is None:
            raise OptionError("--snapshots tells the times of --sessions; leave it out, or give both")

    def load(self, interests: Interests, seed: int) -> Trace:
        """The events for an overlay of these interests; each has an id."""
        if self.events is not None:
            log = read_events(self.events, limits=self.limits)
            torn = [f"{torn.path}, line {torn.line}" for torn in log.torn]
            return Trace(with_ids(log.events), {"out_of_order": log.out_of_order, "torn": torn})
        if self.sessions is not None:
            sessions = read_sessions(self.sessions, self.snapshots, limits=self.limits)
            return Trace(with_ids(session_churn(interests, sessions, seed=seed)), {"sessions": len(sessions)})
        return Trace(with_ids(churn(interests, self.rounds or 0, seed=seed)), {})


def batches(events: list[Event], together: bool) -> list[list[Event]]:
    """Each event by itself, or those of equal times together."""
    if not together:
        return [[event] for event in events]
    return [list(group) for _, group in groupby(events, key=lambda event: event.at)]
