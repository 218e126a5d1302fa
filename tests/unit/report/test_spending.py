"""The section on costs: what it says, and what it does with little or strange data."""

import re
from dataclasses import asdict, replace

import pytest

import meshwright as mw
from meshwright.report.contents import LinkClass, Map, Spending
from meshwright.report.report_page import report_page
from meshwright.report.spending import drawn_map
from tests.unit.report.examples import report_of

SPENDING = Spending(
    classes=[
        LinkClass(name="local, inside a site", links=3, cost=3.0),
        LinkClass(name="long, between sites", links=1, cost=97.0),
    ],
    by_sites=True,
    dearest=[LinkClass(name="<b>ams</b> and nyc", links=1, cost=97.0)],
    rival=LinkClass(name="gm", links=3, cost=250.0),
    map=Map(
        names=["ams", "nyc", "<i>syd</i>"],
        lats=[52.4, 40.7, -33.9],
        lons=[4.9, -74.0, 151.2],
        costs=[100.0, 97.0, 0.0],
        links=[[0, 1, 1, 97.0]],
        without_place=2,
    ),
)


@pytest.fixture(scope="module")
def contents():
    return report_of(mw.workloads.unif(20, 6, subscriptions=3, seed=1), "gm")


def page_of(contents, found, **evaluation):
    """The section's text as HTML, after its way through the whole page."""
    both = replace(contents, spending=found, evaluation={**contents.evaluation, **evaluation})
    page = report_page(both)
    begin = page.find('id="spending"')
    return page[begin : page.find("</section>", begin)] if begin >= 0 else ""


def words_of(html):
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_the_unit_is_behind_every_cost(contents):
    nodes = contents.evaluation["nodes"]
    least = {"edges": 4, "lower_bound_weighted_average_degree": 2 * 80 / nodes}
    words = words_of(page_of(contents, replace(SPENDING, unit="ms"), **least))
    for said in ("cost 100 ms together, 25 ms each", "that cost 250 ms", "less than 80 ms:", "3 3 ms 3%"):
        assert said in words
    assert "ms" not in words_of(page_of(contents, SPENDING, **least)).replace("ams", "").split()


def test_a_report_without_costs_has_no_such_section(contents):
    assert page_of(contents, None) == ""


def test_it_says_what_links_cost_where_and_the_least_possible(contents):
    nodes = contents.evaluation["nodes"]
    html = page_of(contents, SPENDING, edges=4, lower_bound_weighted_average_degree=2 * 80 / nodes)
    words = words_of(html)
    assert "4 links cost 100 together, 25 each on average." in words
    assert "75% of them stay on one site and take 3% of the cost" in words
    assert (
        "An overlay by gm, which ignores costs, has 3 links that cost 250 , 2.50 times as much as gm."
        in words
    )
    assert (
        "No topic-connected overlay costs less than 80: this one costs at most 1.25 times the least" in words
    )
    assert "Not drawn, because coordinates are missing: 2 sites." in words
    assert "<b>ams" not in html
    assert "&lt;b&gt;ams&lt;/b&gt; and nyc" in html
    assert "&lt;i&gt;syd" in html


def test_an_overlay_without_links_costs_nothing(contents):
    nothing = Spending(classes=[], by_sites=False)
    assert "There are no links, so there is no cost." in words_of(page_of(contents, nothing, edges=0))


def test_costs_without_sites_come_in_quarters_and_places_may_be_unknown(contents):
    quarters = [LinkClass(name=f"quarter {at}", links=1, cost=1.0 + at) for at in range(4)]
    nowhere = Map(names=[], lats=[], lons=[], costs=[], links=[], without_place=3)
    html = page_of(contents, Spending(classes=quarters, by_sites=False, map=nowhere), edges=4)
    words = words_of(html)
    assert "Links of the same cost are never separated" in words
    assert "stay on one site" not in words
    assert "An overlay by" not in words
    assert "No place that has links has coordinates." in words


def test_what_the_section_shows_survives_json(contents):
    values = asdict(SPENDING)
    again = Spending(
        **{
            **values,
            "classes": [LinkClass(**part) for part in values["classes"]],
            "dearest": [LinkClass(**part) for part in values["dearest"]],
            "rival": LinkClass(**values["rival"]),
            "map": Map(**values["map"]),
        }
    )
    assert page_of(contents, again) == page_of(contents, SPENDING)


def ways(html):
    found = re.findall(r'class="far"', html)
    paths = re.findall(r'd="(M[^"]*L[^"]*)"', html)
    assert len(found) == len(paths)
    return [
        tuple(map(int, numbers))
        for numbers in re.findall(r"M(-?\d+) (-?\d+)L(-?\d+) (-?\d+)", "".join(paths))
    ]


def test_a_link_over_the_date_line_leaves_the_sheet_on_both_sides():
    pacific = Map(
        names=["fji", "hnl", "lon"],
        lats=[-18.0, 21.0, 51.0],
        lons=[178.0, -158.0, 0.0],
        costs=[1.0, 1.0, 1.0],
        links=[[0, 1, 1, 1.0], [1, 2, 1, 1.0]],
    )
    eastwards, westwards, plain = ways(drawn_map(pacific))
    assert eastwards[2] > 1000
    assert westwards[0] < 0
    assert all(0 <= x <= 1000 for x in plain[::2])


@pytest.mark.parametrize("spots", [1, 2, 300])
def test_a_map_of_few_or_many_spots_stays_on_its_sheet(spots):
    found = Map(
        names=[f"s{at}" for at in range(spots)],
        lats=[at % 17 for at in range(spots)],
        lons=[at % 23 for at in range(spots)],
        costs=[float(at) for at in range(spots)],
        links=[[at - 1, at, 1, 1.0] for at in range(1, spots)],
    )
    html = drawn_map(found)
    height = int(re.search(r'viewBox="0 0 1000 (\d+)"', html)[1])
    assert 400 <= height <= 900
    circles = re.findall(r'cx="(-?\d+)" cy="(-?\d+)"', html)
    assert len(circles) == spots
    assert all(0 <= int(x) <= 1000 and 0 <= int(y) <= height for x, y in circles)
    assert 1 <= html.count("<text") <= 8
