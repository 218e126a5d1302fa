"""The options of gossip overlays, in a module of their own: importing it loads no kernel."""

from dataclasses import dataclass

from meshwright.runtime.checks import Checked, choice, flag, fraction, is_number, whole_number
from meshwright.runtime.errors import OptionError

LINKS = ("walks", "omniscient", "random")
ROUNDINGS = ("up", "down")
MEMBERSHIPS = ("random", "scamp")
MOST_STEPS = 1_000_000
"""A walk that is longer than the diameter of its topic meets no new nodes."""


@dataclass(frozen=True, kw_only=True)
class StanOptions(Checked):
    """Views, and how their links are chosen.

    Attributes:
        rounds: how many walks each node sends out in each of its topics; 8 as in [5], 3.3.
        ttl: how many times a walk is passed on after its first step, near the diameter of a topic; up to a
            million.
        connected: the probability that a topic's random views are connected, which sets their size.
        view_size: how many peers a view has in every topic, limited to the size of the topic; by default,
            `connected` sets it.
        rounding: how the size that `connected` sets becomes a whole number, `up` or `down`; [5] does not say.
        learn: let nodes take peers from the walks of others too.
        slowest: let topics wait for more rounds, up to this many, while walks find nothing new.
        loss: the probability that a message is lost.
        links: chosen by `walks` (StaN); `omniscient`, the limit that walks approach, where each node knows
            all subscribers of its topics; or `random`, as they were at first.
    """

    rounds: int = whole_number(8, 0)
    ttl: int = whole_number(5, 0, MOST_STEPS)
    connected: float = fraction(0.99, below_one=True)
    view_size: int | None = whole_number(None, 1)
    rounding: str = choice("up", ROUNDINGS)
    learn: bool = flag(False)
    slowest: int = whole_number(1, 1)
    loss: float = fraction(0.0)
    links: str = choice("walks", LINKS)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.connected:
            raise OptionError(
                "connected is 0, which leaves views empty; give a fraction above 0", option="connected"
            )


@dataclass(frozen=True, kw_only=True)
class SimulationOptions(Checked):
    """What the simulator adds: how views begin, how messages travel, and who comes and goes.

    Attributes:
        membership: views begin `random`, or as `scamp` makes them while nodes join one after another.
        copies: Scamp's c.
        delay: the mean time that a message takes, in periods; each takes an exponentially distributed one.
        churn: the share of nodes that crash in each round, without notice; each comes back one round later,
            with only a contact in each of its topics.
        keep_alive: send keep-alive messages, as churn always does. A node that is in no view then notices,
            and subscribes again.
        patience: after how many unanswered messages in a row a peer is dropped.
    """

    membership: str = choice("random", MEMBERSHIPS)
    copies: int = whole_number(4, 0)
    delay: float = 0.01
    churn: float = fraction(0.0, below_one=True)
    keep_alive: bool = flag(False)
    patience: int = whole_number(4, 1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_number(self.delay) or not 0 <= self.delay < 1:
            raise OptionError(
                f"delay is {self.delay!r}; give a number of rounds, at least 0 and under 1", option="delay"
            )
