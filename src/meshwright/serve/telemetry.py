"""What is counted, as Prometheus reads it (text format 0.0.4)."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from threading import Lock

from meshwright.maintain.repairs import Repair

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Histogram:
    """How many values were at most so and so large."""

    def __init__(self) -> None:
        self._counts = [0] * (len(_SECONDS) + 1)
        self._sum = 0.0
        self._lock = Lock()

    def add(self, seconds: float) -> None:
        """Count a value."""
        with self._lock:
            self._counts[bisect_left(_SECONDS, seconds)] += 1
            self._sum += seconds

    def lines(self, name: str) -> Iterator[str]:
        """The lines of its exposition."""
        with self._lock:
            counts, total = list(self._counts), self._sum
        below = 0
        for limit, own in zip((*map(str, _SECONDS), "+Inf"), counts, strict=True):
            below += own
            yield f'{name}_bucket{{le="{limit}"}} {below}'
        yield f"{name}_sum {total!r}"
        yield f"{name}_count {below}"


class Telemetry:
    """The counters of a process; they begin at 0 with it."""

    def __init__(self) -> None:
        self.repaired, self.acknowledged, self.applied = Histogram(), Histogram(), Histogram()
        self.streams = 0
        self._counts: Counter[str] = Counter()
        self._statuses: Counter[int] = Counter()
        self._lock = Lock()

    def count(self, name: str, by: int = 1) -> None:
        """Count something."""
        with self._lock:
            self._counts[name] += by

    def answered(self, status: int) -> None:
        """Count an answer."""
        with self._lock:
            self._statuses[status] += 1

    def follow(self, events: int, repeated: int, refused: int, repair: Repair) -> None:
        """Count what a request did."""
        with self._lock:
            self._counts.update(
                applied=events,
                repeated=repeated,
                refused=refused,
                opened=len(repair.added),
                closed=len(repair.removed),
            )
        if events:
            self.repaired.add(repair.repair_seconds + repair.backup_seconds)

    def exposition(self, gauges: Mapping[str, tuple[str, float]]) -> str:
        """All of it as text; `gauges` are values with their meaning, by name."""
        with self._lock:
            counts, statuses = Counter(self._counts), dict(self._statuses)
        lines: list[str] = []
        for name, (words, value) in gauges.items():
            lines += _headed(name, "gauge", words, [f"meshwright_{name} {value!r}"])
        lines += _headed("streams", "gauge", "Open event streams.", [f"meshwright_streams {self.streams}"])
        for name, (words, label, values) in _COUNTERS.items():
            own = [f'meshwright_{name}{{{label}="{value}"}} {counts[value]}' for value in values]
            lines += _headed(name, "counter", words, own)
        answers = [f'meshwright_requests_total{{status="{n}"}} {of}' for n, of in sorted(statuses.items())]
        lines += _headed("requests_total", "counter", "Answered requests by status.", answers)
        for name, histogram, words in (
            ("repair_seconds", self.repaired, "Time to compute a repair."),
            ("acknowledge_seconds", self.acknowledged, "From the turn of a request to its being on disk."),
            ("apply_seconds", self.applied, "From a look that found a change to its plan being applied."),
        ):
            lines += _headed(name, "histogram", words, histogram.lines(f"meshwright_{name}"))
        return "\n".join(lines) + "\n"


_COUNTERS = {
    "events_total": ("Events by what came of them.", "outcome", ("applied", "repeated", "refused")),
    "links_changed_total": ("Links opened and closed by repairs.", "action", ("opened", "closed")),
    "failures_total": (
        "Requests that could not be written to disk, and journals opened again after an error.",
        "kind",
        ("unwritable", "reopened"),
    ),
    "applies_total": (
        "Applications of plans to brokers, but for those that changed nothing.",
        "outcome",
        ("apply_done", "apply_failed", "apply_stopped"),
    ),
}


def _headed(name: str, kind: str, words: str, lines: Iterable[str]) -> list[str]:
    return [f"# HELP meshwright_{name} {words}", f"# TYPE meshwright_{name} {kind}", *lines]
