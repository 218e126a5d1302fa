"""The section on views, and the page of a run of gossip."""

import re

import numpy as np
import pytest

import meshwright as mw
from meshwright.report.contents import Sharing
from meshwright.report.gossip import gossip_page, views
from meshwright.report.report_page import report_page
from tests.shelf import AWKWARD
from tests.unit.report.examples import report_of
from tests.unit.report.test_page import check_whole

GRID = mw.workloads.grid(60, 8, seed=3)


def test_the_page_of_a_run_says_what_the_run_found():
    found = mw.gossip(GRID, seed=1)
    text = gossip_page("grid", found, {"command": "gossip", "options": {"ttl": 5}})
    check_whole(text)
    assert f"{100 * found.improved_nodes:.3g}% got rid of some" in text
    assert f"{found.initial_physical_view_size:.3g}" in text
    assert text.count("<svg") == 4
    assert "physical at first" in text


@pytest.mark.parametrize("name", AWKWARD)
def test_a_page_is_whole_whatever_the_interests(name):
    for options in (mw.StanOptions(rounds=1), mw.StanOptions(links="random")):
        check_whole(gossip_page(name, mw.gossip(AWKWARD[name], options), {}))


def test_a_report_shows_views_where_the_overlay_has_them():
    assert "Views that share links" not in report_page(report_of(GRID, "ring"))
    text = report_page(report_of(GRID, "stan"))
    check_whole(text)
    assert "Views that share links" in text
    assert "What sharing did" not in text  # nothing is known of the views at first


def test_sharing_counts_nodes_by_their_links_before_and_after():
    found = Sharing.of(np.array([4, 4, 0, 9, 4]), np.array([2, 2, 3, 9, 5]))
    assert list(zip(found.before, found.after, found.nodes, strict=True)) == [(4, 2, 2), (4, 5, 1), (9, 9, 1)]
    counts = mw.gossip(GRID, diameters=False).view_distributions()
    words = re.sub("<[^>]*>", "", views(counts, found))
    assert "Of 4 nodes with links, 50% got rid of some, 50% of over 40%; 25% got more." in words
