"""What can be told about links only when the brokers at both of their ends are known."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from meshwright.deploy.clusters import Clusters
from meshwright.deploy.mesh import Broker, Door, Flow, Note
from meshwright.filters.filter import Filter
from meshwright.runtime.errors import quoted

_DIALECTS = {"mosquitto": "mqtt", "nats": "nats", "rabbitmq": "amqp", "zenoh": "zenoh"}


def settle(brokers: Sequence[Broker], flows: Iterable[Flow]) -> tuple[list[Flow], list[Note]]:
    """Flows between brokers whose names are known: through the doors at which they arrive, and full meshes.

    A link that the broker at its other end refuses carries nothing and is left out, with a note.
    """
    by_name = {broker.name: broker for broker in brokers}
    flows = list(flows)
    settled: list[Flow] = []
    notes: dict[Note, None] = {}
    for flow in flows:
        found = [] if flow.meshed else _through_door(flow, by_name)
        if isinstance(found, Note):
            notes[found] = None
        else:
            settled.extend(found)
    clusters = Clusters(
        [flow for flow in flows if flow.meshed and {flow.source, flow.target} <= by_name.keys()], brokers
    )
    settled, said = clusters.with_leaf_links(settled)
    return [*settled, *clusters.full_meshes(settled)], [*notes, *said]


def _through_door(flow: Flow, by_name: Mapping[str, Broker]) -> list[Flow] | Note:
    """What a door leaves of a flow; a note if it is closed for it."""
    broker = by_name.get(flow.source if flow.pulls else flow.target)
    if broker is None or flow.source == flow.target:
        return [flow]
    if not broker.doors:
        return _account_unknown(flow, broker) if flow.refuses_loops else [flow]
    door = _door_of(broker, flow.user)
    if door is None:
        return _refused(flow, broker)
    return list(_limited(flow, door, _DIALECTS[broker.kind]))


def _door_of(broker: Broker, user: str | None) -> Door | None:
    named = {door.user: door for door in broker.doors}
    if user in named:
        return named[user]
    return named[None] if len(named) == 1 and None in named else None


def _account_unknown(flow: Flow, broker: Broker) -> Note:
    message = (
        f"no file tells which account of {quoted(broker.name)} this link joins; lint does not follow the link"
    )
    return Note("not-decided", "note", message, flow.place)


def _refused(flow: Flow, broker: Broker) -> Note:
    who = "without a user" if flow.user is None else "as a user that its file does not name"
    message = f"this link logs in at {quoted(broker.name)} {who}; add the user, or lint can't follow the link"
    return Note("not-decided", "warning", message, flow.place)


def _limited(flow: Flow, door: Door, dialect: str) -> Iterator[Flow]:
    """The parts of a flow that a door lets through."""
    allowed, denied = (door.gives, door.gives_not) if flow.pulls else (door.takes, door.takes_not)
    limited = flow._replace(denies=(*flow.denies, *denied))
    if flow.refuses_loops and not flow.pulls:
        limited = limited._replace(stopped_by_wildcards=(*flow.stopped_by_wildcards, *door.gives_not))
    if door.account is not None and flow.pulls:
        limited = limited._replace(account=door.account)
    elif door.account is not None:
        limited = limited._replace(target_account=door.account)
    if allowed is None:
        yield limited
        return
    for text in dict.fromkeys(allowed):
        for both in Filter(flow.filter, dialect).intersect(Filter(text, dialect)):
            yield limited._replace(filter=both.text)
