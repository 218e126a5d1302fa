"""From an overlay and an inventory to a plan."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import networkx as nx

from meshwright.deploy.hosts import Host, check_all_known, loopback
from meshwright.deploy.plan.accounts import accounts_of
from meshwright.deploy.plan.blocks import possible_ways
from meshwright.deploy.plan.nesting import Nesting, nesting_of
from meshwright.deploy.plan.plan import Link, Plan, Settings, Topic
from meshwright.deploy.plan.trees import Trees, nested_trees, topic_groups
from meshwright.filters.automata import Automaton
from meshwright.filters.dialects import dialect_of
from meshwright.filters.filter import Filter, rules_of, words_of
from meshwright.model.filtered import dialect_of_topics, own_filters_of
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.model.rates import has_rates, rates_of
from meshwright.runtime.errors import InputError, quoted
from meshwright.runtime.progress import Progress
from meshwright.runtime.wording import count


class Engine(NamedTuple):
    """What a plan has to know of a kind of broker."""

    driver: str
    dialect: str
    by_accounts: bool = False
    """Links carry whatever somebody wants, kept apart by accounts, instead of lines."""
    routes_itself: bool = False
    """Brokers bear cycles and choose the ways of messages themselves; all links of the overlay are opened."""


def make_plan(
    overlay: Overlay,
    engine: Engine,
    hosts: Mapping[str, Host] | None = None,
    *,
    settings: Settings | None = None,
    most_lines: int | None = None,
    before: Plan | None = None,
    source: str = "",
    inventory: object = "",
    progress: Progress | None = None,
) -> Plan:
    """A plan for a topic-connected overlay.

    A link that a plan `before` has is opened by the same end. Without `hosts`, brokers get ports of loopback.

    Raises:
        InputError: a topic can't be expressed, a node is not in the inventory, or a limit is not kept.
    """
    settings = settings or Settings()
    interests = overlay.interests
    names: list[str] = interests.nodes.to_pylist()
    if hosts is not None:
        check_all_known(names, hosts, inventory)
    known = loopback(names) if hosts is None else hosts
    nesting = nesting_of(interests, engine.dialect)
    trees = _trees(overlay, nesting, engine, settings, before, progress)
    accounts = _accounts(overlay, nesting, trees, engine, before)
    links, unused = _links(overlay, nesting, trees, accounts if engine.by_accounts else None, known, before)
    plan = Plan(
        driver=engine.driver,
        settings=settings,
        hosts=tuple(known[name] for name in names),
        wants=_wants(interests),
        links=tuple(sorted(links)),
        topics=_topics(interests, nesting, trees, accounts),
        unused=unused,
        loopback=hosts is None,
        overlay=source,
    )
    _check_limits(plan, _most_links(interests, known), most_lines)
    return plan


def _trees(
    overlay: Overlay,
    nesting: Nesting,
    engine: Engine,
    settings: Settings,
    before: Plan | None,
    progress: Progress | None,
) -> Trees:
    """By topic the links that carry it, or may carry it where brokers choose the ways."""
    if engine.routes_itself:
        return possible_ways(overlay, progress)
    return nested_trees(
        overlay,
        nesting,
        settings.tree,
        one_per_group=engine.by_accounts,
        before=[] if before is None else _links_before(overlay, nesting, before, engine.dialect),
        progress=progress,
    )


def _links_before(overlay: Overlay, nesting: Nesting, before: Plan, dialect: str) -> list[list[int]]:
    """By topic, the links of the overlay that carried its example in an earlier plan."""
    names = overlay.interests.nodes.to_pylist()
    numbers = {frozenset((names[u], names[v])): at for at, (u, v) in enumerate(overlay.edges.tolist())}
    by_line: defaultdict[str, list[int]] = defaultdict(list)
    for link in before.links:
        if (number := numbers.get(frozenset(link.ends))) is not None:
            for line in link.lines:
                by_line[line].append(number)
    rules = dialect_of(dialect)
    lines = sorted(by_line)
    automaton = Automaton((Filter(line, dialect).pattern for line in lines), rules_of(rules))
    matched = (automaton.match(words_of(example, rules)) for example in nesting.examples)
    return [sorted({link for line in own for link in by_line[lines[line]]}) for own in matched]


def _links(
    overlay: Overlay,
    nesting: Nesting,
    trees: Trees,
    accounts: Sequence[int] | None,
    hosts: Mapping[str, Host],
    before: Plan | None,
) -> tuple[list[Link], tuple[tuple[str, str], ...]]:
    """The links that some tree has, and the pairs of the others."""
    interests = overlay.interests
    names, topics = interests.nodes.to_pylist(), interests.topics.to_pylist()
    carried: list[list[int]] = [[] for _ in range(len(overlay))]
    for topic, own in enumerate(trees.links):
        for link in own:
            carried[link].append(topic)
    pairs: list[tuple[str, str]] = [(names[u], names[v]) for u, v in overlay.edges.tolist()]
    used = [number for number, own in enumerate(carried) if own]
    upwards = {} if accounts is None else _upwards(overlay, trees, accounts)
    opened = _openers([(*pairs[number], upwards.get(number)) for number in used], hosts, before)
    rates = _rates(interests)
    found = []
    for number, (opens, to) in zip(used, opened, strict=True):
        here = set(carried[number])
        lines = sorted(topics[topic] for topic in here if here.isdisjoint(nesting.around[topic]))
        apart = () if accounts is None else tuple(sorted({accounts[topic] for topic in here}))
        rate = None if rates is None else round(sum(rates[topic] for topic in here), 9)
        found.append(Link(opens, to, tuple(lines), apart, rate))
    return found, tuple(pair for pair, own in zip(pairs, carried, strict=True) if not own)


def _upwards(overlay: Overlay, trees: Trees, accounts: Sequence[int]) -> dict[int, str]:
    """By link of an account with relays, the end that is farther from the root of its tree.

    If this end opens the link, each broker opens at most one in the account. NATS servers don't tell a server
    that they have connected to what others want that they have connected to, too, so a relay must not have
    opened both links that it relays between.
    """
    interests = overlay.interests
    names, ends = interests.nodes.to_pylist(), overlay.edges.tolist()
    found: dict[int, str] = {}
    for account in sorted({accounts[topic] for topic, _ in trees.relays}):
        own = {
            link for topic, links in enumerate(trees.links) if accounts[topic] == account for link in links
        }
        graph: nx.Graph[int] = nx.Graph([(*ends[link], {"link": link}) for link in sorted(own)])
        for component in nx.connected_components(graph):
            root = min(component, key=lambda node: (-graph.degree(node), node))
            for parent, child in nx.bfs_edges(graph, root):
                found.setdefault(graph.edges[parent, child]["link"], names[child])
    return found


def _openers(
    pairs: Sequence[tuple[str, str, str | None]], hosts: Mapping[str, Host], before: Plan | None
) -> list[tuple[str, str]]:
    """Which end opens each link: one that must or should, the same as before, or the one that opens fewer."""
    kept = {frozenset(link.ends): link.opens for link in before.links} if before else {}
    opens: defaultdict[str, int] = defaultdict(int)
    found = []
    for one, other, should in pairs:
        free = [end for end, far in ((one, other), (other, one)) if hosts[far].accepts]
        if not free:
            raise InputError(
                f"the overlay links {quoted(one)} and {quoted(other)}, but by the inventory neither accepts "
                f"links; let one of them accept, or build without this link"
            )
        last = should or kept.get(frozenset((one, other)))
        chosen = last if last in free else min(free, key=lambda end: (opens[end], end))
        opens[chosen] += 1
        found.append((chosen, other if chosen == one else one))
    return found


def _accounts(
    overlay: Overlay, nesting: Nesting, trees: Trees, engine: Engine, before: Plan | None
) -> list[int]:
    """By topic its account; topics that are nested or cross are in one."""
    found = [0] * len(trees.links)
    if not engine.by_accounts:
        return found
    groups = list(topic_groups(nesting))
    joined = [sorted({link for topic in group for link in trees.links[topic]}) for group in groups]
    ends = [(u, v) for u, v in overlay.edges.tolist()]
    had = {topic.name: topic.account for topic in before.topics} if before else {}
    names = overlay.interests.topics.to_pylist()
    kept = [had.get(names[group[0]]) for group in groups]
    for group, account in zip(groups, accounts_of(joined, ends, kept), strict=True):
        for topic in group:
            found[topic] = account
    return found


def _wants(interests: Interests) -> dict[str, tuple[str, ...]]:
    if interests.topic_count and dialect_of_topics(interests) is not None:
        return {node: tuple(sorted(own)) for node, own in own_filters_of(interests).items()}
    return {node: tuple(interests.topics_of(node)) for node in interests.nodes.to_pylist()}


def _topics(
    interests: Interests, nesting: Nesting, trees: Trees, accounts: Sequence[int]
) -> tuple[Topic, ...]:
    names: list[str] = interests.nodes.to_pylist()
    relays: defaultdict[int, list[str]] = defaultdict(list)
    for topic, node in trees.relays:
        relays[topic].append(names[node])
    starts, nodes = interests.topic_indptr.tolist(), interests.node_ids.tolist()
    return tuple(
        Topic(
            name,
            nesting.examples[topic],
            tuple(names[node] for node in nodes[starts[topic] : starts[topic + 1]]),
            tuple(relays[topic]),
            accounts[topic],
        )
        for topic, name in enumerate(interests.topics.to_pylist())
    )


def _rates(interests: Interests) -> list[float] | None:
    """Messages a second by topic, where they are known; others count nothing."""
    return rates_of(interests, unknown=0.0).tolist() if has_rates(interests) else None


def _most_links(interests: Interests, hosts: Mapping[str, Host]) -> dict[str, int]:
    """By node how many links it may have, by the inventory or else by the dataset."""
    attributes = interests.node_attributes
    names = interests.nodes.to_pylist()
    own: list[int | None] = [None] * len(names)
    if attributes is not None and "max_links" in attributes.column_names:
        own = attributes["max_links"].to_pylist()
    both = (
        (name, limit if (said := hosts[name].max_links) is None else said)
        for name, limit in zip(names, own, strict=True)
    )
    return {name: int(limit) for name, limit in both if limit is not None}


def _check_limits(plan: Plan, most_links: Mapping[str, int], most_lines: int | None) -> None:
    for node, most in most_links.items():
        links = len(plan.opened_by(node)) + len(plan.accepted_by(node))
        if links > most:
            raise InputError(
                f"the node {quoted(node)} would have {count(links, 'link')}, but may have {most:,} "
                f"(max_links); raise the limit, or build an overlay with fewer links at it"
            )
    worst = max(plan.links, key=lambda link: len(link.lines), default=None)
    if worst and most_lines is not None and len(worst.lines) > most_lines:
        raise InputError(
            f"the link from {quoted(worst.opens)} to {quoted(worst.to)} would have {len(worst.lines):,} "
            f"lines, but may have {most_lines:,} (--most-lines); raise the limit, or subscribe by wider "
            f"filters"
        )
