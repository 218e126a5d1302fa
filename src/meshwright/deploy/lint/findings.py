"""What lint says: one finding, with its witness."""

from typing import NamedTuple

from meshwright.deploy.mesh import Place
from meshwright.runtime.errors import visible

RULES = {
    "loop": "Messages go round for ever.",
    "growing-loop": "Messages go round, and their names grow with each turn.",
    "both-ends": "A link is declared at both ends.",
    "doubled-delivery": "A message arrives more than once.",
    "overlapping-lines": "Lines of one link match the same names, and each of them delivers.",
    "refused-link": "NATS refuses a leaf node connection that closes a cycle.",
    "unreachable": "A subscriber does not get what it subscribes to.",
    "carries-unwanted": "A link carries what nobody behind it wants.",
    "useless-line": "A line does nothing.",
    "secret": "A secret is written in the file.",
    "unknown-directive": "A directive is not known.",
    "unreadable": "A file or a line can't be read.",
    "unknown-broker": "A link leads to a broker that is not in the mesh.",
    "not-decided": "Lint can't tell.",
}
"""By rule, what it is about."""

SEVERITIES = ("error", "warning", "note")


class Stop(NamedTuple):
    """Where a message of a witness is, what it is called there, and the line that brought it."""

    broker: str
    name: str
    place: Place | None = None
    account: str | None = None
    """NATS: the account in which it is there, where that is known."""

    @property
    def where(self) -> str:
        """The broker, with its account."""
        broker = visible(self.broker)
        return broker if self.account is None else f"{broker} [{visible(self.account)}]"


class Finding(NamedTuple):
    """Something that is wrong."""

    rule: str
    severity: str
    message: str
    place: Place
    topic: str | None = None
    path: tuple[Stop, ...] = ()
    other_path: tuple[Stop, ...] = ()
    """The second way, where a message comes by two."""
    reason: str | None = None
    """Why it is suppressed, if it is."""

    @property
    def places(self) -> list[Place]:
        """All lines that take part."""
        stops = (stop.place for stop in (*self.path, *self.other_path) if stop.place is not None)
        return list(dict.fromkeys([self.place, *stops]))
