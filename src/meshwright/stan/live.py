"""The gossip protocols themselves, on real sockets: an engine for `gossip`."""

import logging
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, get_args

import numpy as np

from meshwright.model.views import Views
from meshwright.net import Node
from meshwright.net.live.network import Live
from meshwright.net.live.options import LiveOptions
from meshwright.runtime.errors import OptionError
from meshwright.runtime.progress import Progress, stage
from meshwright.stan.local_views import Weights
from meshwright.stan.lock_step import Watch
from meshwright.stan.messages import Message, Traffic, TrafficCounter
from meshwright.stan.options import SimulationOptions, StanOptions
from meshwright.stan.peer import Peer
from meshwright.stan.simulation import Scene, carry_rounds

MESSAGES: tuple[type, ...] = get_args(Message)

_IDLE_ROUNDS = 4
"""How long a connection that no view needs stays open: the next reply to that node may come soon."""

_log = logging.getLogger("meshwright.stan")


def load_kernels() -> None:
    """Choose once, since the first choice of a process loads what chooses, and takes a second or more."""
    Weights(np.zeros(2, np.uint64)).lightest(0, [1], 1)


def linked_peers(peer: Peer) -> Collection[Node]:
    """The nodes that a peer keeps a connection to: each once, however many of its views they are in."""
    return peer.views.links().keys()


@dataclass(kw_only=True)
class LiveEngine:
    """Runs gossip on real sockets of this machine, with a round every `seconds` seconds.

    The protocols, their views and random streams, and what is measured are the simulator's; delay is whatever
    the machine makes of it. Connections follow the views: one for each pair of nodes of which one has the
    other in a view, and others that a reply to a walk needed, for some rounds more.

    Attributes:
        seconds: how long a round takes.
        processes: over how many the nodes are spread.
        port: of node 0, the others after it; None for ports that are free.
        facts: what the last run says beside the measures: seconds in all; bytes written; connections that
            were opened, and that were open in the end; the longest time that a timer had to wait; and how
            often something came that should not have.
    """

    seconds: float = 1.0
    processes: int = 2
    port: int | None = None
    facts: dict[str, Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if not 0 < self.seconds < np.inf:
            raise OptionError(
                f"a round takes {self.seconds!r} seconds (--round-seconds); give a number above 0"
            )
        LiveOptions(messages=MESSAGES, port=self.port, processes=self.processes)  # which checks them

    def __call__(
        self,
        views: Views,
        options: StanOptions,
        conditions: SimulationOptions,
        seed: int,
        watch: Watch | None = None,
        progress: Progress | None = None,
    ) -> tuple[Views, Traffic]:
        """StaN on every node from `views` on: see `carry_rounds`."""
        scene, counter, began = Scene(views, options, conditions, seed), TrafficCounter(), monotonic()
        how = LiveOptions(
            messages=MESSAGES,
            unit=self.seconds,
            prepare=load_kernels,
            holds=linked_peers,
            idle=_IDLE_ROUNDS * self.seconds,
            loss=options.loss,
            port=self.port,
            processes=self.processes,
            seed=seed,
        )
        with ExitStack() as stack:
            with stage(progress, "starting nodes"):
                live = stack.enter_context(Live(scene.peers(), how, watch=counter.note))
            carried = carry_rounds(live, counter, scene, watch, progress)
        self.facts = _facts(live, monotonic() - began)
        if live.late > self.seconds:
            _log.warning(
                "a node waited %.2g s for the machine, longer than a round of %.2g s; give rounds more time",
                live.late,
                self.seconds,
            )
        return carried


def _facts(live: Live[Message], seconds: float) -> dict[str, Any]:
    traffic = live.traffic
    return {
        "live_seconds": round(seconds, 3),
        "live_bytes": traffic.bytes,
        "live_connections_opened": traffic.opened,
        "live_connections_open": traffic.open // 2,
        "live_latest_timer_seconds": round(live.late, 4),
        "live_complaints": live.complaints.total(),
    }
