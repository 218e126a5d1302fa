"""Bringing a plan to its brokers, so that it can be stopped at any moment and goes on later.

Before a file is brought, the state says which; after the broker has read it, the state says that it has. So
after a kill, at most one broker is in doubt. It reads its file again, whichever of the two that is: both were
safe.
"""

import time
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from meshwright.deploy.changing import Step, steps_to
from meshwright.deploy.drivers import driver_of
from meshwright.deploy.drivers.driver import HEADER, Driver, Session
from meshwright.deploy.hosts import Host
from meshwright.deploy.plan.plan import Plan
from meshwright.deploy.reaching import Reach, masked
from meshwright.deploy.state import NO_FILE, Entry, State, read_state, sum_of_text, write_state
from meshwright.runtime.atomic_files import locked_folder
from meshwright.runtime.errors import InputError, NetworkError, quoted
from meshwright.runtime.progress import Progress, stage

IN_STEP, EDITED, REMOVED, FOREIGN, UNKNOWN, ABSENT = (
    "in step",
    "edited by hand",
    "removed by hand",
    "not ours",
    "ours, but not in the state",
    "not there yet",
)


class Applied(NamedTuple):
    """What was done."""

    steps: int
    closed: int
    """Steps that closed something, before others opened."""
    forgotten: int
    """Sessions of links that are gone."""
    gap_seconds: float
    """From the first step that closed something to the end of the last that opened."""
    left_behind: tuple[str, ...] = ()
    """Brokers that the plan does not have and that can't be reached; before one of them comes back, its file
    has to be removed: apply again when it can be reached."""


def conditions(plan: Plan, state: State, texts: Mapping[str, str | None]) -> dict[str, str]:
    """By node, whether its file is as we left it."""
    return {node: _condition(state.entries.get(node), text) for node, text in texts.items()}


def _condition(entry: Entry | None, text: str | None) -> str:
    if entry is None:
        if text is None:
            return ABSENT
        return UNKNOWN if text.startswith(HEADER) else FOREIGN
    if (sum_of_text(text) or NO_FILE) in (entry.held or NO_FILE, entry.coming):
        return IN_STEP
    return REMOVED if text is None else EDITED


def hosts_of(plan: Plan, state: State) -> dict[str, Host]:
    """All brokers of a plan, and those that an earlier one had."""
    return {node: entry.host for node, entry in state.entries.items()} | dict(plan.host_of)


def read_files(
    hosts: Mapping[str, Host], needed: Container[str], reach: Reach, progress: Progress | None = None
) -> dict[str, str | None]:
    """The file of every broker.

    Raises:
        NetworkError: one of the plan can't be reached; others that can't are left out.
    """
    found: dict[str, str | None] = {}
    with stage(progress, "reading files", len(hosts)) as tell:
        for node, host in hosts.items():
            try:
                found[node] = reach.read(host)
            except NetworkError:
                if node in needed:
                    raise
            tell(len(found))
    return found


def apply(
    plan: Plan, place: Path, reach: Reach, *, overwrite: bool = False, progress: Progress | None = None
) -> Applied:
    """Bring a plan to its brokers; the state is in the file `place`.

    Guarantee: at no moment does a topic have a cycle of links, if it had none before. Stopped at any moment,
    the next call goes on, with this plan or another. Files that we did not write are not touched.

    Raises:
        InputError: a file was edited by hand, or is not ours.
    """
    driver = driver_of(plan.driver)
    driver.check(plan)
    with locked_folder(place.absolute().parent, f"another process applies with {place}; wait for it"):
        state = read_state(place)
        hosts = hosts_of(plan, state)
        texts = read_files(hosts, plan.host_of, reach, progress)
        _check_ours(conditions(plan, state, texts), overwrite)
        left_behind = tuple(sorted(hosts.keys() - texts.keys()))
        run = _Run(driver, plan, place, reach, state, hosts, left_behind)
        run.settle_doubts(texts)
        done = run.take(steps_to(_masking(driver), plan, texts), texts, progress)
        return done._replace(left_behind=left_behind)


def _masking(driver: Driver) -> Driver:
    """The driver, with rendered files as they are read back."""
    return driver._replace(render=lambda plan, node: masked(driver.render(plan, node)))


def _check_ours(found: Mapping[str, str], overwrite: bool) -> None:
    for node, condition in found.items():
        if condition == FOREIGN:
            raise InputError(
                f"the file of the node {quoted(node)} is there already and not ours; give another path in "
                f"the inventory (config), or move it away"
            )
        if condition in (EDITED, REMOVED, UNKNOWN) and not overwrite:
            raise InputError(
                f"the file of the node {quoted(node)} is {condition}; look at it, and apply with --overwrite "
                f"to replace it; nothing was changed"
            )


