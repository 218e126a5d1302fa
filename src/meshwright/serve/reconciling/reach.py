"""Reaching the brokers of a fleet of which some are down, until somebody pulls the kill switch."""

from collections.abc import Callable

from meshwright.deploy.drivers.driver import Session
from meshwright.deploy.hosts import Host
from meshwright.deploy.reaching import Commands, Reach
from meshwright.runtime.errors import MeshwrightError, NetworkError


class PausedError(MeshwrightError):
    """The kill switch was pulled, or the process ends: nothing more is brought to brokers."""


class FleetReach:
    """Changes brokers that run; of those that are down, it changes the files, for when they come back.

    Otherwise a broker that comes back would open the links that it had, beside those that have replaced them.
    Machines that have to be reached over a network are given a second for that, and only if `tidying`: what
    waits for a repair must not wait for a machine that is down.
    """

    def __init__(self, reach: Reach, is_down: Callable[[str], bool], is_paused: Callable[[], bool]) -> None:
        self._reach, self._is_down, self._is_paused = reach, is_down, is_paused
        self._quick: Reach | None = Commands(patience=1.0) if isinstance(reach, Commands) else None
        self.in_parts = reach.in_parts
        self.tidying = False

    def _to(self, host: Host) -> Reach:
        if not self._is_down(host.node):
            return self._reach
        if self._quick is None or (host.reach != "local" and not self.tidying):
            raise NetworkError(f"the broker of {host.node!r} is down")
        return self._quick

    def read(self, host: Host) -> str | None:
        """Its file, with passwords masked; None where there is none."""
        return self._to(host).read(host)

    def check(self, host: Host, text: str | None) -> None:
        """Refuse a broker that runs and can't be written to."""
        if not self._is_down(host.node):
            self._reach.check(host, text)

    def version(self, host: Host) -> str:
        """The version that a broker tells; one that is down tells none."""
        return "" if self._is_down(host.node) else self._reach.version(host)

    def check_forget(self, host: Host) -> None:
        """Refuse a broker that runs and can't be asked to drop sessions."""
        if not self._is_down(host.node):
            self._reach.check_forget(host)

    def write(self, host: Host, text: str | None) -> None:
        """Put a file in place; not any more if the kill switch was pulled."""
        if self._is_paused():
            raise PausedError("the kill switch was pulled while a plan was applied; resume to go on")
        self._to(host).write(host, text)

    def reload(self, host: Host) -> None:
        """Let a broker that runs read its file."""
        if not self._is_down(host.node):
            self._reach.reload(host)

    def forget(self, host: Host, session: Session) -> None:
        """Drop what a broker that runs keeps for a link that is gone."""
        if not self._is_down(host.node):
            self._reach.forget(host, session)

    def listens(self, host: Host) -> bool | None:
        """Whether a broker that runs accepts connections; one that is down keeps nobody waiting."""
        return None if self._is_down(host.node) else self._reach.listens(host)
