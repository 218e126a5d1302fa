"""Leaf node links of NATS: who opened them, which accounts they join, and what they connect."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from meshwright.deploy.mesh import Flow, Place


class Leaf(NamedTuple):
    """A link to a leaf node port."""

    link: str
    opener: str
    hub: str
    accounts: tuple[str | None, str | None]
    """At the opener, and at the hub."""
    place: Place

    @property
    def ends(self) -> tuple["End", "End"]:
        """The servers with their accounts, that of the opener first."""
        return (self.opener, self.accounts[0]), (self.hub, self.accounts[1])


End = tuple[str, str | None]
"""A server and an account, where a leaf link ends."""


def leaves_of(flows: Iterable[Flow]) -> Iterator[Leaf]:
    """The leaf links of flows, each as often as it has flows."""
    for flow in flows:
        if flow.refuses_loops and flow.pulls:
            accounts = flow.target_account, flow.account
            yield Leaf(flow.link, flow.target, flow.source, accounts, flow.place)
        elif flow.refuses_loops:
            accounts = flow.account, flow.target_account
            yield Leaf(flow.link, flow.source, flow.target, accounts, flow.place)


class Joined:
    """Things that pairs connect."""

    def __init__(self) -> None:
        self._up: dict[object, object] = {}

    def root(self, thing: object) -> object:
        """What stands for all that are connected with a thing."""
        while (up := self._up.setdefault(thing, thing)) != thing:
            thing = up
        return thing

    def join(self, one: object, other: object) -> bool:
        """Connect two things; whether they were not connected yet."""
        one, other = self.root(one), self.root(other)
        self._up[one] = other
        return one != other

    def are_joined(self, one: object, other: object) -> bool:
        """Whether two things are connected."""
        return self.root(one) == self.root(other)


def reached(start: End, leaf: Leaf, beside: Mapping[End, Sequence[Leaf]]) -> dict[End, Leaf]:
    """The ends that leaf links connect with the start of another, each with the link that leads to it."""
    found = {start: leaf}
    waiting = [start]
    for end in waiting:
        for each in beside.get(end, ()):
            for far in each.ends:
                if far not in found:
                    found[far] = each
                    waiting.append(far)
    return found
