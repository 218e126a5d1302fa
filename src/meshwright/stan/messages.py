"""What gossip nodes say to each other, and the count of what they send.

Messages are small frozen records of numbers, tuples of numbers and bytes. Nodes and topics go by their ids. A
node may send to itself: its walk may end where it began. What the application asks of its own node has no
sender: `Join`, `Return`, `Leave` and, with no hop made, `Event`. The bounds limit what a socket may bring: a
number beyond them makes no message.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Annotated

from meshwright.net import Happening, What
from meshwright.net.live.codec import Between
from meshwright.stan.options import MOST_STEPS

NONE = -1
"""No node."""

MOST_FORWARDS = 1_000
"""After so many hops a subscription is dropped. A node keeps one of about every view size + 1 that it gets,
so hardly any goes so far, except where all who could keep it do so already."""

Id = Annotated[int, Between(NONE, 2**31 - 1)]
"""The id of a node or a topic; NONE where that is allowed."""

Count = Annotated[int, Between(0, 2**31 - 1)]
Forwards = Annotated[int, Between(0, MOST_FORWARDS)]
Steps = Annotated[int, Between(0, MOST_STEPS)]


@dataclass(frozen=True, slots=True)
class Join:
    """From the application: subscribe to a topic through a node that is in it; NONE for the first one."""

    topic: Id
    contact: Id


@dataclass(frozen=True, slots=True)
class Return:
    """From the application: be in a topic again after a crash, through a node that is in it, or NONE."""

    topic: Id
    contact: Id


@dataclass(frozen=True, slots=True)
class Leave:
    """From the application: unsubscribe from a topic."""

    topic: Id


@dataclass(frozen=True, slots=True)
class Subscribe:
    """To the contact: the sender wants to be in views of the topic."""

    topic: Id


@dataclass(frozen=True, slots=True)
class Forward:
    """A subscription on its way to somebody who keeps it, and how many have passed it on."""

    topic: Id
    node: Id
    hops: Forwards


@dataclass(frozen=True, slots=True)
class Renewal:
    """A subscription of a node that was in the topic before, on its way, and how many have passed it on."""

    topic: Id
    node: Id
    hops: Forwards


@dataclass(frozen=True, slots=True)
class Kept:
    """To a subscriber: the sender has it in its view of the topic."""

    topic: Id


@dataclass(frozen=True, slots=True)
class AskPlaces:
    """From one who has forgotten: how many places has your view of the topic?"""

    topic: Id


@dataclass(frozen=True, slots=True)
class Places:
    """The answer, and who is in the view."""

    topic: Id
    count: Count
    nodes: tuple[Id, ...]


@dataclass(frozen=True, slots=True)
class Replace:
    """From one who leaves a topic: put another node in my place, or none if it is NONE."""

    topic: Id
    by: Id


@dataclass(frozen=True, slots=True)
class Ping:
    """Once for each physical link: are you there? With the topics whose views share the link."""

    topics: tuple[Id, ...]


@dataclass(frozen=True, slots=True)
class Pong:
    """The answer: I am; with those of the topics asked for that the sender does not subscribe to."""

    left: tuple[Id, ...]


@dataclass(frozen=True, slots=True)
class CollectWalk:
    """A random walk inside a topic: who sent it out, how far it goes on, and whom it has met."""

    source: Id
    topic: Id
    ttl: Steps
    nodes: tuple[Id, ...]


@dataclass(frozen=True, slots=True)
class CollectReply:
    """From the last node of a walk to its source: whom the walk met."""

    topic: Id
    nodes: tuple[Id, ...]


@dataclass(frozen=True, slots=True)
class Event:
    """What is published, on one or several topics: a number that no other event has, and the content.

    `hops` counts those made on arrival; 0 is what a publisher's application hands over.
    """

    number: int
    topics: tuple[Id, ...]
    content: bytes
    hops: Count


_Membership = Join | Return | Leave | Subscribe | Forward | Renewal | Kept | AskPlaces | Places | Replace
Message = _Membership | Ping | Pong | CollectWalk | CollectReply | Event


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
