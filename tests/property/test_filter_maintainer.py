"""Filters come and go, and every name's subscribers stay connected."""

import hypothesis.strategies as st
import networkx as nx
from hypothesis import given

import meshwright as mw
from tests.oracles_filters import all_names, matches
from tests.property.test_filters import filters

NODES = [f"b{number}" for number in range(5)]


@st.composite
def stories(draw: st.DrawFn) -> tuple[str, list[tuple[str, str]], list[tuple[str, str, list[str]]]]:
    dialect = draw(st.sampled_from(["mqtt", "nats", "amqp"]))
    texts = draw(st.lists(filters(dialect), min_size=2, max_size=6, unique=True))
    pairs = draw(
        st.lists(st.tuples(st.sampled_from(NODES[:3]), st.sampled_from(texts)), min_size=1, max_size=5)
    )
    kinds = st.sampled_from(["join", "leave", "subscribe", "unsubscribe"])
    some = st.lists(st.sampled_from(texts), min_size=1, max_size=2)
    return dialect, pairs, draw(st.lists(st.tuples(kinds, st.sampled_from(NODES), some), max_size=5))


@given(stories())
def test_the_overlay_connects_the_subscribers_of_every_name_after_every_event(story) -> None:
    dialect, pairs, events = story
    interests = mw.Interests.from_filters(pairs, dialect)
    live = mw.Maintainer(mw.build(interests, "gm"))
    own: dict[str, set[str]] = {node: set() for node, _ in pairs}
    for node, text in pairs:
        own[node].add(text)
    for kind, node, texts in events:
        event = mw.Event(1, kind, node, () if kind == "leave" else tuple(texts))
        if not live.apply([event], lenient=True).refused:
            _follow(own, event)
        _check(dialect, own, live)


def _follow(own: dict[str, set[str]], event: mw.Event) -> None:
    if event.event == "leave":
        del own[event.node]
    elif event.event == "unsubscribe":
        own[event.node] -= set(event.topics)
    else:
        own.setdefault(event.node, set()).update(event.topics)


def _check(dialect: str, own: dict[str, set[str]], live: mw.Maintainer) -> None:
    overlay = live.overlay
    pairs = [(node, text) for node, texts in own.items() for text in texts]
    assert overlay.interests == mw.Interests.from_filters(pairs, dialect, nodes=list(own))
    graph = overlay.to_networkx()
    for name in all_names(dialect)[::3]:
        wanted = {node for node, texts in own.items() if any(matches(dialect, text, name) for text in texts)}
        assert len(wanted) < 2 or nx.is_connected(graph.subgraph(wanted)), name
