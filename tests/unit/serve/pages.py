"""Signing in at the page, and what is wrong with it for those who don't see it or have no pointer."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.patience import PATIENCE
from tests.unit.serve.conftest import Running

expect.set_options(timeout=PATIENCE * 1_000)


def sign_in(page: Page, running: Running, *roles: str) -> None:
    """Sign in with a new token."""
    page.goto(running.url)
    page.get_by_label("Token").fill(running.access.add(" ".join(roles), roles)[1])
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#status")).to_have_text("Live")


def faults_of(page: Page) -> list[str]:
    """What axe finds wrong with the page as it is now, serious or not."""
    rules = {"rules": {"target-size": {"enabled": True}}}
    found = Axe().run(page, options=rules).response["violations"]
    return [
        f"{fault['impact']} {fault['id']}: {node['target']} {node['failureSummary']}"
        for fault in found
        for node in fault["nodes"]
    ]
