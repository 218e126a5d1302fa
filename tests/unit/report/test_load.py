"""The sections on busy nodes and heavy topics, and the warning about hubs."""

import re
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import meshwright as mw
from meshwright.report.contents import Busiest, BusyNode, Contents, LinkClass, Spending, Target, TopicLoad
from meshwright.report.load import topic_loads
from meshwright.report.report_page import report_page
from tests.unit.report.examples import report_of
from tests.unit.report.pages import Page

HUB = Busiest(
    nodes=[BusyNode(name="hub", links=40, limit=9), BusyNode(name="leaf", links=2)],
    links=80,
    average_degree=1.95,
    over_limit=3,
    furthest_over=[BusyNode(name="hub", links=40, limit=9)],
    warnings=["Node 'hub' has 40 of the 80 links."],
)


@pytest.fixture(scope="module")
def contents():
    return report_of(mw.workloads.unif(20, 6, subscriptions=3, seed=1))


def section_of(contents: Contents, key: str) -> str:
    """The words of a section of the page; empty where there is none."""
    page = report_page(contents)
    begin = page.find(f'<section id="{key}"')
    html = page[begin : page.find("</section>", begin)] if begin >= 0 else ""
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


def test_the_heaviest_topics_are_those_of_networkx():
    interests = mw.workloads.zipf(60, 25, subscriptions=4, seed=3)
    built = mw.build(interests, "ring")
    overlay = mw.Overlay(interests, built.edges, np.linspace(1, 9, len(built)))
    graph = overlay.to_networkx()
    graphs = {topic: graph.subgraph(interests.nodes_of(topic)) for topic in interests.topics.to_pylist()}
    loads = topic_loads(mw.evaluate(overlay), most=5)
    measures = {"cost": lambda own: own.size("cost"), "links": nx.Graph.size, "subscribers": len}
    assert list(loads) == list(measures)
    for measure, value in measures.items():
        expected = sorted(graphs, key=lambda topic: (-value(graphs[topic]), topic.encode()))[:5]
        assert [load.name for load in loads[measure]] == expected
        for load in loads[measure]:
            own = graphs[load.name]
            assert (load.subscribers, load.links, load.parts) == (len(own), own.size(), 1)
            assert load.cost == pytest.approx(own.size("cost"))
            assert load.diameter == nx.diameter(own)


def test_without_costs_or_links_only_what_there_is_is_ranked():
    interests = mw.Interests.from_pairs([("a", "x"), ("b", "x"), ("c", "y")])
    loads = topic_loads(mw.evaluate(mw.Overlay.from_arrays(interests, np.empty((0, 2), np.int32))))
    assert loads["links"] == []
    assert loads["subscribers"] == [
        TopicLoad(name="x", subscribers=2, links=0, cost=None, diameter=None, parts=2),
        TopicLoad(name="y", subscribers=1, links=0, cost=None, diameter=0, parts=1),
    ]


def test_a_hub_is_warned_of_before_all_sections_with_a_way_to_its_table(contents):
    page = report_page(replace(contents, busiest=HUB))
    box = page.index('<div class="warning"')
    assert box < page.index("<section")
    assert "Node &#x27;hub&#x27; has 40 of the 80 links." in page[box:]
    assert 'href="#busiest"' in page[box : page.index("</div>", box)]
    assert 'class="warning"' not in report_page(replace(contents, busiest=replace(HUB, warnings=[])))


def test_busy_nodes_come_with_their_share_and_their_limit(contents):
    words = section_of(replace(contents, busiest=HUB), "busiest")
    assert "hub has 40 links, 50% of all; the average is 1.95 per node." in words
    assert "node links of all links max_links hub 40 50% over 9 leaf 2 2.5% none" in words
    assert "the shares of all nodes add up to 200%" in words
    assert "Over max_links: 3 nodes" in words
    assert "and 2 more nodes." in words


def test_the_busiest_nodes_of_each_target_have_a_table_and_their_warning(contents):
    better = Busiest(
        nodes=[BusyNode(name="star", links=62)], links=208, average_degree=3.0, warnings=["Mind."]
    )
    target = Target(name="better", evaluation=contents.evaluation, opened=1, closed=2, kept=3, busiest=better)
    words = section_of(replace(contents, busiest=HUB, targets=[target]), "busiest")
    assert words.index("hub 40") < words.index("With better") < words.index("Mind.") < words.index("star 62")


def test_without_limits_there_is_no_column_for_them(contents):
    free = Busiest(nodes=[BusyNode(name="n", links=3)], links=3, average_degree=2.0)
    assert "max_links" not in section_of(replace(contents, busiest=free), "busiest")
    none = Busiest(nodes=[], links=0, average_degree=0.0)
    assert section_of(replace(contents, busiest=none), "busiest").endswith("so no node is busy.")


def test_topics_are_ranked_by_each_measure_unless_the_same_are_shown_already(contents):
    def load(name, cost=None, parts=1):
        diameter = 2 if parts == 1 else None
        return TopicLoad(name=name, subscribers=5, links=4, cost=cost, diameter=diameter, parts=parts)

    loads = {"cost": [load("a", 7.5), load("b", 3.0, parts=3)], "links": [load("b"), load("a")]}
    spent = Spending(classes=[LinkClass(name="all", links=4, cost=9.0)], by_sites=False, unit="ms")
    words = section_of(replace(contents, topic_loads=loads, spending=spent), "load")
    assert "The most expensive topics" in words
    assert "a 5 4 7.5 ms 2 b 5 4 3 ms cut, 3 parts" in words
    assert "The topics with most links" not in words
    loads = {"links": [load("a")], "subscribers": [load("b")]}
    other = section_of(replace(contents, topic_loads=loads), "load")
    assert "The topics with most links" in other
    assert "The topics with most subscribers" in other
    assert "cost" not in other


def test_names_of_nodes_and_topics_are_text(contents):
    name = "</td><script>x</script>"
    loads = {"links": [TopicLoad(name=name, subscribers=1, links=1, cost=None, diameter=1, parts=1)]}
    busy = replace(HUB, nodes=[BusyNode(name=name, links=1)], furthest_over=[], warnings=[name])
    page = Page(report_page(replace(contents, busiest=busy, topic_loads=loads)))
    assert "script" not in page.tags()
    assert page.text.count(name) >= 3
