"""Where what is ours at a broker is: a file that some command reaches, or what a management API holds.

What was written stays in its place when names and addresses change. So the state of a broker goes with the
place: if the plan has another broker there, it takes over what is there; if it has the broker elsewhere, the
earlier place has left the plan, and what is there is removed before anything is opened.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from meshwright.deploy.hosts import Host
from meshwright.deploy.plan.plan import Plan
from meshwright.deploy.reaching import words_of_reach
from meshwright.deploy.state import Entry
from meshwright.runtime.errors import InputError, quoted

Place = tuple[str, ...]


def place_of(host: Host) -> Place:
    """The place of a broker; that of a broker on loopback is its own."""
    if host.config:
        return *words_of_reach(host, ""), host.config
    return (host.admin or host.node,)


def check_places(hosts: Iterable[Host]) -> None:
    """Refuse brokers that would write to the same place.

    Raises:
        InputError: two brokers have the same place.
    """
    owners: dict[Place, str] = {}
    for host in hosts:
        other = owners.setdefault(place_of(host), host.node)
        if other != host.node:
            raise InputError(
                f"the nodes {quoted(other)} and {quoted(host.node)} are both at "
                f"{quoted(host.config or host.admin)}, reached in the same way; correct config, reach or "
                f"admin in the inventory"
            )


class Placed(NamedTuple):
    """Entries of the state by the names that a plan has for their places."""

    entries: dict[str, Entry]
    moved: frozenset[str]
    """Brokers of the plan that had another place before."""


def placed(entries: Mapping[str, Entry], plan: Plan) -> Placed:
    """Entries under the names that a plan has for their places; an earlier place gets a name of its own."""
    now = {place_of(host): host.node for host in plan.hosts}
    found: dict[str, Entry] = {}
    moved = set()
    for node, entry in entries.items():
        name = now.get(place_of(entry.host))
        if name is None:
            name = node
            if node in plan.host_of:
                moved.add(node)
                name = f"{node}, before at {entry.host.host}: {entry.host.config or entry.host.admin}"
        found[name] = entry._replace(host=entry.host._replace(node=name))
    return Placed(found, frozenset(moved))
