"""What a churn page says of costs, and of the start apart from events."""

import numpy as np
import pyarrow as pa
import pytest

from meshwright.maintain.journal.recording import SCHEMAS
from meshwright.report.churn import Happened, Story, changes_by_step, churn_page, longest_row, run_of

ROW = dict.fromkeys(("at", "refused", "shadows", "repair_seconds", "backup_seconds"), 1) | {
    "nodes": 4,
    "average_degree": 2.0,
    "maximum_degree": 3,
}
START = {**ROW, "revision": 0, "cause": "start", "events": 0, "opened": 5, "closed": 0, "links": 8}
REFUSED = {**ROW, "revision": 1, "cause": "join x", "events": 0, "opened": 0, "closed": 0, "links": 8}
LEAVE = {**ROW, "revision": 2, "cause": "leave y", "events": 1, "opened": 1, "closed": 3, "links": 6}
JOIN = {**ROW, "revision": 3, "cause": "join z", "events": 1, "opened": 2, "closed": 0, "links": 8}
RELINK = {**ROW, "revision": 4, "cause": "relink", "events": 0, "opened": 1, "closed": 1, "links": 8}
COSTS = [
    {"opened_cost": 50.0, "closed_cost": 0.0, "cost": 80.0},
    {"opened_cost": 0.0, "closed_cost": 0.0, "cost": 80.0},
    {"opened_cost": 7.0, "closed_cost": 30.0, "cost": 57.0},
    {"opened_cost": 11.0, "closed_cost": 0.0, "cost": 68.0},
]
PLAIN = [START, REFUSED, LEAVE, JOIN]
PRICED = [{**row, **costs} for row, costs in zip(PLAIN, COSTS, strict=True)]


CHANGES = [
    {
        "revision": 0,
        "at": None,
        "action": "open",
        "source": "a",
        "target": "c",
        "cause": "start",
        "cost": 50.0,
    },
    {"revision": 2, "at": 5, "action": "open", "source": "a", "target": "b", "cause": "leave y", "cost": 7.0},
    {
        "revision": 2,
        "at": 5,
        "action": "close",
        "source": "a",
        "target": "y",
        "cause": "leave y",
        "cost": 30.0,
    },
]
EVENTS = [
    Happened(4, "join", "x", ("news",), "'x' joins, but is in the overlay"),
    Happened(5, "leave", "y", (), None),
    Happened(6, "join", "<z>", ("news", "sport"), None),
]
STORY = Story("mesh", EVENTS, pa.Table.from_pylist(CHANGES, SCHEMAS["changes"]), "ms")


def table(rows):
    return pa.Table.from_pylist(rows, SCHEMAS["repairs"])


def test_what_the_start_opened_is_apart_from_what_events_did():
    assert changes_by_step(table(PLAIN)) == {"start": (5, 0, None, None), "events": (3, 3, None, None)}
    assert changes_by_step(table(PRICED)) == {"start": (5, 0, 50.0, 0.0), "events": (3, 3, 18.0, 30.0)}


def test_links_that_somebody_exchanged_later_are_not_those_of_the_start():
    assert changes_by_step(table([*PLAIN, RELINK]))["start"].opened == 5


def test_costs_go_from_the_start_over_the_repairs_and_leave_out_what_was_refused():
    run = run_of("shadow", table(PRICED))
    assert run.cost.total.tolist() == [80.0, 57.0, 68.0]
    assert run.cost.a_link.tolist() == [10.0, 9.5, 8.5]
    assert run.changes.tolist() == [4.0, 2.0]
    assert run_of("shadow", table(PLAIN)).cost is None
    assert run_of("shadow", table([PRICED[0], PLAIN[2]])).cost is None


