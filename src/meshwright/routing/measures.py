"""Count what happens to publications, by publication and by node, and sum it up."""

from dataclasses import dataclass, field, fields
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from meshwright.kernels.routing.arrays import Tally
from meshwright.model.interests import Interests
from meshwright.net import Happening, Node, What
from meshwright.routing.protocols import Publication
from meshwright.routing.publications import Publications
from meshwright.runtime.arrays import Flags, Offsets


def empty_tally(publications: int, nodes: int) -> Tally:
    """All counts at 0."""
    by_publication = (np.zeros(publications, np.int64) for _ in range(6))
    by_node = (np.zeros(nodes, np.int64) for _ in range(2))
    return Tally(*by_publication, *by_node)


class Counter:
    """Counts what a simulator says of messages that carry publications."""

    def __init__(self, interests: Interests, publications: int) -> None:
        self.tally = empty_tally(publications, interests.node_count)
        self._subscribers = [
            frozenset(interests.node_ids[start:end].tolist())
            for start, end in pairwise(interests.topic_indptr.tolist())
        ]
        self._have: dict[int, set[Node]] = {}

    def note(self, happening: Happening) -> None:
        """Count one thing that happened."""
        number, tally = happening.message.publication.number, self.tally
        if happening.what is What.SENT:
            tally.messages[number] += 1
            tally.sent[happening.source] += 1
        elif happening.what is What.RECEIVED:
            self._count_received(happening)
        elif happening.what is What.DELIVERED:
            tally.deliveries[number] += 1
            tally.hops[number] += happening.message.hops
            tally.longest[number] = max(tally.longest[number], happening.message.hops)

    def _count_received(self, happening: Happening) -> None:
        publication: Publication = happening.message.publication
        have = self._have.setdefault(publication.number, set())
        if happening.source is not None:
            self.tally.received[happening.target] += 1
            if happening.target not in self._subscribers[publication.topic]:
                self.tally.pure_forwards[publication.number] += 1
            elif happening.target in have:
                self.tally.duplicates[publication.number] += 1
        have.add(happening.target)


@dataclass(frozen=True, kw_only=True)
class Routing:
    """What it took to carry publications over an overlay.

    Attributes:
        protocol: by which they were carried.
        publications: how many there were.
        deliveries: copies that reached a subscriber for the first time, issuers left out.
        delivered_fraction: those over the subscribers that had not failed, issuers left out; 1 without any.
        duplicates: copies received by a node that had the publication already.
        pure_forwards: messages received by nodes that are not interested ([4]'s routing overhead).
        messages: all that were sent, those that got lost included; one for each hop.
        average_path_length: hops from the issuer to a subscriber, over all deliveries; None without any.
        maximum_path_length: the greatest of these.
        average_load: messages that a node received and sent, over the nodes that had not failed.
        maximum_load: of the node that had most.
        failed_nodes: how many had failed before the first publication.
        received: messages that each node received, by id.
        sent: messages that each node sent, by id.
        by_publication: a row for each: topic, publisher, messages, pure_forwards, deliveries, duplicates and
            hops, which are those of all its deliveries together.
    """

    protocol: str
    publications: int
    deliveries: int
    delivered_fraction: float
    duplicates: int
    pure_forwards: int
    messages: int
    average_path_length: float | None
    maximum_path_length: int
    average_load: float
    maximum_load: int
    failed_nodes: int
    received: Offsets = field(repr=False, compare=False)
    sent: Offsets = field(repr=False, compare=False)
    by_publication: pa.Table = field(repr=False, compare=False)

    def __str__(self) -> str:
        return "\n".join(f"{name}: {value}" for name, value in self.to_json().items())

    def to_json(self) -> dict[str, Any]:
        """The numbers by name, in JSON's types."""
        return {number.name: getattr(self, number.name) for number in fields(self) if number.repr}


def measured(
    protocol: str, interests: Interests, publications: Publications, alive: Flags, tally: Tally
) -> Routing:
    """The measures of a run."""
    deliveries, hops = int(tally.deliveries.sum()), int(tally.hops.sum())
    expected = int(_wanted(interests, publications, alive).sum())
    load = (tally.received + tally.sent)[alive]
    return Routing(
        protocol=protocol,
        publications=len(publications),
        deliveries=deliveries,
        delivered_fraction=deliveries / expected if expected else 1.0,
        duplicates=int(tally.duplicates.sum()),
        pure_forwards=int(tally.pure_forwards.sum()),
        messages=int(tally.messages.sum()),
        average_path_length=hops / deliveries if deliveries else None,
        maximum_path_length=int(tally.longest.max(initial=0)),
        average_load=float(load.mean()) if len(load) else 0.0,
        maximum_load=int(load.max(initial=0)),
        failed_nodes=int(np.count_nonzero(~alive)),
        received=tally.received,
        sent=tally.sent,
        by_publication=_table(interests, publications, tally),
    )


def _wanted(interests: Interests, publications: Publications, alive: Flags) -> Offsets:
    """By publication, the subscribers that could receive it."""
    reached = np.concatenate([[0], np.cumsum(alive[interests.node_ids])])
    sizes: Offsets = np.diff(reached[interests.topic_indptr])[publications.topics] - 1
    return sizes


def _table(interests: Interests, publications: Publications, tally: Tally) -> pa.Table:
    named = {
        "topic": pa.DictionaryArray.from_arrays(pa.array(publications.topics), interests.topics),
        "publisher": pa.DictionaryArray.from_arrays(
            pa.array(publications.issuers(interests)), interests.nodes
        ),
    }
    counted = ("messages", "pure_forwards", "deliveries", "duplicates", "hops")
    return pa.table(named | {name: pa.array(getattr(tally, name)) for name in counted})
