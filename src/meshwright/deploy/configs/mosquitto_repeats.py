"""Lines of Mosquitto's configuration that stand twice where it takes one: it does not start with them.

A file with the configurations of two brokers has such lines most of the time.
"""

from collections.abc import Iterator

from meshwright.deploy.configs.mosquitto_directives import ONCE, PER_LISTENER, SAME
from meshwright.deploy.mesh import Place

_WAY_OUT = "remove one, or split the file if it holds the configurations of two brokers"


class Repeats:
    """Sees the lines of a configuration in their order, and remembers what may come once."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str, int], Place] = {}
        self._listeners: dict[str, list[Place]] = {}
        self._per_listener = self._by_family = False
        self._count = 0
        self.listener = 0
        """The number of the listener that lines are about; 0 is the default one."""

    def see(self, name: str, value: str, place: Place, bridge: int) -> str | None:
        """What is wrong with a line, if it repeats one; `bridge` is the number of its connection, or 0."""
        if name == "listener":
            self._count += 1
            self.listener = self._count
            self._listeners.setdefault(" ".join(value.split()), []).append(place)
        self._per_listener |= name == "per_listener_settings" and value in ("true", "1")
        self._by_family |= name in ("socket_domain", "bind_interface")
        scope = ONCE.get(name)
        if scope is None or (scope == "bridge" and not bridge):
            return None
        if name in PER_LISTENER and self._per_listener:
            scope = "listener"
        number = {"broker": 0, "listener": self.listener, "bridge": bridge}[scope]
        first = self._first.setdefault((SAME.get(name, name), scope, number), place)
        return None if first is place else _said(name, first, place)

    def listeners(self) -> Iterator[tuple[str, Place]]:
        """What is wrong with listeners that are where others are, unless other lines may tell them apart."""
        for places in () if self._by_family else self._listeners.values():
            yield from ((_said("this listener", places[0], place), place) for place in places[1:])


def _said(what: str, first: Place, place: Place) -> str:
    at = f"line {first.line}" if first.file == place.file else first.file
    return f"{what} stands in {at} already, and Mosquitto does not start with a second one; {_WAY_OUT}"
