"""A mesh of brokers as their configuration describes it: brokers, and what flows over the links between them.

Every reader of a configuration format makes these, and the analysis reads nothing else.
"""

from typing import NamedTuple

SERVICE_STAGE, MESHED_STAGE, STREAM_STAGE = 1, 2, 3
"""Of NATS: the stages of imports of services, of routes and gateways, and of imports of streams."""


class Place(NamedTuple):
    """Where a configuration says something."""

    file: str
    line: int
    """Counted from 1; 0 where the format has no lines that can be told."""


class Door(NamedTuple):
    """What links that others open to a broker join there, and what they may carry."""

    user: str | None = None
    """As whom a link logs in; None: all that are not named by another door."""
    account: str | None = None
    takes: tuple[str, ...] | None = None
    """Filters of what may come in; None: everything."""
    gives: tuple[str, ...] | None = None
    """Filters of what may go out; None: everything."""
    takes_not: tuple[str, ...] = ()
    gives_not: tuple[str, ...] = ()


class Broker(NamedTuple):
    """One broker."""

    name: str
    """Unique in the mesh."""
    kind: str
    """mosquitto, nats, rabbitmq or zenoh."""
    place: Place
    addresses: tuple[str, ...]
    """`host:port` under which others may name it; without a host, the port alone (`:1883`)."""
    version: str | None = None
    subscribes: tuple[str, ...] = ()
    """Filters of its clients."""
    publishes: tuple[str, ...] = ()
    """Filters of the names that its clients may publish."""
    clients_known: bool = False
    """Whether these two are all; otherwise nothing is known of its clients."""
    doors: tuple[Door, ...] = ()
    """Empty where links that others open are not limited."""
    duplicates: bool | None = None
    """Mosquitto: whether overlapping subscriptions deliver twice; None where the version decides."""
    relays: bool = True
    """Whether what comes by one link goes on by all others; clients and peers of Zenoh don't do that."""
    is_client: bool = False
    """Zenoh: a client; a peer passes on what comes from its clients, or is for them."""
    gossips: bool = False
    """Zenoh: a peer that opens links to all peers of which its neighbours tell it."""
    cluster: str | None = None
    """NATS: the name of its cluster, also where it makes one up for itself; None where it has none."""
    scouts: bool = False
    """Zenoh: it also opens links that no file names, to whom it finds by multicast."""

    def passes(self, before: "Broker", after: "Broker") -> bool:
        """Whether what comes from one broker goes on to another, if there are links and filters for it.

        Of Zenoh, measured with 1.10.2. Peers that gossip open a link of their own to each other, so that a
        message that would go through one of them gets there all the same.
        """
        if self.relays or self.is_client:
            return self.relays
        among_peers = before.gossips and self.gossips and after.gossips
        return before.is_client or after.is_client or among_peers


class Flow(NamedTuple):
    """One line of one link, in one direction: what crosses from source to target."""

    source: str
    """The name of a broker, or an address as written where it is no broker of the mesh."""
    target: str
    filter: str
    """What is taken at the source, in the source's namespace, in the dialect of its kind."""
    strip: str
    """The prefix that is removed from a name."""
    add: str
    """The prefix that is put before the rest."""
    link: str
    """The connection; a message never returns over the one it came by, unless this `echoes`."""
    place: Place
    subscription: str | None = None
    """Mosquitto: the filter that it subscribes to, where the flow is only a part of it."""
    qos: int | None = None
    prefixed: bool = False
    """Mosquitto: the line has a prefix, and comes before those of its link that have none."""
    echoes: bool = False
    """What came over the link may go back over it, as with Mosquitto's `try_private false` and `$share`."""
    doubles: bool = False
    """Overlapping lines of this link deliver twice."""
    apart_from_routes: bool = False
    """NATS: the server that opened the link passes nothing on between it and the routes of its cluster."""
    account: str | None = None
    """NATS: the account at the source."""
    target_account: str | None = None
    most_hops: int | None = None
    """RabbitMQ: a federation link carries what has crossed fewer links than this."""
    refuses_loops: bool = False
    """NATS leaf nodes: the server refuses a link that closes a cycle, and the link carries nothing."""
    may_be_refused: bool = False
    """NATS leaf nodes: the server keeps or refuses the link, by the order in which servers start."""
    once: bool = False
    """Zenoh: routers in cycles deliver exactly once."""
    denies: tuple[str, ...] = ()
    """Filters of names that don't cross although `filter` matches them."""
    routes_once: bool = False
    """RabbitMQ: a binding; a message goes once to each queue and exchange, whatever bindings lead there."""
    competes_for: str | None = None
    """RabbitMQ's queue, or MQTT's group, for which it takes messages; of several flows, one gets each."""
    stopped_by_wildcards: tuple[str, ...] = ()
    """NATS: filters of names that cross only while nobody subscribes with wildcards."""
    becomes: str | None = None
    """The name that everything gets; `strip` and `add` are empty then."""
    on_demand: bool = False
    """Only what somebody behind the target wants crosses: the brokers tell each other."""
    pulls: bool = False
    """The target opened the link, rather than the source."""
    user: str | None = None
    """As whom the link logs in at the broker to which it was opened."""
    meshed: bool = False
    """NATS: all servers that such flows connect form a full mesh, in which a message goes one step."""
    is_route: bool = False
    """NATS: it is between servers of one cluster; other meshed flows are gateways."""
    stage: int = 0
    """Steps inside a system come in this order: a flow of a stage above 0 is not taken after a higher one."""


class Note(NamedTuple):
    """What a reader has to say itself: an unknown directive, a secret, an unreadable file."""

    rule: str
    severity: str
    """error, warning or note."""
    message: str
    place: Place
    witness: "Witness | None" = None


class Witness(NamedTuple):
    """A message that shows what is wrong: brokers and accounts on its two ways, with the lines to each."""

    topic: str
    one: tuple[tuple[str, str | None, Place | None], ...]
    other: tuple[tuple[str, str | None, Place | None], ...]


class Parsed(NamedTuple):
    """What one configuration says."""

    brokers: list[Broker]
    flows: list[Flow]
    """Sources and targets may still be addresses."""
    notes: list[Note]
    suppressions: list[tuple[Place, str, str]]
    """Place, rule and reason of each comment `# meshwright: ignore RULE: reason`."""
    included: tuple[str, ...] = ()
    """Other files that were read with this one, and are no brokers of their own."""
