"""Protocols small enough to follow, in a module that other processes can import."""

from dataclasses import dataclass

from meshwright.net import Deliver, Protocol, Send, Wake


@dataclass(frozen=True, slots=True)
class Note:
    """A number that goes from node to node."""

    number: int


class Relay(Protocol[Note]):
    """Passes a note on to the next node until its number is 0, and delivers all of them."""

    def __init__(self, onward):
        self.onward = onward
        self.got = []

    def receive(self, message, sender, moment):
        self.got.append((sender, message.number))
        yield Deliver(message)
        if message.number > 0:
            yield Send(self.onward, Note(message.number - 1))


class Chatter(Protocol[Note]):
    """Every unit of time, sends a note to each of its friends; counts what comes."""

    def __init__(self, friends, rounds=10**9):
        self.friends = list(friends)
        self.rounds = rounds
        self.told = self.heard = 0
        self.times = []

    def start(self, moment):
        return [Wake(0.0, "round")]

    def receive(self, message, sender, moment):
        self.heard += 1
        return ()

    def wake(self, timer, moment):
        self.times.append(moment.now)
        self.told += len(self.friends)
        yield from (Send(friend, Note(self.told)) for friend in self.friends)
        if len(self.times) < self.rounds:
            yield Wake(1.0, timer)


class Clumsy(Relay):
    """Raises at every note; and at its start, if it is told to."""

    def __init__(self, at_start=False):
        super().__init__(0)
        self.at_start = at_start

    def start(self, moment):
        if self.at_start:
            raise KeyError("nothing to start with")
        return ()

    def receive(self, message, sender, moment):
        raise ValueError(f"note {message.number} is too much")


def friends(protocol):
    """The logical links of a Chatter."""
    return protocol.friends