def test_a_page_has_costs_only_where_links_have_some():
    page = churn_page(STORY, [run_of("shadow", table(PRICED))], {})
    told = "The cost of all links at the start, and after each repair: shadow from 80 ms to 68 ms."
    assert told in page.replace("\N{NO-BREAK SPACE}", " ")
    assert "saved by closed" in page
    assert 'href="#costs"' in page
    bare = churn_page(STORY, [run_of("shadow", table(PLAIN))], {})
    assert 'href="#costs"' not in bare
    assert "saved by closed" not in bare
    for text in (page, bare):
        assert "shadow, at the start" in text
        assert "links opened at the start, to connect topics" in text


@pytest.mark.parametrize("rows", [PRICED[:1], PLAIN[:1], []])
def test_a_page_without_repairs_still_tells_of_the_start(rows):
    page = churn_page(STORY, [run_of("shadow", table(rows))], {})
    assert ("links opened at the start" in page) == bool(rows)


def test_the_title_names_the_dataset_and_what_was_applied():
    page = churn_page(STORY, [run_of("shadow", table(PRICED))], {})
    assert "<title>mesh: 1 leave, 1 join · Meshwright</title>" in page
    assert Story("mesh", [], SCHEMAS["changes"].empty_table()).title == "mesh: no events"


def test_a_page_lists_events_and_links_by_name_with_the_unit_of_costs():
    page = churn_page(STORY, [run_of("shadow", table(PRICED))], {})
    for told in ("refused, because", "in the overlay", "&lt;z&gt;", "news, sport", ">open<", "cost, ms"):
        assert told in page


def test_a_page_lists_the_first_of_many_and_says_how_many_there_are():
    story = STORY._replace(
        events=[Happened(at, "leave", f"node {at}", (), None) for at in range(51)],
        changes=pa.Table.from_pylist(CHANGES[1:] * 101, SCHEMAS["changes"]),
    )
    page = churn_page(story, [run_of("shadow", table(PRICED))], {})
    assert "node 49" in page
    assert "node 50" not in page
    assert "The first 50 of 51 events." in page
    assert "The first 200 of 202 changes; changes.csv has all of them." in page


def test_degrees_begin_with_the_state_before_the_first_repair():
    rows = [{**START, "average_degree": 9.0, "maximum_degree": 7}, REFUSED, LEAVE, JOIN]
    run = run_of("shadow", table(rows))
    assert run.average.tolist() == [9.0, 2.0, 2.0]
    assert run.maximum.tolist() == [7.0, 3.0, 3.0]
    assert "Links per node at the start, and after each repair: shadow from 9 to 2." in churn_page(
        STORY, [run], {}
    )


def test_times_are_told_as_computing_and_not_below_a_hundredth_of_a_millisecond():
    rows = [{**row, "repair_seconds": 3.4e-7} for row in PLAIN]
    page = churn_page(STORY, [run_of("shadow", table(rows))], {})
    assert "to compute a repair, in the median" in page
    assert "under 0.01 ms" in page
    assert "0.00034" not in page


def test_a_page_tells_who_lacked_spares_and_who_had_too_many_links_if_that_was_asked_for():
    lacking = [{**row, "unprotected": at, "over_max_links": 0} for at, row in enumerate(PLAIN)]
    story = STORY._replace(unprotected=["<news>"], over=[])
    page = churn_page(story, [run_of("shadow", table(lacking))], {})
    for told in (
        "Topics without a spare at the start, and after each repair: shadow after 2 of 2 repairs, 2 in a row",
        "Nodes over max_links at the start, and after each repair: shadow after 0 of 2 repairs",
        "Topics without a spare at the end: &lt;news&gt;.",
    ):
        assert told in page
    assert 'href="#robust"' not in churn_page(STORY, [run_of("shadow", table(lacking))], {})
    only = churn_page(STORY._replace(over=["a"]), [run_of("shadow", table(PLAIN))], {})
    assert "Nodes over max_links at the end: a." in only
    assert "Topics without a spare" not in only


@pytest.mark.parametrize(("flags", "longest"), [("", 0), ("0", 0), ("1", 1), ("1101110", 3), ("0111", 3)])
def test_the_longest_row(flags, longest):
    assert longest_row(np.array([flag == "1" for flag in flags], np.bool_)) == longest
