"""All meshes of the corpus at once, as real brokers, and what is heard at each of them.

First every message whose copies come to an end is published, in all meshes at a time. Then come the others, a
mesh at a time: a loop takes all the processor time it gets, so its brokers end as soon as it is proven.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import NamedTuple

from meshwright.deploy.fleet.processes import group, reserved_ports
from tests.brokers.corpus import Copies, Mesh, Publication
from tests.brokers.running import Running

_REPEATS = 3
_QUIET_SECONDS = 1.0
# How long to wait for what may never come. Only a mesh that is not as expected takes so long.
_IN_VAIN_SECONDS = 30.0
# A bridge that finds nobody at first tries again after 5 s.
_LINKING_SECONDS = 300.0


class Outcome(NamedTuple):
    """What the brokers of one mesh did."""

    heard: list[dict[str, Copies]]
    """The copies of each publication at each broker where there are any."""
    logs: str


class Trial:
    """A publication of a mesh, published as often as asked, under a number of its own each time."""

    _numbers = count()

    def __init__(self, running: Running, publication: Publication) -> None:
        self.running, self.publication = running, publication
        self._expected = {
            at: sorted(copies) if isinstance(copies, list) else copies
            for at, copies in publication.heard.items()
        }
        self._published: list[bytes] = []

    def publish(self, times: int) -> None:
        """Publish it so many times; what was published before does not count any more."""
        self._published = [b"%d" % next(self._numbers) for _ in range(times)]
        for payload in self._published:
            self.running.publish(self.publication, payload)

    def is_as_expected(self) -> bool:
        return self.heard() == self._expected

    def heard(self) -> dict[str, Copies]:
        """What is heard each time; if that differs, the first time that it is not what is expected."""
        outcomes = [self.running.heard(payload) for payload in self._published]
        return next((heard for heard in outcomes if heard != self._expected), self._expected)


def run(meshes: list[Mesh], folder: Path) -> dict[str, Outcome]:
    """What the brokers of each mesh do; they have ended when it is known."""
    with ExitStack() as held:
        ports = iter(held.enter_context(reserved_ports(sum(len(mesh.ports) for mesh in meshes))))
        fleet = [
            Running(mesh, folder / mesh.name, {name: next(ports) for name in mesh.ports}) for mesh in meshes
        ]
        processes = held.enter_context(group())
        for running in fleet:
            running.start(processes)
        return asyncio.run(_observe(fleet))


async def _observe(fleet: list[Running]) -> dict[str, Outcome]:
    trials = {
        running.mesh.name: [Trial(running, each) for each in running.mesh.publications] for running in fleet
    }
    try:
        await _link(fleet)
        for running in fleet:
            await running.listen()
        await _publish_what_ends(fleet, [each for several in trials.values() for each in several])
        for running in fleet:
            await _publish_what_does_not_end(trials[running.mesh.name])
            running.end()
    finally:
        for running in fleet:
            await running.close()
    return {
        running.mesh.name: Outcome([each.heard() for each in trials[running.mesh.name]], running.logs())
        for running in fleet
    }


async def _link(fleet: list[Running]) -> None:
    if not await _within(_LINKING_SECONDS, lambda: all(running.is_linked() for running in fleet)):
        late = [running.mesh.name for running in fleet if not running.is_linked()]
        raise AssertionError(f"not linked after {_LINKING_SECONDS:.0f} s: {', '.join(late)}")


async def _publish_what_ends(fleet: list[Running], trials: list[Trial]) -> None:
    ending = [trial for trial in trials if trial.publication.ends]
    await asyncio.gather(*map(_warm_up, ending))
    for trial in ending:
        trial.publish(_REPEATS)
    await _within(_IN_VAIN_SECONDS, lambda: all(trial.is_as_expected() for trial in ending))
    await _quiet(fleet)


async def _publish_what_does_not_end(trials: list[Trial]) -> None:
    for trial in trials:
        if not trial.publication.ends:
            await _warm_up(trial, _IN_VAIN_SECONDS / 3)


async def _warm_up(trial: Trial, patience: float = 0.3) -> None:
    """Publish until brokers have told each other who listens, which NATS does not wait for."""
    end = time.monotonic() + _IN_VAIN_SECONDS
    while time.monotonic() < end:
        trial.publish(1)
        if await _within(patience, trial.is_as_expected):
            return


async def _quiet(fleet: list[Running]) -> None:
    """Wait until no copy arrives any more, unless some mesh has a loop that it should not have."""
    end, heard = time.monotonic() + _IN_VAIN_SECONDS, -1
    while heard != (now := sum(running.heard_in_all() for running in fleet)) and time.monotonic() < end:
        heard = now
        await asyncio.sleep(_QUIET_SECONDS)


async def _within(seconds: float, condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.02)
    return True
