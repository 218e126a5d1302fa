"""Limits on what a caller may ask of the control plane, and how often."""

from collections import OrderedDict
from dataclasses import dataclass
from time import monotonic

from meshwright.runtime.errors import OptionError


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What is refused.

    Attributes:
        body: the most bytes of a request's body.
        events: the most events of a request.
        header: the most bytes of a request's line and headers.
        connections: the most connections at a time; others are answered with 503.
        streams: the most open event streams.
        bodies: the most requests with events whose bodies are in memory at a time; others wait.
        requests: the most requests a second of a token, over some seconds.
        patience: seconds that a caller has to send a request's headers, and again its body.
        page: the most rows of a page.
    """

    body: int = 4 << 20
    events: int = 10_000
    header: int = 32 << 10
    connections: int = 512
    streams: int = 256
    bodies: int = 32
    requests: int = 500
    patience: float = 20.0
    page: int = 1_000

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if value <= 0:
                raise OptionError(f"the limit {name} is {value}; give a number above 0", option=name)


class Rates:
    """A bucket for each key: it holds a few seconds' worth of requests, and fills up steadily."""

    _MOST_KEYS = 10_000

    def __init__(self, a_second: float, burst: float) -> None:
        self._a_second, self._burst = a_second, burst
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, key: str) -> float:
        """Take one from a key's bucket; 0 if there was one, else the seconds until there is."""
        now = monotonic()
        level, then = self._buckets.pop(key, (self._burst, now))
        level = min(self._burst, level + (now - then) * self._a_second)
        taken = level >= 1
        self._buckets[key] = (level - taken, now)
        while len(self._buckets) > self._MOST_KEYS:
            self._buckets.popitem(last=False)
        return 0.0 if taken else (1 - level) / self._a_second
