"""Bringing a plan to its brokers, so that it can be stopped at any moment and goes on later.

Before a file is brought, the state says which; after the broker has read it, the state says that it has. So
after a kill, at most one broker is in doubt. It reads its file again, whichever of the two that is: both were
safe. A broker that has left the plan must not stop the others: if it is down, it is left behind, and said so.
"""

import time
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from meshwright.deploy.changing import Step, steps_to
from meshwright.deploy.drivers import driver_of
from meshwright.deploy.drivers.driver import Driver, Session, is_ours
from meshwright.deploy.hosts import Host
from meshwright.deploy.management import Management, check_reachable_by_http
from meshwright.deploy.places import check_places, placed
from meshwright.deploy.plan.plan import Plan
from meshwright.deploy.reaching import Commands, Reach, check_reachable, masked
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
_AT_A_TIME = 8


class Applied(NamedTuple):
    """What was done."""

    steps: int
    closed: int
    """Steps that closed something, before others opened."""
    forgotten: int
    """Sessions of links that are gone."""
    gap_seconds: float
    """From the first step that closed something to the end of the last that opened; 0 if all opened first."""
    left_behind: tuple[str, ...] = ()
    """Brokers that the plan does not have and that can't be reached, or are down; before one of them comes
    back, its links have to be removed: apply again when it can be reached."""


def reach_of(driver: str, *, check: bool = True) -> Reach:
    """What reaches the brokers of a driver."""
    return Management() if driver == "rabbitmq" else Commands(check=check)


def check_reach(driver: str, hosts: Iterable[Host]) -> None:
    """Refuse brokers that the inventory says too little of to change them."""
    for host in hosts:
        (check_reachable_by_http if driver == "rabbitmq" else check_reachable)(host)


def conditions(state: State, texts: Mapping[str, str | None], in_parts: bool) -> dict[str, str]:
    """By node, whether its file is as we left it; `in_parts` if we may have left it half written."""
    return {node: _condition(state.entries.get(node), text, in_parts) for node, text in texts.items()}


def _condition(entry: Entry | None, text: str | None, in_parts: bool) -> str:
    if entry is None:
        # An empty file is no more than a place: NATS does not start if a file is missing that it includes.
        if text is None or not text.strip():
            return ABSENT
        return UNKNOWN if is_ours(text) else FOREIGN
    half_written = in_parts and entry.coming is not None
    if half_written or (sum_of_text(text) or NO_FILE) in (entry.held or NO_FILE, entry.coming):
        return IN_STEP
    return REMOVED if text is None else EDITED


def hosts_of(plan: Plan, state: State) -> dict[str, Host]:
    """All brokers of a plan, and those that an earlier one had."""
    return {node: entry.host for node, entry in state.entries.items()} | dict(plan.host_of)


def read_files(
    hosts: Mapping[str, Host], needed: Container[str], reach: Reach, progress: Progress | None = None
) -> dict[str, str | None]:
    """The file of every broker; some are read at a time, since most of it is waiting.

    Raises:
        NetworkError: one of the plan can't be reached, or another that runs; others that can't are left out.
    """
    found: dict[str, str | None] = {}
    with stage(progress, "reading files", len(hosts)) as tell, ThreadPoolExecutor(_AT_A_TIME) as pool:
        reading = {node: pool.submit(reach.read, host) for node, host in hosts.items()}
        for number, (node, text) in enumerate(reading.items(), start=1):
            try:
                found[node] = text.result()
            except NetworkError:
                if node in needed or reach.listens(hosts[node]):
                    pool.shutdown(cancel_futures=True)
                    raise
            tell(number)
    return found


