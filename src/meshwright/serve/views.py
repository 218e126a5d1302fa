"""What there is to see of an overlay, in JSON's types: a summary, pages of names, single nodes and topics."""

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from heapq import nsmallest
from typing import Any, NamedTuple

from meshwright.maintain.maintainer import Maintainer
from meshwright.maintain.repairs import Link


class Paging(NamedTuple):
    """Which names: those after `after`, in order, that contain `search` in any case; at most `limit`."""

    after: str
    limit: int
    search: str = ""


def summary(live: Maintainer) -> dict[str, Any]:
    """The numbers of an overlay that are known at any time."""
    return {
        "revision": live.revision,
        "nodes": len(live),
        "topics": len(live.topics),
        "links": live.link_count,
        "average_degree": live.average_degree,
        "maximum_degree": live.maximum_degree,
        "cost": live.cost,
        "unprotected_topics": len(live.unprotected),
        "nodes_over_max_links": len(live.over_max_links),
        "policy": live.options.policy,
        "resilience": live.options.resilience,
    }


def page_of(names: Collection[str], paging: Paging) -> tuple[list[str], str | None]:
    """A page of names, and the name to go on after, if there are more. One look at each name."""
    wanted = paging.search.casefold()
    found = (name for name in names if name > paging.after and (not wanted or wanted in name.casefold()))
    page = nsmallest(paging.limit + 1, found)
    more = len(page) > paging.limit
    page = page[: paging.limit]
    return page, page[-1] if more else None


def nodes_page(paging: Paging, live: Maintainer) -> dict[str, Any]:
    """Nodes with their numbers of topics and links."""
    names, following = page_of(live.nodes, paging)
    rows = [
        {"name": name, "topics": len(live.topics_of(name)), "links": len(live.neighbours_of(name))}
        for name in names
    ]
    return {"revision": live.revision, "nodes": rows, "next": following}


def topics_page(paging: Paging, live: Maintainer) -> dict[str, Any]:
    """Topics with their numbers of subscribers."""
    names, following = page_of(live.topics, paging)
    rows = [{"name": name, "subscribers": len(live.subscribers_of(name))} for name in names]
    return {"revision": live.revision, "topics": rows, "next": following}


def links_page(paging: Paging, live: Maintainer) -> dict[str, Any]:
    """The links from the nodes of a page to nodes with greater names; all pages together have each once."""
    names, following = page_of(live.nodes, paging)
    links = [(name, other) for name in names for other in sorted(live.neighbours_of(name)) if other > name]
    return {"revision": live.revision, "links": links, "next": following}


def node(name: str, live: Maintainer) -> dict[str, Any] | None:
    """All that is known of a node; None if there is none."""
    if name not in live:
        return None
    return {
        "revision": live.revision,
        "name": name,
        "topics": sorted(live.topics_of(name)),
        "filters": sorted(live.filters_of(name)),
        "neighbours": sorted(live.neighbours_of(name)),
        "backups": sorted(live.replacements_of(name)) if live.options.policy == "shadow" else None,
        "max_links": live.max_links_of(name),
    }


def topic(name: str, live: Maintainer) -> dict[str, Any] | None:
    """The subscribers of a topic, the links among them, and a tree of these; None if there is none."""
    if name not in live.topics:
        return None
    subscribers = live.subscribers_of(name)
    linked = {one: sorted(live.neighbours_of(one) & subscribers) for one in sorted(subscribers)}
    links = [(one, other) for one, others in linked.items() for other in others if other > one]
    return {
        "revision": live.revision,
        "name": name,
        "subscribers": list(linked),
        "links": links,
        "tree": tree_of(linked),
    }


def tree_of(linked: Mapping[str, Sequence[str]]) -> list[Link]:
    """A tree over links, each from the root on, such that no path from the root is shorter outside of it.

    The root is the node with most links, the first of equals, as for the trees of `routing` where links don't
    cost. Of nodes that no path connects to it, there is nothing. Linear in the links.
    """
    root = max(linked, key=lambda node: len(linked[node]))
    found, reached, waiting = [], {root}, deque([root])
    while waiting:
        node = waiting.popleft()
        new = [other for other in linked[node] if other not in reached]
        found += [(node, other) for other in new]
        reached.update(new)
        waiting.extend(new)
    return found
