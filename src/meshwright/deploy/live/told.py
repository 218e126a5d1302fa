"""What is asked of brokers that run, and what they tell."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.error import URLError
from urllib.request import urlopen

from meshwright.deploy.hosts import Host
from meshwright.runtime.errors import InputError, NetworkError, quoted

_SECONDS = 30


@dataclass(frozen=True, kw_only=True)
class Asked:
    """How brokers are asked."""

    seconds: float = 0.0
    """How long to listen to brokers that tell only what changes."""
    database: str = ""
    """Where brokers keep subscriptions on disk, by path on their machines."""


class Told(NamedTuple):
    """Interests and costs by the names of nodes, sorted, each once."""

    interests: list[tuple[str, str]]
    """Node, and a topic or filter that somebody at it has subscribed to."""
    costs: Sequence[tuple[str, str, float]] = ()
    """Two nodes, and milliseconds of a round trip over the link between them."""


def fetched(host: Host, path: str, key: str = "server_id") -> dict[str, Any]:
    """What the monitor of a broker answers; its answers to this path always have the key."""
    if not host.admin:
        raise InputError(
            f"the node {quoted(host.node)} has no admin in the inventory; give the address of its monitor, "
            f"such as http://{host.host}:8222"
        )
    try:
        with urlopen(f"{host.admin.rstrip('/')}{path}", timeout=_SECONDS) as answer:
            told = json.load(answer)
        if not isinstance(told, dict) or key not in told:
            raise ValueError(f"its answer to {path} has no {key}")
        return told
    except (URLError, OSError, ValueError) as error:
        raise NetworkError(
            f"the monitor of {quoted(host.node)} at {host.admin} can't be asked: {error}; check its admin in "
            f"the inventory"
        ) from None
