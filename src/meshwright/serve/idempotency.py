"""Idempotency keys: the ids that a key gives to events, and the request that each key belongs to."""

import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import sha256

from meshwright.model.events import Event
from meshwright.runtime.errors import MeshwrightError

_FORM = re.compile(r"key:([0-9a-f]{16}):\d+:(.*)", re.DOTALL)


class KeyReusedError(MeshwrightError):
    """A key was given for another request before."""


def with_ids(events: Iterable[Event], key: str, body: bytes) -> list[Event]:
    """Events, those without an id with one made of their request's key, its body, and their place in it."""
    mark = sha256(body).hexdigest()[:16]
    return [
        replace(event, id=f"key:{mark}:{number}:{key}") if event.id is None else event
        for number, event in enumerate(events, 1)
    ]


class Keys:
    """The last `most` keys, with the fingerprint of the body that each came with.

    They are in the ids that the journal remembers, so they outlive a restart as long as these do.
    """

    def __init__(self, most: int, ids: Iterable[str]) -> None:
        self._most = most
        self._bodies: OrderedDict[str, str] = OrderedDict()
        self._add(ids)

    def check(self, events: Sequence[Event]) -> None:
        """Refuse events whose key was given for another body: they would be taken for repeated ones."""
        for key, body in _found(event.id for event in events):
            if self._bodies.get(key, body) != body:
                raise KeyReusedError(
                    f"the Idempotency-Key {key!r} was given for a request with another body; give each "
                    f"request a key of its own"
                )

    def add(self, events: Sequence[Event]) -> None:
        """Remember the keys of events that were applied."""
        self._add(event.id for event in events)

    def _add(self, ids: Iterable[str | None]) -> None:
        self._bodies |= dict(_found(ids))
        while len(self._bodies) > self._most:
            self._bodies.popitem(last=False)


def _found(ids: Iterable[str | None]) -> Iterable[tuple[str, str]]:
    """The keys, and fingerprints of bodies, in ids that were made of keys."""
    for own in ids:
        if own is not None and own.startswith("key:") and (parts := _FORM.fullmatch(own)):
            yield parts[2], parts[1]
