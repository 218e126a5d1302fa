"""What gossip sends."""

from collections import Counter
from dataclasses import dataclass

from meshwright.gossip.messages import CollectReply, CollectWalk
from meshwright.net import Happening, What


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """What a run took.

    Attributes:
        messages: of walks and replies, those that got lost included.
        ids: nodes named in all of them together.
        lost: of these messages, those that did not arrive.
        walks: how many went out.
        upkeep: messages of membership and keep-alive, which are not StaN's.
    """

    messages: int = 0
    ids: int = 0
    lost: int = 0
    walks: int = 0
    upkeep: int = 0


class TrafficCounter:
    """Counts what a carrier of messages says of them, by the round in which it happened.

    A carrier may run a little further than it was told, as sockets do, and tell of that too.
    """

    def __init__(self) -> None:
        self._rounds: dict[int, Counter[str]] = {}

    def note(self, happening: Happening) -> None:
        """Count one thing that happened."""
        message, counts = happening.message, self._rounds.setdefault(int(happening.time), Counter())
        if not isinstance(message, CollectWalk | CollectReply):
            counts["upkeep"] += happening.what is What.SENT
        elif happening.what is What.SENT:
            counts["messages"] += 1
            counts["ids"] += len(message.nodes)
            counts["walks"] += isinstance(message, CollectWalk) and not message.nodes
        elif happening.what in (What.LOST, What.MISSED):
            counts["lost"] += 1

    def before(self, rounds: int) -> Traffic:
        """What happened in so many rounds, and not after them."""
        counted = (counts for at, counts in self._rounds.items() if at < rounds)
        return Traffic(**sum(counted, Counter()))
