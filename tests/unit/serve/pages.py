"""Signing in at the page, and what is wrong with it for those who don't see it or have no pointer."""

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.patience import PATIENCE
from tests.unit.serve.conftest import Running

expect.set_options(timeout=PATIENCE * 1_000)

_RULES = Path(__file__).with_name("accessibility.js")


def sign_in(page: Page, running: Running, *roles: str) -> None:
    """Sign in with a new token."""
    page.goto(running.url)
    page.get_by_label("Token").fill(running.access.add(" ".join(roles), roles)[1])
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#status")).to_have_text("Live")


def faults_of(page: Page) -> list[str]:
    """What is wrong with the page as it is now."""
    found: list[str] = page.evaluate(_RULES.read_text())
    return found
