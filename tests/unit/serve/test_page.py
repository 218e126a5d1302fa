"""The page in the machine's Chromium: signing in, searching, what-if, live steps, a server that goes away."""

import time

from playwright.sync_api import ConsoleMessage, Page, Route, expect

from meshwright.model.events import Event
from meshwright.serve.client import Client
from tests.unit.serve.conftest import Running
from tests.unit.serve.pages import faults_of, sign_in


def told_by(page: Page) -> list[str]:
    """Errors and warnings in the console, from now on."""
    told: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            told.append(message.text)

    page.on("console", hear)
    page.on("pageerror", lambda error: told.append(str(error)))
    return told


def test_signing_in_needs_a_token_that_is_known(page: Page, running: Running) -> None:
    told = told_by(page)
    page.goto(running.url)
    expect(page.locator("#status")).to_have_text("Not signed in")
    assert faults_of(page) == []
    assert told == []
    page.get_by_label("Token").fill("mw_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_have_text("This token is not known here.")
    assert ["401" in text for text in told] == [True]
    sign_in(page, running, "read")


def test_the_page_shows_the_overlay_and_follows_it(page: Page, running: Running) -> None:
    told = told_by(page)
    client = Client(running.url, running.access.add("client", ["write"])[1])
    sign_in(page, running, "read")
    expect(page.locator("#connected")).to_have_text("all")
    expect(page.locator("#nodes")).to_have_text("24")

    page.get_by_label("Part of a name").fill("N0")
    expect(page.locator("#found-nodes li")).to_have_count(10)
    expect(page.locator("#found-topics")).to_contain_text("None.")
    page.get_by_role("button", name="n03").first.press("Enter")
    expect(page.locator("#detail-title")).to_have_text("Node n03")
    expect(page.locator("#detail")).to_be_focused()
    backups = client.node("n03").backups
    expect(page.locator("#detail-body")).to_contain_text(f"Backups: {len(backups or ())}")
    tried = client.what_if("n03")
    page.get_by_role("button", name="What if it failed?").click()
    expect(page.locator("#what-if")).to_contain_text("Nothing was applied.")
    expect(page.locator("#what-if")).to_contain_text(f"open {len(tried.opened)} link")
    assert client.overlay().revision == 0

    hostile = "<img src=x onerror=alert(1)>"
    client.submit([Event(1, "join", hostile, ("t/0",))])
    expect(page.locator("#timeline tr").first).to_contain_text(f"join {hostile}")
    expect(page.locator("#nodes")).to_have_text("25")
    expect(page.locator("#rate")).to_have_text("1")
    expect(page.locator("#repairs")).to_have_text("1")
    assert told == []

    running.stop()
    expect(page.locator("#status")).to_contain_text("links stay as they are")
    running.start()
    client.submit([Event(2, "join", "later", ("t/0",))])
    expect(page.locator("#status")).to_have_text("Live")
    expect(page.locator("#timeline tr").first).to_contain_text("join later")
    expect(page.locator("#timeline tr", has_text="join")).to_have_count(2)

    page.set_viewport_size({"width": 360, "height": 740})
    assert faults_of(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    client.close()


def test_a_topic_shows_its_subscribers_and_its_tree(page: Page, running: Running) -> None:
    with Client(running.url, running.access.add("client", ["read"])[1]) as client:
        topic = client.topic("t/3")
    sign_in(page, running, "read")
    page.get_by_label("Part of a name").fill("t/3")
    page.get_by_role("button", name="t/3").click()
    expect(page.locator("#detail-title")).to_have_text("Topic t/3")
    expect(page.locator("#detail-body")).to_contain_text(f"Subscribers: {len(topic.subscribers)}")
    expect(page.locator("#detail-body")).to_contain_text(f"Tree: {len(topic.subscribers) - 1} links")
    expect(page.locator(".tree button").first).to_have_text(topic.tree[0][0])
    expect(page.locator("#map-hint")).to_have_text("Topic t/3")
    assert faults_of(page) == []


def test_events_of_the_last_minute_count_also_if_the_page_came_later(page: Page, running: Running) -> None:
    old = int(time.time()) - 3_600
    with Client(running.url, running.access.add("client", ["write"])[1]) as client:
        client.submit([Event(old, "join", "older", ("t/0",))])
        client.submit([Event(int(time.time()) + 3_600, "join", "newer", ("t/0",))])
    sign_in(page, running, "read")
    expect(page.locator("#rate")).to_have_text("1")
    expect(page.locator("#repairs")).to_have_text("1")


def test_the_map_shows_all_again_when_a_phone_is_turned(page: Page, running: Running) -> None:
    sign_in(page, running, "read")
    expect(page.locator("#map-about")).to_contain_text("24 nodes")
    for size in ({"width": 740, "height": 360}, {"width": 360, "height": 740}):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        page.wait_for_function("() => OverlayMap.shows().every(Boolean)")


def test_the_api_can_be_tried_and_a_reader_can_not_write(page: Page, running: Running) -> None:
    sign_in(page, running, "read")
    page.get_by_role("link", name="Try the API").click()
    assert faults_of(page) == []
    form = page.locator("#get_v1_overlay")
    form.get_by_role("button").click()
    expect(form.locator("+ pre")).to_contain_text("200 OK")
    form = page.locator("#post_v1_events")
    form.get_by_role("button").click()
    expect(form.locator("+ pre")).to_contain_text("this needs write")
    assert running.plane.revision == 0


def test_the_checker_of_pages_finds_faults(page: Page) -> None:
    page.set_content('<html><body><input><p style="color: #aaa; background: #fff">pale</p></body></html>')
    found = " ".join(faults_of(page))
    for rule in ("html-has-lang", "label", "color-contrast"):
        assert f" {rule}:" in found


def test_the_map_is_for_keyboards_and_for_those_who_do_not_see_it(page: Page, running: Running) -> None:
    sign_in(page, running, "read")
    page.get_by_label("Part of a name").fill("n03")
    page.get_by_role("button", name="n03").first.press("Enter")
    expect(page.locator("#map-about")).to_contain_text("24 nodes")
    expect(page.locator("#map-hint")).to_have_text("Node n03")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        assert faults_of(page) == []
    page.locator("#map").press("0")
    page.locator("#map").press("Enter")
    expect(page.locator("#detail-title")).not_to_have_text("Node n03")
    chosen = page.locator("#map-hint").text_content()
    assert chosen == page.locator("#detail-title").text_content()


def test_what_was_selected_before_the_map_came_is_shown_on_it(page: Page, running: Running) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/v1/map", hold)
    sign_in(page, running, "read")
    page.get_by_label("Part of a name").fill("n03")
    page.get_by_role("button", name="n03").first.press("Enter")
    expect(page.locator("#detail-title")).to_have_text("Node n03")
    expect(page.locator("#map-hint")).not_to_have_text("Node n03")
    for route in held:
        route.continue_()
    expect(page.locator("#map-hint")).to_have_text("Node n03")
