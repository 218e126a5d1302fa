"""Standby links of a plan: which links that it leaves closed are opened when a broker fails."""

from collections import defaultdict
from collections.abc import Collection, Mapping

from meshwright.deploy.hosts import Host
from meshwright.deploy.plan.plan import Plan, Standby
from meshwright.deploy.plan.planning import Engine, make_plan
from meshwright.model.filtered import dialect_of_topics, own_filters_of
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.runtime.errors import InputError, quoted
from meshwright.runtime.progress import Progress, stage


def with_standby(
    plan: Plan, overlay: Overlay, engine: Engine, hosts: Mapping[str, Host], progress: Progress | None = None
) -> Plan:
    """The plan with its standby links, if the overlay was built with resilience.

    A standby link says the brokers after whose failure it is opened; `cuts` are the brokers after whose
    failure some topic stays cut. Brokers that choose ways themselves have all links open, and need none.

    Cost: a plan for each broker.
    """
    if engine.routes_itself or overlay.facts.get("options", {}).get("resilience", 1) == 1:
        return plan
    opened = {frozenset(link.ends) for link in plan.links}
    when: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    cuts = []
    with stage(progress, "planning for failures", len(plan.hosts)) as tell:
        for number, host in enumerate(plan.hosts, start=1):
            try:
                left = make_plan(
                    without(overlay, {host.node}), engine, hosts, settings=plan.settings, before=plan
                )
            except InputError:
                cuts.append(host.node)
                continue
            for link in left.links:
                if frozenset(link.ends) not in opened:
                    when[link.ends].append(host.node)
            tell(number)
    standby = tuple(Standby(*ends, tuple(nodes)) for ends, nodes in sorted(when.items()))
    return plan.with_standby(standby, tuple(cuts))


def without(overlay: Overlay, down: Collection[str]) -> Overlay:
    """An overlay without some nodes and their links; nothing is repaired.

    Raises:
        InputError: there is no such node.
    """
    interests = overlay.interests
    names = interests.nodes.to_pylist()
    unknown = next((node for node in down if node not in names), None)
    if unknown is not None:
        raise InputError(f"the overlay has no node {quoted(unknown)} (--down); give one that it has")
    ends = [(names[u], names[v]) for u, v in overlay.edges.tolist()]
    kept = [at for at, pair in enumerate(ends) if not {*pair} & {*down}]
    costs = None if overlay.costs is None else overlay.costs[kept]
    return Overlay.from_edges(_interests_without(interests, down), [ends[at] for at in kept], costs=costs)


def _interests_without(interests: Interests, down: Collection[str]) -> Interests:
    nodes = [node for node in interests.nodes.to_pylist() if node not in down]
    dialect = dialect_of_topics(interests) if interests.topic_count else None
    if dialect is None:
        return Interests.from_pairs([(node, topic) for node in nodes for topic in interests.topics_of(node)])
    own = own_filters_of(interests)
    return Interests.from_filters(
        [(node, text) for node in nodes for text in sorted(own[node])], dialect=dialect
    )
