"""The interface of all protocols: a message or a timer in, messages and timers out.

A protocol is what one node does, and its state is what that node knows. It has no socket, no clock and no
random state of its own: what time it is and where randomness comes from are arguments, and what it wants done
is what it hands back. So the same object runs in the simulator, over sockets, and by hand in a test.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

Node = int
"""A node goes by its id; whoever carries messages knows its address."""

Message = TypeVar("Message")


class Moment(NamedTuple):
    """When something happens to a node, and the random state that it may draw from, its own."""

    now: float
    random: np.random.Generator


@dataclass(frozen=True, slots=True)
class Send(Generic[Message]):
    """Send a message to another node. Nothing tells whether it arrives."""

    to: Node
    message: Message


@dataclass(frozen=True, slots=True)
class Wake:
    """Call `wake` with `timer` after some time. A timer can't be taken back: a late one is to be ignored."""

    after: float
    timer: Hashable


@dataclass(frozen=True, slots=True)
class Deliver(Generic[Message]):
    """Hand a message to the application on this node, which asked for it."""

    message: Message


Action = Send[Message] | Wake | Deliver[Message]


class Protocol(ABC, Generic[Message]):
    """What one node does. Messages are immutable, since a simulator hands over the object itself.

    The methods are called one at a time. Actions are carried out in the order given: after the call
    if a method returns a list, during it if the method is a generator. Methods must not rely on either.
    """

    def start(self, moment: Moment) -> Iterable[Action[Message]]:
        """The node joins. A protocol with periodic work asks here to be woken."""
        del moment
        return ()

    @abstractmethod
    def receive(self, message: Message, sender: Node | None, moment: Moment) -> Iterable[Action[Message]]:
        """A message came from another node, or from the application here: then `sender` is None."""

    def wake(self, timer: Hashable, moment: Moment) -> Iterable[Action[Message]]:
        """A timer that was asked for has run out."""
        del timer, moment
        return ()


REMEMBERED = 65_536
"""Numbers that a node recognises again; older ones are forgotten, or memory would grow for ever."""


class Seen:
    """The numbers seen last, up to `REMEMBERED` of them."""

    def __init__(self) -> None:
        self._numbers: dict[int, None] = {}

    def __contains__(self, number: int) -> bool:
        return number in self._numbers

    def add(self, number: int) -> None:
        """Recognise a number from now on."""
        self._numbers[number] = None
        if len(self._numbers) > REMEMBERED:
            del self._numbers[next(iter(self._numbers))]
