"""The owner of a journaled overlay: takes events one request after the other, and answers what there is.

All calls of the maintainer run on one thread. What takes long (measuring, trying out) runs on another one, on
a copy.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from time import monotonic, perf_counter
from types import TracebackType
from typing import Any, NamedTuple, TypeVar
from uuid import uuid4

from meshwright.maintain.event_batches import Refusal
from meshwright.maintain.journal.journal import Journal
from meshwright.maintain.maintainer import Maintainer
from meshwright.maintain.repairs import Link, Repair
from meshwright.maintain.warm_up import rehearse
from meshwright.metrics.evaluation import evaluate
from meshwright.model.costs.costs import Costs
from meshwright.model.events import Event, as_row
from meshwright.model.overlay import Overlay
from meshwright.runtime.errors import DatasetError, InputError, MeshwrightError, one_line
from meshwright.runtime.progress import Progress
from meshwright.serve import views
from meshwright.serve.audit import AuditLog, Who
from meshwright.serve.history import History
from meshwright.serve.idempotency import Keys
from meshwright.serve.layout import Layout, drawn, layout_of
from meshwright.serve.state_folder import StateFolder
from meshwright.serve.telemetry import Telemetry
from meshwright.serve.trying import Failure, fail_nodes

Found = TypeVar("Found")
REMEMBER = 100_000
"""How many ids of events a new state remembers: every snapshot holds them all."""
_MEASURED_FOR = 2.0
"""Seconds for which a measurement is given again, although the overlay has changed."""
_MEASURED_LATELY = 60.0
"""The same for those who ask again and again, such as Prometheus."""
_COPIES = 200
"""A measurement needs a copy of the overlay, for which events wait: 0.4 s with 100,000 nodes and 1,000,000
links. So it is given again for this many times as long, and at most about one event in so many waits."""


class ConflictError(MeshwrightError):
    """The overlay is not at the revision that the caller expects."""


class UnwritableError(MeshwrightError):
    """The state can't be written now; it may be possible later."""


@dataclass(frozen=True, kw_only=True)
class Beginning:
    """What a state begins with; of an existing one, what its journal can't know itself."""

    overlay: Overlay | None = None
    costs: Costs | str | None = None
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    journal_options: Mapping[str, Any] = field(default_factory=dict)


class Receipt(NamedTuple):
    """What came of events; all of it is on disk."""

    since: int
    revision: int
    tag: str
    events: int
    repeated: int
    refused: tuple[tuple[int, str], ...]
    """Places of events in the request, from 0, with reasons."""
    opened: tuple[Link, ...]
    closed: tuple[Link, ...]
    nodes: int
    links: int