def apply(
    plan: Plan,
    place: Path,
    reach: Reach,
    *,
    overwrite: bool = False,
    gone: Collection[str] = (),
    progress: Progress | None = None,
) -> Applied:
    """Bring a plan to its brokers; the state is in the file `place`.

    Brokers that are `gone` are forgotten: what is theirs is not looked for any more.

    Guarantee: at no moment does a topic have a cycle of links, if it had none before. Stopped at any moment,
    the next call goes on, with this plan or another. Files that we did not write are not touched.

    Raises:
        InputError: a file was edited by hand, or is not ours.
    """
    driver = driver_of(plan.driver)
    driver.check(plan)
    check_places(plan.hosts)
    with locked_folder(place.absolute().parent, f"another process applies with {place}; wait for it"):
        state, moved = _state_for(plan, place)
        _leave_out(state, gone, plan)
        hosts = hosts_of(plan, state)
        texts = read_files(hosts, plan.host_of, reach, progress)
        _check_ours(conditions(state, texts, reach.in_parts), plan, overwrite)
        _adopt(state, texts, plan)
        run = _Run(driver, plan, place, reach, state, hosts)
        run.leave_behind(hosts.keys() - texts.keys())
        steps = steps_to(_masking(driver), plan, texts, hosts)
        # The earlier place of a broker that has moved may be the same file by another name, which is removed.
        steps += [
            Step(node, masked(driver.render(plan, node)), closes=False)
            for node in sorted(moved - {step.node for step in steps if not step.closes})
        ]
        run.check_ready(steps, texts)
        run.settle_doubts(texts)
        return run.take(steps, texts, progress)


def _state_for(plan: Plan, place: Path) -> tuple[State, frozenset[str]]:
    """The state, with brokers called as in the plan; and those that had another place before."""
    state = read_state(place)
    if state.plan is not None and state.plan.driver != plan.driver:
        raise InputError(
            f"the state {place} is of a plan for {state.plan.driver}, and this one is for {plan.driver}; "
            f"give another --state, and remove the links of the brokers before, if they run on",
            path=place,
        )
    found = placed(state.entries, plan)
    state.entries = found.entries
    return state, found.moved


def _leave_out(state: State, gone: Collection[str], plan: Plan) -> None:
    for node in gone:
        if node in plan.host_of:
            raise InputError(
                f"the node {quoted(node)} is in the plan, so it can't be gone; plan without it (deploy plan "
                f"--down {node}), or leave out --gone"
            )
        if node not in state.entries:
            others = sorted(state.entries.keys() - plan.host_of.keys())
            raise InputError(
                f"the state has no node {quoted(node)} (--gone); it has "
                f"{', '.join(map(quoted, others)) or 'none'} beside those of the plan"
            )
        del state.entries[node]


def _adopt(state: State, texts: Mapping[str, str | None], plan: Plan) -> None:
    """Take files as they are found, after all of them were looked at: some may be as the plan has them.

    A broker that has left, and whose file was removed by hand, may still run what it said.
    """
    for node, text in texts.items():
        entry = state.entries.get(node)
        if entry is None:
            if text is not None and is_ours(text):
                state.entries[node] = Entry(plan.host_of[node], sum_of_text(text))
        elif text is None and node not in plan.host_of:
            state.entries[node] = entry._replace(coming=NO_FILE)
        elif entry.coming is None:
            state.entries[node] = entry._replace(held=sum_of_text(text))


def _masking(driver: Driver) -> Driver:
    """The driver, with rendered files as they are read back."""

    def alone(text: str, host: Host) -> str | None:
        left = driver.alone(text, host)
        return None if left is None else masked(left)

    return driver._replace(render=lambda plan, node: masked(driver.render(plan, node)), alone=alone)


