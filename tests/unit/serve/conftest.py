"""A small overlay, its control plane, and callers with tokens."""

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, sync_playwright

from meshwright.building import build
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.serve.api import make_app
from meshwright.serve.control_plane import Beginning, ControlPlane
from meshwright.serve.limits import Limits
from meshwright.serve.loopback import LOOPBACK
from meshwright.serve.reconciling.reconciler import Reconciler
from meshwright.serve.server import Address, make_server
from meshwright.serve.state_folder import StateFolder
from meshwright.serve.tokens import Access
from scripts.programs import CHROMIUM, bring
from tests.asgi import Answer, call
from tests.patience import PATIENCE

NODES, TOPICS = 24, 8


@pytest.fixture(scope="session")
def overlay() -> Overlay:
    pairs = [
        (f"n{node:02d}", f"t/{(node * step + step) % TOPICS}") for node in range(NODES) for step in (1, 3, 4)
    ]
    return build(Interests.from_pairs(pairs), "gm")


@pytest.fixture(scope="session", autouse=True)
def _without_rehearsals() -> Iterator[None]:
    """The kernels are compiled once; a plane for each test need not look again."""
    from meshwright.serve import control_plane

    patch = pytest.MonkeyPatch()
    patch.setattr(control_plane, "rehearse", lambda *_, **__: None)
    yield
    patch.undo()


Opened = Callable[..., ControlPlane]


@pytest.fixture
def open_plane(tmp_path: Path, overlay: Overlay) -> Iterator[Opened]:
    """Opens the plane of one state, again and again; each is closed at the end."""
    planes: list[ControlPlane] = []

    def opened(compact_after: int = 5_000) -> ControlPlane:
        if planes:
            planes.pop().close()
        begin = Beginning(overlay=overlay, journal_options={"compact_after": compact_after})
        planes.append(ControlPlane(StateFolder(tmp_path / "state"), begin))
        return planes[-1]

    yield opened
    for plane in planes:
        plane.close()


@pytest.fixture
def plane(open_plane: Opened) -> ControlPlane:
    return open_plane()


@pytest.fixture
def access(tmp_path: Path) -> Access:
    return Access(StateFolder(tmp_path / "state").access)


class Caller:
    """Calls an application as the owner of a token."""

    def __init__(self, app: Any, secret: str | None) -> None:
        self.app = app
        self.headers = {} if secret is None else {"authorization": f"Bearer {secret}"}

    def __call__(
        self, method: str, path: str, value: Any = None, *, parts: Any = None, **headers: str
    ) -> Answer:
        given = {**self.headers, **{name.replace("_", "-"): text for name, text in headers.items()}}
        if value is not None:
            given.setdefault("content-type", "application/json")
        body = parts if parts is not None else [] if value is None else [json.dumps(value).encode()]
        return asyncio.run(call(self.app, method, path, given, body))


def callers_of(plane: ControlPlane, secrets: dict[str, str]) -> dict[str, Caller]:
    app = make_app(plane, plane_access(plane), Limits(body=20_000, events=50), LOOPBACK)
    found = {role: Caller(app, secret) for role, secret in secrets.items()}
    return {**found, "nobody": Caller(app, None), "stranger": Caller(app, "mw_" + "x" * 43)}


def plane_access(plane: ControlPlane) -> Access:
    return Access(plane.state.access)


def secrets_of(plane: ControlPlane) -> dict[str, str]:
    access = plane_access(plane)
    return {role: access.add(role, [role])[1] for role in ("read", "write", "apply")}


@pytest.fixture
def callers(plane: ControlPlane) -> dict[str, Caller]:
    """Callers of a plane that the test may change."""
    return callers_of(plane, secrets_of(plane))


Still = tuple[ControlPlane, dict[str, str]]


@pytest.fixture(scope="module")
def still_plane(tmp_path_factory: pytest.TempPathFactory, overlay: Overlay) -> Iterator[Still]:
    state = StateFolder(tmp_path_factory.mktemp("still") / "state")
    with ControlPlane(state, Beginning(overlay=overlay)) as plane:
        yield plane, secrets_of(plane)
        assert plane.revision == 0


@pytest.fixture
def still(still_plane: Still) -> dict[str, Caller]:
    """Callers of a plane that tests share, and that none of them may change."""
    return callers_of(*still_plane)


class Running:
    """A server on a thread of this process, which can be stopped and started again at the same port."""

    def __init__(
        self, plane: ControlPlane, limits: Limits | None = None, fleet: Reconciler | None = None
    ) -> None:
        self.plane, self.access, self.port = plane, Access(plane.state.access), 0
        self._fleet = fleet
        self._limits = limits or Limits(header=8_000)
        self.start()

    def start(self) -> None:
        address = Address(port=self.port)
        self._listener = address.bind()
        self.port = self._listener.getsockname()[1]
        self._listener.listen()
        self._server = make_server(self.plane, self.access, address, self._limits, self._fleet)
        self._thread = threading.Thread(target=self._server.run, args=([self._listener],))
        self._thread.start()

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._listener.close()
        self.plane.stopping = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@pytest.fixture
def page() -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=bring(CHROMIUM, Path(sys.prefix)), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.set_default_timeout(PATIENCE * 1_000)
        yield page
        browser.close()


@pytest.fixture
def running(plane: ControlPlane) -> Iterator[Running]:
    found = Running(plane)
    yield found
    found.stop()