class ControlPlane:
    """An overlay that one process owns.

    Guarantee: when `submit` returns, its events are in the journal, on disk, and who sent them is in the
    audit log; a process killed at any moment comes back with all of them. A request is one step: all its
    events that can be applied, or none if the disk refuses. An event with the id of an applied one changes
    nothing, as far back as the option `remember` says.
    """

    def __init__(self, state: StateFolder, beginning: Beginning, *, progress: Progress | None = None) -> None:
        """Open a state; whoever calls this holds the lease."""
        self.telemetry = Telemetry()
        self.state, self._beginning = state, beginning
        self._audit = AuditLog(state.audit)
        self._open(progress)
        costs = self._live.cost is not None
        rehearse(vars(self._live.options), progress, with_costs=costs)
        self._owner = ThreadPoolExecutor(1, "meshwright-owner")
        self._measurer = ThreadPoolExecutor(1, "meshwright-measurer")
        self._measured: tuple[float, dict[str, Any]] | None = None
        self._copy_seconds = 0.0
        self._measuring: asyncio.Task[dict[str, Any]] | None = None
        self._layout: Layout | None = None
        self._map: dict[str, Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news = asyncio.Event()
        self.stopping = False
        self.broken: BaseException | None = None

    def _open(self, progress: Progress | None = None) -> None:
        begin = self._beginning
        self.history = History(self.state.journal)
        how: dict[str, Any] = {"costs": begin.costs, "seed": begin.seed, "progress": progress}
        self._journal = Journal(
            self.state.journal,
            begin.overlay,
            follower=self.history,
            **how,
            **begin.journal_options,
            **begin.options,
        )
        self._keys = Keys(self._live.options.remember, self._live.known_ids)

    @property
    def _live(self) -> Maintainer:
        return self._journal.live

    @property
    def revision(self) -> int:
        """The revision of the last step."""
        return self.history.revision

    def summary(self) -> dict[str, Any]:
        """The numbers of the overlay, before requests are answered."""
        return views.summary(self._live)

    def start(self) -> None:
        """Tell the event loop that runs about news from now on."""
        self._loop = asyncio.get_running_loop()

    def stop(self) -> None:
        """Let whoever waits for news know that none will come."""
        self.stopping = True
        self._tell()

    def close(self) -> None:
        """Finish what is being done, and let go of the journal."""
        self._owner.shutdown()
        self._measurer.shutdown(cancel_futures=True)
        self._journal.close()

    def __enter__(self) -> ControlPlane:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def look(self, work: Callable[[Maintainer], Found]) -> Found:
        """What `work` finds, while nothing changes; it should be short."""
        return await asyncio.get_running_loop().run_in_executor(self._owner, lambda: work(self._live))

    def look_now(self, work: Callable[[Maintainer], Found]) -> Found:
        """The same for a thread of ours that is not that of the event loop."""
        return self._owner.submit(lambda: work(self._live)).result()

    async def submit(self, events: Sequence[Event], who: Who, expected: str | None = None) -> Receipt:
        """Apply events as one step, those left out that contradict what is there.

        With `expected`, only if the overlay's tag is still that one; otherwise it is a `ConflictError`.
        """
        work = partial(self._submit, events, who, expected)
        return await asyncio.get_running_loop().run_in_executor(self._owner, work)

    def submit_now(self, events: Sequence[Event], who: Who) -> Receipt:
        """The same for a thread of ours that is not that of the event loop."""
        return self._owner.submit(self._submit, events, who, None).result()

    def _submit(self, events: Sequence[Event], who: Who, expected: str | None) -> Receipt:
        begin = perf_counter()
        if expected is not None and expected != self.tag():
            raise ConflictError(
                f"the overlay has the tag {self.tag()}, not {expected}; read it again, then decide"
            )
        self._keys.check(events)
        request = uuid4().hex
        asked = {"request": request, **who._asdict(), "asks": "events", "revision": self._live.revision}
        try:
            self._audit.write({**asked, "events": [as_row(event) for event in events]}, sync=True)
            since = self._live.revision
            repair, refused = self._apply(events)
        except DatasetError as error:
            self.telemetry.count("unwritable")
            raise UnwritableError(str(error)) from error
        except MeshwrightError:
            raise
        except Exception as error:
            self._open_again(error)
            raise
        if repair.events:
            self._keys.add(events)
        receipt = self._receipt(events, since, repair, refused)
        self._note(request, receipt)
        self.telemetry.follow(receipt.events, receipt.repeated, len(refused), repair)
        self.telemetry.acknowledged.add(perf_counter() - begin)
        if self._loop is not None and receipt.revision != since:
            with suppress(RuntimeError):  # the loop has ended meanwhile
                self._loop.call_soon_threadsafe(self._tell)
        return receipt

    def _apply(self, events: Sequence[Event]) -> tuple[Repair, Sequence[Refusal]]:
        """Apply all events, or those that don't contradict; a refused one is not remembered."""
        try:
            return self._live.apply(events), ()
        except InputError:
            good, refused = self._live.sort_out(events)
            return self._live.apply(good), refused

    def _receipt(
        self, events: Sequence[Event], since: int, repair: Repair, refused: Sequence[Refusal]
    ) -> Receipt:
        places = {id(event): at for at, event in enumerate(events)}
        return Receipt(
            since=since,
            revision=repair.revision,
            tag=self.tag(),
            events=repair.events,
            repeated=len(events) - repair.events - len(refused),
            refused=tuple((places[id(event)], reason) for event, reason in refused),
            opened=repair.added,
            closed=repair.removed,
            nodes=repair.nodes,
            links=repair.links,
        )

    def _note(self, request: str, receipt: Receipt) -> None:
        """Note in the audit log what came of a request. The step is taken, so a full disk is no refusal."""
        told = {"revision": receipt.revision, "events": receipt.events, "repeated": receipt.repeated}
        with suppress(DatasetError):
            self._audit.write({"request": request, **told, "refused": receipt.refused})

    def note(self, who: Who, what: str, *, sync: bool = False) -> None:
        """Note in the audit log something else that was done; with `sync`, something that is about to be."""
        try:
            self._audit.write({**who._asdict(), "did": what}, sync=sync)
        except DatasetError as error:
            if sync:
                raise UnwritableError(str(error)) from error

    def _open_again(self, error: Exception) -> None:
        """After an error in the middle of a step, which no input should cause, continue from the journal."""
        self.telemetry.count("reopened")
        try:
            with suppress(MeshwrightError):
                self._journal.close()
            self._open()
        except Exception as worse:
            self.broken = worse
            raise MeshwrightError(
                f"the journal can't be opened again after {one_line(error)}: {one_line(worse)}"
            ) from error

    def tag(self) -> str:
        """What identifies the present overlay: its revision, and a checksum of the last step."""
        return f"{self._live.revision}-{self._journal.live.last:08x}"

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def next_news(self) -> asyncio.Event:
        """What is set at the next step, or at the end; take it before you look for steps."""
        return self._news

    async def measure(self) -> dict[str, Any]:
        """Measure the overlay; a measurement is shared by all who ask within two seconds, or longer."""
        if self._measured is not None and self._is_fresh(self._measured, _MEASURED_FOR):
            return self._measured[1]
        return await asyncio.shield(self._begin_measuring())

    async def measured_lately(self) -> dict[str, Any]:
        """The last measurement; one that is older than a minute is made again meanwhile, for the next call.

        Only who asks first waits for it, so that it costs others nothing to ask often.
        """
        if self._measured is None:
            return await self.measure()
        if not self._is_fresh(self._measured, _MEASURED_LATELY):
            self._begin_measuring()
        return self._measured[1]

    def _is_fresh(self, measured: tuple[float, dict[str, Any]], seconds: float) -> bool:
        seconds = max(seconds, _COPIES * self._copy_seconds)
        return measured[1]["revision"] == self.revision or monotonic() - measured[0] < seconds

    def _begin_measuring(self) -> asyncio.Task[dict[str, Any]]:
        """Measure, unless that is being done."""
        if self._measuring is None or self._measuring.done():
            self._measuring = asyncio.create_task(self._measure())
        return self._measuring

    async def _measure(self) -> dict[str, Any]:
        revision, overlay, self._copy_seconds = await self.look(_copied_in)
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(self._measurer, _measured, overlay)
        self._measured = (monotonic(), {"revision": revision, **found})
        return self._measured[1]

    async def draw(self) -> dict[str, Any]:
        """The overlay as a map; nodes keep their positions as it changes."""
        revision, overlay = await self.look(lambda live: (live.revision, live.overlay))
        return await asyncio.get_running_loop().run_in_executor(
            self._measurer, self._drawn, revision, overlay
        )

    def _drawn(self, revision: int, overlay: Overlay) -> dict[str, Any]:
        if self._map is None or self._map["revision"] != revision:
            self._layout = layout_of(overlay, self._layout)
            self._map = {"revision": revision, **drawn(overlay, self._layout)}
        return self._map

    async def what_if(self, nodes: Sequence[str]) -> Failure:
        """What would break if nodes failed, and how it would be repaired; nothing is applied."""
        snapshot = await self.look(partial(_copied, nodes))
        costs = self._beginning.costs
        work = partial(fail_nodes, snapshot, None if isinstance(costs, str) else costs, nodes)
        return await asyncio.get_running_loop().run_in_executor(self._measurer, work)


def _copied_in(live: Maintainer) -> tuple[int, Overlay, float]:
    """The revision, a copy of the overlay, and the seconds that it took."""
    begin = perf_counter()
    return live.revision, live.overlay, perf_counter() - begin


def _copied(nodes: Sequence[str], live: Maintainer) -> bytes:
    for node in nodes:
        live.topics_of(node)  # refuses one that is not there
    return live.snapshot()


def _measured(overlay: Overlay) -> dict[str, Any]:
    found = evaluate(overlay, diameters=False)
    told = found.to_json()
    keys = (
        "nodes", "topics", "interests", "edges", "average_degree", "maximum_degree", "topic_connected",
        "disconnected_topics", "lower_bound_average_degree", "lower_bound_method", "cut_nodes_topics",
    )  # fmt: skip
    return {key: told[key] for key in keys}