def _check_ours(found: Mapping[str, str], plan: Plan, overwrite: bool) -> None:
    for node, condition in found.items():
        if condition == REMOVED and node not in plan.host_of:
            continue
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
    ) -> None:
        self._driver, self._plan, self._place = driver, plan, place
        self._reach, self._state, self._hosts = reach, state, hosts
        self._left_behind: set[str] = set()
        self._forgotten = 0

    def leave_behind(self, nodes: Collection[str]) -> None:
        """Go on without brokers that are not in the plan; those without links are not worth a word."""
        self._left_behind |= {node for node in nodes if not self._state.entries[node].left}

    def check_ready(self, steps: list[Step], texts: Mapping[str, str | None]) -> None:
        """Refuse to begin while a step can't be taken: a broker is down, or can't be written to.

        Raises:
            NetworkError, InputError: nothing was changed.
        """
        last = {step.node: step for step in steps}
        self._check_versions(last.keys() & self._plan.host_of.keys())
        for node, step in sorted(last.items()):
            self._reach.check(self._hosts[node], None if step.text is None else self._unmasked(step))
        keepers = {host.node for step in steps for host, _ in self._stale(step, texts.get(step.node))}
        for node in sorted(keepers & self._plan.host_of.keys()):
            self._reach.check_forget(self._hosts[node])
        needed = last.keys() | keepers
        for node, entry in sorted(self._state.entries.items()):
            if node in needed and node in self._plan.host_of and entry.coming is None:
                host = self._hosts[node]
                if self._reach.listens(host) is False:
                    raise NetworkError(
                        f"the broker of {quoted(node)} is down: it refuses connections at {host.host}:"
                        f"{host.port}; start it, or plan without it (deploy plan --down); nothing was changed"
                    )

    def _check_versions(self, nodes: Collection[str]) -> None:
        """Refuse brokers that say themselves that they are too old."""
        told = {host.node: host for host in self._plan.hosts}
        for node in nodes:
            told[node] = told[node]._replace(version=self._reach.version(told[node]) or told[node].version)
        self._driver.check(self._plan.with_hosts(told, loopback=self._plan.loopback))

    def settle_doubts(self, texts: Mapping[str, str | None]) -> None:
        """Let a broker at which an earlier run was stopped read its file, whichever it is."""
        for node, entry in list(self._state.entries.items()):
            if entry.coming is None or node not in texts:
                continue
            text = texts[node]
            if not self._reads_nothing(node, text) and not self._did(node, self._reload):
                continue
            # If the earlier file is still there, its links are not closed, and neither are their sessions.
            if (sum_of_text(text) or NO_FILE) == entry.coming:
                self._forget(entry)
            self._note(node, None if text is None else Entry(self._hosts[node], sum_of_text(text)))

    def _reads_nothing(self, node: str, text: str | None) -> bool:
        """Whether a broker has no file of ours and does not run: some can't start before they get it."""
        return not (text or "").strip() and self._reach.listens(self._hosts[node]) is False

    def _reload(self, host: Host) -> None:
        """Let a broker read its file; not one that has left and is down, which would be started."""
        if host.node in self._plan.host_of or self._reach.listens(host) is not False:
            self._reach.reload(host)

    def _did(self, node: str, act: Callable[[Host], None]) -> bool:
        """Do something at a broker, and say whether it is done: not if it has left the plan and is down."""
        try:
            act(self._hosts[node])
        except NetworkError:
            if node in self._plan.host_of or self._reach.listens(self._hosts[node]) is not False:
                raise
            self._left_behind.add(node)
            return False
        return True

    def take(self, steps: list[Step], texts: Mapping[str, str | None], progress: Progress | None) -> Applied:
        """Take all steps, and say in the end that the plan is applied."""
        now, first_closed, opened = dict(texts), None, 0.0
        with stage(progress, "applying", len(steps)) as tell:
            for number, step in enumerate(steps, start=1):
                begun = time.monotonic()
                if step.closes and first_closed is None:
                    first_closed = begun
                self._take(step, now.get(step.node))
                now[step.node] = step.text
                opened = opened if step.closes else time.monotonic()
                tell(number)
        self._note_end()
        closed = sum(step.closes for step in steps)
        gap = 0.0 if first_closed is None else max(opened - first_closed, 0.0)
        left_behind = tuple(sorted(self._left_behind))
        return Applied(len(steps), closed, self._forgotten, round(gap, 3), left_behind)

    def _take(self, step: Step, before: str | None) -> None:
        host = self._hosts[step.node]
        entry = self._state.entries.get(step.node, Entry(host, sum_of_text(before)))
        coming = Entry(host, entry.held, sum_of_text(step.text) or NO_FILE, self._stale(step, before))
        self._note(step.node, coming)

        def bring(host: Host) -> None:
            self._reach.write(host, None if step.text is None else self._unmasked(step))
            self._reload(host)

        if self._did(step.node, bring):
            self._forget(coming)
            self._note(step.node, Entry(host, sum_of_text(step.text)) if step.text is not None else None)

    def _unmasked(self, step: Step) -> str:
        """A masked file with references to passwords again: link by link they are those of the plan."""
        assert step.text is not None
        if step.node not in self._plan.host_of:
            return self._driver.alone(step.text, self._hosts[step.node]) or step.text
        full = self._driver.render(self._plan, step.node)
        if masked(full) == full:
            return step.text
        own = self._driver.read(step.text)
        at_node = self._driver.links_at(self._plan, step.node)
        links = [
            self._driver.narrowed(link, own[name])
            for link in at_node
            if (name := self._driver.link_name(*link.ends)) in own
        ]
        others = [link for link in self._plan.links if link not in at_node]
        return self._driver.render(self._plan.with_links([*others, *links]), step.node)

    def _stale(self, step: Step, before: str | None) -> tuple[tuple[Host, Session], ...]:
        """The sessions of links that a step closes, at both ends, where the broker is known."""
        sessions = self._driver.sessions_of(step.text or "")
        kept = {each.client for each in sessions}
        by_address = {(host.host, host.port): host for host in self._hosts.values()}
        own = self._hosts[step.node]
        found: list[tuple[Host, Session]] = []
        for session in self._driver.sessions_of(before or ""):
            other = by_address.get((session.host, session.port))
            if other is not None and session not in sessions:
                found.append((other, session))
            if session.client not in kept:
                found.append((own, Session(f"local.{session.client}", own.host, own.port)))
        return tuple(found)

    def _forget(self, entry: Entry) -> None:
        """Drop sessions of links that are gone; a broker that has left may be switched off."""
        for host, session in entry.stale:
            if host.node in self._left_behind:
                continue
            try:
                self._reach.forget(host, session)
            except NetworkError:
                if host.node in self._plan.host_of:
                    raise
            else:
                self._forgotten += 1

    def _note(self, node: str, entry: Entry | None) -> None:
        if entry is None:
            self._state.entries.pop(node, None)
        else:
            self._state.entries[node] = entry
        write_state(self._place, self._state)

    def _note_end(self) -> None:
        """The plan is applied; brokers that it does not have are without links now, if they were reached."""
        self._state.plan = self._plan
        for node, entry in self._state.entries.items():
            if node in self._plan.host_of or node in self._left_behind:
                self._state.entries[node] = entry._replace(left=False)
            elif entry.coming is None:
                self._state.entries[node] = entry._replace(left=True)
        write_state(self._place, self._state)


def status(plan: Plan, place: Path, reach: Reach, progress: Progress | None = None) -> dict[str, Any]:
    """What is at the brokers, against what was applied and against a plan."""
    state, _ = _state_for(plan, place)
    hosts = hosts_of(plan, state)
    texts = read_files(hosts, plan.host_of, reach, progress)
    found = conditions(state, texts, reach.in_parts)
    steps = steps_to(_masking(driver_of(plan.driver)), plan, texts, hosts)
    doubts = sorted(node for node, entry in state.entries.items() if entry.coming is not None)
    return {
        "applied": None if state.plan is None else state.plan.hash,
        "plan": plan.hash,
        "interrupted_at": doubts,
        "brokers": found,
        "drift": sorted(node for node, each in found.items() if each in (EDITED, REMOVED, FOREIGN, UNKNOWN)),
        "steps": [{"node": step.node, "closes": step.closes, "removes": step.text is None} for step in steps],
    }