class _Run:
    """One application of a plan."""

    def __init__(
        self,
        driver: Driver,
        plan: Plan,
        place: Path,
        reach: Reach,
        state: State,
        hosts: Mapping[str, Host],
        left_behind: Container[str],
    ) -> None:
        self._driver, self._plan, self._place = driver, plan, place
        self._reach, self._state, self._hosts = reach, state, hosts
        self._left_behind, self._forgotten = left_behind, 0

    def settle_doubts(self, texts: Mapping[str, str | None]) -> None:
        """Let a broker at which an earlier run was stopped read its file, whichever it is."""
        for node, entry in list(self._state.entries.items()):
            if entry.coming is not None and node in texts:
                self._reach.reload(self._hosts[node])
                self._forget(entry)
                text = texts[node]
                self._note(node, None if text is None else Entry(self._hosts[node], sum_of_text(text)))

    def take(self, steps: list[Step], texts: Mapping[str, str | None], progress: Progress | None) -> Applied:
        """Take all steps, and say in the end that the plan is applied."""
        now, first_closed, last = dict(texts), None, 0.0
        with stage(progress, "applying", len(steps)) as tell:
            for number, step in enumerate(steps, start=1):
                begun = time.monotonic()
                if step.closes and first_closed is None:
                    first_closed = begun
                self._take(step, now.get(step.node))
                now[step.node], last = step.text, time.monotonic()
                tell(number)
        self._note_end()
        closed = sum(step.closes for step in steps)
        gap = 0.0 if first_closed is None else last - first_closed
        return Applied(len(steps), closed, self._forgotten, round(gap, 3))

    def _take(self, step: Step, before: str | None) -> None:
        host = self._hosts[step.node]
        entry = self._state.entries.get(step.node, Entry(host, sum_of_text(before)))
        coming = Entry(host, entry.held, sum_of_text(step.text) or NO_FILE, self._stale(step, before))
        self._note(step.node, coming)
        self._reach.write(host, None if step.text is None else self._unmasked(step))
        self._reach.reload(host)
        self._forget(coming)
        self._note(step.node, Entry(host, sum_of_text(step.text)) if step.text is not None else None)

    def _unmasked(self, step: Step) -> str:
        """A masked file with references to passwords again: link by link they are those of the plan."""
        assert step.text is not None
        full = self._driver.render(self._plan, step.node)
        if masked(full) == full:
            return step.text
        own = self._driver.read(step.text)
        links = [
            self._driver.narrowed(link, own[name])
            for link in self._plan.opened_by(step.node)
            if (name := self._driver.link_name(*link.ends)) in own
        ]
        others = [link for link in self._plan.links if link.opens != step.node]
        return self._driver.render(self._plan.with_links([*others, *links]), step.node)

    def _stale(self, step: Step, before: str | None) -> tuple[tuple[str, Session], ...]:
        """The sessions of links that a step closes, at both ends, where the broker is known."""
        kept = {each.client for each in self._driver.sessions_of(step.text or "")}
        by_address = {(host.host, host.port): host.node for host in self._hosts.values()}
        own = self._hosts[step.node]
        found: list[tuple[str, Session]] = []
        for session in self._driver.sessions_of(before or ""):
            if session.client not in kept:
                other = by_address.get((session.host, session.port))
                found += [] if other is None else [(other, session)]
                found.append((step.node, Session(f"local.{session.client}", own.host, own.port)))
        return tuple(found)

    def _forget(self, entry: Entry) -> None:
        """Drop sessions of links that are gone."""
        for node, session in entry.stale:
            if node not in self._left_behind:
                self._reach.forget(self._hosts[node], session)
                self._forgotten += 1

    def _note(self, node: str, entry: Entry | None) -> None:
        if entry is None:
            self._state.entries.pop(node, None)
        else:
            self._state.entries[node] = entry
        write_state(self._place, self._state)

    def _note_end(self) -> None:
        self._state.plan = self._plan
        write_state(self._place, self._state)


def status(plan: Plan, place: Path, reach: Reach, progress: Progress | None = None) -> dict[str, Any]:
    """What is at the brokers, against what was applied and against a plan."""
    state = read_state(place)
    texts = read_files(hosts_of(plan, state), plan.host_of, reach, progress)
    found = conditions(plan, state, texts)
    steps = steps_to(_masking(driver_of(plan.driver)), plan, texts)
    doubts = sorted(node for node, entry in state.entries.items() if entry.coming is not None)
    return {
        "applied": None if state.plan is None else state.plan.hash,
        "plan": plan.hash,
        "interrupted_at": doubts,
        "brokers": found,
        "drift": sorted(node for node, each in found.items() if each in (EDITED, REMOVED, FOREIGN, UNKNOWN)),
        "steps": [{"node": step.node, "closes": step.closes, "removes": step.text is None} for step in steps],
    }
