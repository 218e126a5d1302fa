"""When a broker that comes and goes counts as gone, and when as back."""

from math import inf


class Damper:
    """Tells which changes of brokers are due.

    Guarantee: between two changes of a broker there is at least a window, so any number of flaps gives at
    most one change in a window. The first failure is due as soon as it is seen. A broker counts as back only
    after a whole window in which it was never seen down. The clock is the caller's; it must not go back.
    """

    def __init__(self, window: float) -> None:
        self.window = window
        self._up_since: dict[str, float] = {}
        self._changed: dict[str, float] = {}

    def see(self, node: str, up: bool, now: float) -> None:
        """A broker was seen up or down."""
        if up:
            self._up_since.setdefault(node, now)
        else:
            self._up_since.pop(node, None)

    def _may_change(self, node: str, now: float) -> bool:
        return now - self._changed.get(node, -inf) >= self.window

    def is_gone(self, node: str, now: float) -> bool:
        """Whether a broker that was there is due to leave."""
        return node not in self._up_since and self._may_change(node, now)

    def is_back(self, node: str, now: float) -> bool:
        """Whether a broker that was gone is due to return."""
        return now - self._up_since.get(node, inf) >= self.window and self._may_change(node, now)

    def change(self, node: str, now: float) -> None:
        """A change of a broker was made."""
        self._changed[node] = now
