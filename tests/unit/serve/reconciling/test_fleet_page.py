"""The fleet on the page: a plan is looked at, tried and approved, by whoever may; silent links."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Page, expect

from meshwright.deploy.health.probes import Health
from meshwright.serve.control_plane import ControlPlane
from meshwright.serve.reconciling.reconciler import Reconciler
from tests.unit.serve.conftest import Running
from tests.unit.serve.pages import faults_of, sign_in
from tests.unit.serve.reconciling.conftest import Brokers, Made


@pytest.fixture
def fleet(made: Made) -> Reconciler:
    found = made(apply=False)
    turn(found)
    return found


@pytest.fixture
def running(plane: ControlPlane, fleet: Reconciler) -> Iterator[Running]:
    found = Running(plane, fleet=fleet)
    yield found
    found.stop()


def turn(fleet: Reconciler) -> None:
    """Take a turn on another thread, as the server does; this one has the event loop of Playwright."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(fleet.tick).result()


def test_a_plan_is_approved_on_the_page_by_whoever_may(
    page: Page, running: Running, fleet: Reconciler, brokers: Brokers
) -> None:
    sign_in(page, running, "read")
    expect(page.locator("#plan-state")).to_have_text("A plan waits for approval")
    expect(page.get_by_role("button", name="Approve and apply")).to_be_disabled()
    expect(page.get_by_role("button", name="Pause")).to_be_disabled()
    expect(page.locator("#role-note")).to_contain_text("role apply")
    page.get_by_role("button", name="Sign out").click()

    sign_in(page, running, "apply")
    waiting = fleet.waiting()
    assert waiting is not None
    expect(page.locator("#plan-diff tr")).to_have_count(len(waiting.opened))
    page.get_by_role("button", name="Dry run").click()
    expect(page.locator("#plan-answer")).to_contain_text("Would bring 6 files")
    assert faults_of(page) == []
    assert not brokers.links()
    page.get_by_role("button", name="Approve and apply").click()
    expect(page.locator("#plan-state")).to_have_text("Approved; it is being applied")
    turn(fleet)
    expect(page.locator("#plan-state")).to_have_text("All brokers follow the overlay")
    assert len(brokers.links()) == len(waiting.opened)

    plan = fleet._fleet.plan
    assert plan is not None
    fleet.health = [Health(*link.ends, True, at > 0, 1.5) for at, link in enumerate(plan.links)]
    expect(page.locator("#health tr").first).to_contain_text("up, but carries nothing")
    brokers.fail("a")
    turn(fleet)
    expect(page.locator("#brokers-down")).to_contain_text("1 broker does not answer: a")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("#plan-state")).to_contain_text("Paused")
    assert fleet.paused
    assert faults_of(page) == []
