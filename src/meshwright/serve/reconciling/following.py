"""What brokers follow: the plan that was applied, and bringing them another, again and again if need be."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from meshwright.deploy import applying
from meshwright.deploy.applying import Applied
from meshwright.deploy.plan.plan import Plan
from meshwright.deploy.reaching import Reach
from meshwright.deploy.state import read_state
from meshwright.runtime.errors import MeshwrightError
from meshwright.serve.limits import Rates
from meshwright.serve.reconciling.reach import FleetReach, PausedError
from meshwright.serve.telemetry import Telemetry

_LONGEST_PAUSE = 60.0


class Following:
    """The state of what was applied, and the turns in which something is applied.

    Guarantee: a failure is tried again, after ever longer pauses, and never more often than a number of times
    a minute. Brokers that were left behind since they could not be reached are taken along when they are
    back.
    """

    def __init__(
        self,
        place: Path,
        reach: Reach,
        up: Callable[[], Mapping[str, bool]],
        is_paused: Callable[[], bool],
        a_minute: int,
        telemetry: Telemetry,
    ) -> None:
        self._place, self._up, self._telemetry = place, up, telemetry
        self._reach = FleetReach(reach, lambda node: up().get(node) is False, is_paused)
        self._a_minute, self._rates = a_minute, Rates(a_minute / 60, a_minute)
        self._retry_at, self._pause = 0.0, 1.0
        self.trouble = ""
        self.busy = False
        self.last: dict[str, Any] | None = None
        self.noticed: float | None = None
        """When the change that is to be applied was noticed, for the time that all of it takes."""
        self._recall()
        self._left_behind = self._unfinished

    def _recall(self) -> None:
        state = read_state(self._place)
        self.plan = state.plan
        self.hash = None if state.plan is None else state.plan.hash
        nodes = () if state.plan is None else state.plan.host_of
        entries = state.entries.items()
        self._doubts = any(entry.coming is not None for node, entry in entries if node in nodes)
        self._unfinished = frozenset(node for node, entry in entries if node not in nodes and not entry.left)

    def follow(self, plan: str) -> bool:
        """Whether all brokers that run follow a plan, those included that were left behind earlier."""
        up = self._up()
        back = any(up.get(node) for node in self._left_behind)
        return plan == self.hash and not self._doubts and not back

    @property
    def is_untidy(self) -> bool:
        """Whether brokers that are down have files to be changed that take a while to reach."""
        return self._reach.tidying

    def hurry(self) -> None:
        """Something has changed: try again at once."""
        self._retry_at, self._pause = 0.0, 1.0

    def may_try(self, now: float) -> bool:
        """Whether the pause after a failure is over."""
        return now >= self._retry_at

    def try_out(self, plan: Plan) -> dict[str, Any]:
        """What applying a plan would do; nothing is changed."""
        return applying.status(plan, self._place, self._reach)

    def bring(self, plan: Plan, now: float) -> Applied | None:
        """Apply a plan; None if it could not be, which `trouble` says, or was stopped."""
        seconds = self._rates.wait("apply")
        if seconds:
            self._retry_at = now + seconds
            self.trouble = f"{self._a_minute} plans were applied within a minute; the next one waits"
            return None
        self.busy = True
        try:
            done = applying.apply(plan, self._place, self._reach)
            self._note(plan, done)
            return done
        except PausedError:
            self._telemetry.count("apply_stopped")
        except MeshwrightError as error:
            self._telemetry.count("apply_failed")
            self.trouble = str(error)
            self._retry_at, self._pause = now + self._pause, min(2 * self._pause, _LONGEST_PAUSE)
        finally:
            self.busy = False
            self._recall()
        return None

    def _note(self, plan: Plan, done: Applied) -> None:
        self.trouble = ""
        self._pause = 1.0
        self._left_behind = frozenset(done.left_behind)
        self._reach.tidying = bool(done.left_behind) and not self._reach.tidying
        if not done.steps:
            return
        seconds = None if self.noticed is None else time.monotonic() - self.noticed
        self.noticed = None
        self._telemetry.count("apply_done")
        if seconds is not None:
            self._telemetry.applied.add(seconds)
        self.last = {
            "plan": plan.hash,
            "steps": done.steps,
            "gap_seconds": done.gap_seconds,
            "seconds": None if seconds is None else round(seconds, 3),
            "left_behind": list(done.left_behind),
        }
