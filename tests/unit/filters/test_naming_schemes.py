"""Overlays of classes on realistic naming schemes, checked by a matcher that shares no code."""

import networkx as nx
import pytest

import meshwright as mw
from benchmarks.filters import as_names, cut_classes
from benchmarks.naming_schemes import SCHEMES, subscriptions, unseen_names
from tests.oracles_filters import matches

FORMS = [(scheme, plus) for scheme in SCHEMES for plus in (False, True)]


def subscribers(pairs: list[tuple[str, str]], name: str) -> set[str]:
    return {node for node, text in pairs if matches("mqtt", text, name)}


@pytest.mark.parametrize(("scheme", "plus"), FORMS)
def test_the_subscribers_of_names_never_seen_are_connected(scheme: str, plus: bool) -> None:
    pairs = subscriptions(scheme, 40, 200, plus=plus)
    graph = mw.build(mw.Interests.from_filters(pairs), "gm").to_networkx()
    crowds = [subscribers(pairs, name) for name in unseen_names(scheme, 300)]
    assert sum(len(crowd) > 1 for crowd in crowds) > 10
    assert all(nx.is_connected(graph.subgraph(crowd)) for crowd in crowds if crowd)


@pytest.mark.parametrize(("scheme", "plus"), FORMS)
def test_filters_taken_as_names_leave_subscribers_apart(scheme: str, plus: bool) -> None:
    pairs = subscriptions(scheme, 40, 200, plus=plus)
    opaque = mw.build(as_names(pairs), "gm")
    graph = opaque.to_networkx()
    crowds = [subscribers(pairs, name) for name in unseen_names(scheme, 300)]
    assert not all(nx.is_connected(graph.subgraph(crowd)) for crowd in crowds if crowd)
    classes = mw.Interests.from_filters(pairs)
    assert cut_classes(classes, opaque) > 0
    assert cut_classes(classes, mw.build(classes, "gm")) == 0
