"""The loop between an overlay and its fleet: looks, events, a plan, and what is brought to the brokers."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from meshwright.deploy.applying import check_reach, reach_of
from meshwright.deploy.changing import changes
from meshwright.deploy.drivers import driver_of
from meshwright.deploy.health import look_at_links
from meshwright.deploy.health.probes import Health, with_probes
from meshwright.deploy.hosts import Host, read_hosts
from meshwright.deploy.plan.plan import Plan
from meshwright.deploy.plan.planning import make_plan
from meshwright.deploy.reaching import Reach
from meshwright.maintain.maintainer import Maintainer
from meshwright.model.events import Event
from meshwright.model.overlay import Overlay
from meshwright.runtime.errors import InputError, MeshwrightError, one_line
from meshwright.serve.audit import Who
from meshwright.serve.control_plane import ControlPlane
from meshwright.serve.reconciling import events as making
from meshwright.serve.reconciling.damping import Damper
from meshwright.serve.reconciling.events import Members, Wishes
from meshwright.serve.reconciling.following import Following
from meshwright.serve.reconciling.notebook import Notebook
from meshwright.serve.reconciling.options import FleetOptions
from meshwright.serve.reconciling.watching import look_at, subscribers_of

_LOG = logging.getLogger("meshwright.serve")
_WE = Who("", "the fleet", "")
_LOOKS_A_SECOND = 500


class Waiting(NamedTuple):
    """A plan that the brokers do not follow yet, and how it differs from what they do follow."""

    plan: Plan
    hash: str
    opened: list[tuple[str, str]]
    closed: list[tuple[str, str]]
    changed: list[tuple[str, str]]


class _Planned(NamedTuple):
    """A plan, and what it was made for: a revision of the overlay, and an inventory."""

    key: object
    plan: Plan
    hash: str


class Reconciler:
    """Looks after the brokers of an overlay.

    Guarantee: a broker that fails leaves the overlay at the first look, and the plan for the repaired overlay
    is made at once. It is applied if the options say so, or when somebody approves it, by the steps of
    `deploy apply`, so no topic ever has a cycle of links. What comes and goes is damped (`Damper`). Killed at
    any moment, the next process goes on with what was begun. No error ends the loop: it is told as a trouble,
    and tried again.

    Each `tick` is one turn; `run` takes turns on threads of its own until `stop`.
    """

    def __init__(
        self,
        plane: ControlPlane,
        inventory: Path,
        options: FleetOptions,
        *,
        reach: Reach | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._plane, self._inventory, self.options, self._clock = plane, inventory, options, clock
        self._driver = driver_of(options.driver)
        if options.driver == "files":
            raise InputError("the driver files reaches no brokers; give mosquitto, nats, zenoh or rabbitmq")
        plane.state.fleet.mkdir(parents=True, exist_ok=True)
        self._book = Notebook(plane.state.fleet / "notes.json")
        self._troubles: dict[str, str] = {}
        self._stamp: tuple[int, int] | None = None
        self._hosts: dict[str, Host] = {}
        self._hosts = self._read_inventory()
        self._damper, self._wishes = Damper(options.window), Wishes(options.window)
        self._subscribers = subscribers_of(options.driver)
        self._told: dict[str, frozenset[str]] = {}
        self._told_lock = threading.Lock()
        self._up: dict[str, bool] = {}
        self._over = threading.Event()
        self._fleet = Following(
            plane.state.fleet / "deploy.state.json",
            reach or reach_of(options.driver),
            lambda: self._up,
            self._holds_still,
            options.applies_a_minute,
            plane.telemetry,
        )
        self._threads: list[threading.Thread] = []
        self._planned: _Planned | None = None
        self._unplannable: object = None
        self._approved: str | None = None
        self._checked = self._clock()
        self.health: list[Health] = []

    # What others may ask and say

    @property
    def paused(self) -> bool:
        """Whether the kill switch is pulled."""
        return self._book.notes.paused

    def pause(self, paused: bool, who: Who) -> None:
        """Pull the kill switch, or resume; an application that runs stops before its next broker."""
        self._plane.note(who, "pauses the fleet" if paused else "resumes the fleet", sync=True)
        self._book.write(paused=paused)

    @property
    def troubles(self) -> list[str]:
        """What is in the way, in words."""
        own = [self._fleet.trouble] if self._fleet.trouble else []
        return sorted({*self._troubles.values(), *own})

    @property
    def last_applied(self) -> Mapping[str, Any]:
        """What came of the last application that changed something; empty before one."""
        return self._fleet.last or {}

    def waiting(self) -> Waiting | None:
        """The plan that the brokers do not follow yet, if there is one."""
        planned = self._planned
        if planned is None or self._fleet.follow(planned.hash):
            return None
        return Waiting(planned.plan, planned.hash, *changes(self._fleet.plan, planned.plan))

    def told(self) -> dict[str, Any]:
        """The plan that waits, what was applied last, and what is in the way."""
        found = self.waiting()
        diff = {} if found is None else {key: getattr(found, key) for key in ("opened", "closed", "changed")}
        return {
            "driver": self.options.driver,
            "mode": "apply" if self.options.apply else "approve",
            "paused": self.paused,
            "applying": self._fleet.busy,
            "plan": None if found is None else found.hash,
            "approved": found is not None and self._approved == found.hash,
            "applied": self._fleet.hash,
            "opened": diff.get("opened", []),
            "closed": diff.get("closed", []),
            "changed": diff.get("changed", []),
            "last_applied": self._fleet.last,
            "troubles": self.troubles,
        }

    def approve(self, plan: str, who: Who) -> dict[str, Any] | None:
        """Let a plan be applied; None if another one waits, or none."""
        found = self.waiting()
        if found is None or found.hash != plan:
            return None
        self._plane.note(who, f"approves the plan {plan}", sync=True)
        self._approved = plan
        self._fleet.hurry()
        return {"plan": plan, "approved": True, "steps": None, "drift": None}

    def try_out(self, plan: str) -> dict[str, Any] | None:
        """Which brokers would get files if a plan were applied; None if it does not wait. Changes nothing."""
        found = self.waiting()
        if found is None or found.hash != plan:
            return None
        told = self._fleet.try_out(found.plan)
        return {"plan": plan, "approved": False, "steps": told["steps"], "drift": told["drift"]}

    def brokers(self) -> list[dict[str, Any]]:
        """Every broker of the inventory: whether it answers, and whether it was made to leave."""
        gone = self._book.notes.gone
        return [
            {"name": node, "up": self._up.get(node), "left": node in gone} for node in sorted(self._hosts)
        ]

    # Turns

    def run(self) -> None:
        """Take turns on threads until `stop`."""
        for work, seconds in (
            (self.tick, self.options.look_every),
            (self.ask, self.options.ask_every),
            (self.probe, self.options.probe_every),
        ):
            thread = threading.Thread(target=self._turns, args=(work, seconds), name="meshwright-fleet")
            thread.start()
            self._threads.append(thread)

    def stop(self) -> None:
        """End all turns; an application that runs stops before its next broker, and goes on another time."""
        self._over.set()
        for thread in self._threads:
            thread.join()
        self._threads.clear()
        if self._subscribers is not None:
            self._subscribers.close()

    def _turns(self, work: Callable[[], None], seconds: float) -> None:
        while not self._over.is_set():
            try:
                work()
                self._troubles.pop(work.__name__, None)
            except MeshwrightError as error:
                self._troubles[work.__name__] = str(error)
            except Exception as error:
                self._troubles[work.__name__] = f"an error of the server: {one_line(error)}; see its log"
                _LOG.error("looking after the fleet failed", exc_info=error)
            # Looking at a thousand brokers four times a second would be a load of its own.
            self._over.wait(max(seconds, len(self._hosts) / _LOOKS_A_SECOND))

    def ask(self) -> None:
        """Ask brokers that run who subscribes to what; the next turn makes events of it."""
        if self._subscribers is None:
            return
        told = self._subscribers.told(
            {node: host for node, host in self._hosts.items() if self._up.get(node)}
        )
        with self._told_lock:
            for node, topics in told.items():
                known = frozenset() if self._subscribers.complete else self._told.get(node, frozenset())
                self._told[node] = known | topics

    def probe(self) -> None:
        """Probe all links of the plan that is applied."""
        plan = self._fleet.plan
        if plan is not None and not self._fleet.busy:
            away = {node for node in plan.host_of if self._is_down(node)}
            self.health = look_at_links(plan, away, self.options.patience)

    def tick(self) -> None:
        """Look at brokers, submit what follows, plan, and apply what may be applied."""
        begin = time.monotonic()
        self._hosts = self._read_inventory()
        self._up = look_at(self._hosts, self.options.patience)
        now = self._clock()
        for node, up in self._up.items():
            self._damper.see(node, up, now)
        if self._submit_events(now):
            self._fleet.noticed = begin
        planned = self._plan()
        if planned is not None and self._may_apply(planned.hash, now):
            self._bring(planned.plan, now)

    def _read_inventory(self) -> dict[str, Host]:
        """The brokers; an inventory that has become unusable is told, and the last good one counts."""
        try:
            found = self._inventory.stat()
            stamp = (found.st_mtime_ns, found.st_size)
            if stamp == self._stamp:
                return self._hosts
            hosts = read_hosts(self._inventory)
            check_reach(self.options.driver, hosts.values())
        except (OSError, MeshwrightError) as error:
            if self._stamp is None:
                raise error if isinstance(error, MeshwrightError) else InputError(one_line(error)) from None
            self._troubles["inventory"] = f"{one_line(error)}; the brokers of before are looked after"
            return self._hosts
        self._troubles.pop("inventory", None)
        self._stamp = stamp
        return hosts

    def _is_down(self, node: str) -> bool:
        return self._up.get(node) is False

    def _holds_still(self) -> bool:
        return self.paused or self._over.is_set()

    # Events

    def _submit_events(self, now: float) -> bool:
        """Submit what brokers show; whether there was anything."""
        notes, at = self._book.notes, int(time.time())
        members = self._plane.look_now(self._members)
        gone = {node: own for node, own in notes.gone.items() if node not in members.wants}
        known = notes.known | members.wants.keys()
        leaving, why_not = making.departures(members, self._damper, self._up, self.options.most_down, now)
        self._tell("brokers", why_not)
        coming = making.returns(gone, members, self._damper, now)
        events = [making.leave(node, at) for node in leaving]
        events += [making.join(node, gone[node], at) for node in coming]
        with self._told_lock:
            told, self._told = self._told, {}
        wishes, heard = self._wished(told, members, {*gone, *leaving}, known, now)
        left = {node: tuple(sorted(members.wants[node])) for node in leaving}
        self._book.write(gone=gone | left, known=known)  # before they leave: what they wanted is known then
        if not events and not wishes:
            return False
        try:
            receipt = self._plane.submit_now([*events, *wishes], _WE)
        except MeshwrightError:
            with self._told_lock:
                self._told = {**told, **self._told}
            raise
        self._tell("events", receipt.refused[0][1] if receipt.refused else "")
        for node in (*leaving, *coming):
            self._damper.change(node, now)
        still = {node: own for node, own in (gone | left).items() if node not in coming}
        self._book.write(gone=still, heard=heard)
        return True

    def _members(self, live: Maintainer) -> Members:
        wants = live.topics_of if live.dialect is None else live.filters_of
        return Members({node: frozenset(wants(node)) for node in self._hosts if node in live}, live.dialect)

    def _wished(
        self,
        told: Mapping[str, frozenset[str]],
        members: Members,
        away: set[str],
        known: frozenset[str],
        now: float,
    ) -> tuple[list[Event], dict[str, tuple[str, ...]]]:
        """Events of what brokers tell, and what was heard of afterwards."""
        heard, at, trouble = dict(self._book.notes.heard), int(time.time()), ""
        found: list[Event] = []
        complete = self._subscribers is not None and self._subscribers.complete
        for node, topics in sorted(told.items()):
            good, why = making.believable(topics, self._driver.engine.dialect, members)
            trouble = trouble or (f"of the broker {node!r}: {why}" if why else "")
            if node not in members.wants:
                if good and node not in known and node not in away:
                    found.append(making.join(node, sorted(good), at))
                    heard[node] = tuple(sorted(good))
                continue
            if node in away:
                continue
            own = set(heard.get(node, ()))
            if new := self._wishes.new(node, good, members):
                found.append(Event(at, "subscribe", node, tuple(new)))
            ended = self._wishes.ended(node, topics, sorted(own), now) if complete else []
            if ended:
                found.append(Event(at, "unsubscribe", node, tuple(ended)))
            heard[node] = tuple(sorted((own | set(new)) - set(ended)))
        if told:
            self._tell("subscriptions", trouble)
        return found, heard

    def _tell(self, key: str, trouble: str) -> None:
        if trouble:
            self._troubles[key] = trouble
        else:
            self._troubles.pop(key, None)

    # The plan

    def _plan(self) -> _Planned | None:
        """The plan for the present overlay; None if there can be none, which is told."""
        revision = self._plane.look_now(lambda live: live.revision)
        key = (revision, self._stamp)
        if key == self._unplannable:
            return None
        if self._planned is not None and self._planned.key == key:
            return self._planned
        overlay: Overlay = self._plane.look_now(lambda live: live.overlay)
        try:
            plan = with_probes(
                make_plan(
                    overlay,
                    self._driver.engine,
                    self._hosts,
                    settings=self.options.settings,
                    before=self._fleet.plan,
                    inventory=self._inventory,
                )
            )
            self._driver.check(plan)
        except MeshwrightError as error:
            self._unplannable = key
            self._tell("plan", str(error))
            return None
        self._tell("plan", "")
        self._planned, self._unplannable = _Planned(key, plan, plan.hash), None
        self._fleet.hurry()
        return self._planned

    def _may_apply(self, plan: str, now: float) -> bool:
        if self._holds_still() or not self._fleet.may_try(now):
            return False
        if self.options.apply:
            unchecked = now - self._checked >= self.options.check_every
            return not self._fleet.follow(plan) or unchecked or self._fleet.is_untidy
        return (self._approved == plan and not self._fleet.follow(plan)) or self._book.notes.begun is not None

    def _bring(self, plan: Plan, now: float) -> None:
        """Apply a plan; one that was approved and begun is finished first, unless another is approved."""
        begun = self._book.notes.begun
        if not self.options.apply:
            if begun is not None and plan.hash not in (begun.hash, self._approved):
                plan = begun
            self._book.write(begun=plan)
        done = self._fleet.bring(plan, now)
        if done is not None:
            self._checked, self._approved = now, None
            self._book.write(begun=None)
            if done.steps:
                self._plane.note(_WE, f"applied the plan {plan.hash}: {done.steps} files")
