"""Clusters of NATS servers: the full mesh of their routes and gateways, and the leaf nodes that they open."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, permutations

from meshwright.deploy.cluster_notes import (
    closes_cycle,
    doubled,
    left_by_refusal,
    left_out,
    meet_in_account,
    name_over,
    passed_on_twice,
    refused_over_gateways,
    refused_within,
)
from meshwright.deploy.leaf_links import End, Joined, Leaf, leaves_of, reached
from meshwright.deploy.mesh import Broker, Flow, Note, Place

ROUTE = "cluster"
"""The link of a flow that is a route, before the full mesh is known; gateways have another."""

_Ends = tuple[tuple[str, ...], tuple[str, ...], tuple[str | None, str | None]]
"""The servers and the accounts at both ends of leaf links."""

_Passing = dict[str, Leaf]
"""By member of a cluster, its leaf link to a hub."""

_MOST_PAIRS = 10_000
"""Pairs of hubs that are looked at for messages that several members of a cluster pass on."""


class Clusters:
    """The servers that routes connect to clusters, and gateways to clusters of clusters."""

    def __init__(self, meshed: Sequence[Flow], brokers: Iterable[Broker] = ()) -> None:
        self._deaf = {broker.name for broker in brokers if broker.clients_known and not broker.subscribes}
        self._written = {(flow.source, flow.target): flow for flow in reversed(meshed)}
        self._meshes = components(self._written)
        self._clusters = components(pair for pair, flow in self._written.items() if flow.link == ROUTE)

    def full_meshes(self, others: Iterable[Flow] = ()) -> Iterator[Flow]:
        """A flow from each server to each other that is meshed with it, all on one link.

        There is one for each account that the other flows have at some of the servers: a message stays in its
        account.
        """
        accounts_at = _accounts_at(others)
        for members in {id(own): own for own in self._meshes.values()}.values():
            some = next(flow for pair, flow in self._written.items() if pair[0] in members)
            link = f"cluster of {members[0]}"
            names = set().union(*(accounts_at.get(member, set()) for member in members))
            accounts: list[str | None] = [*sorted(names)] or [None]
            for pair in permutations(members, 2):
                flow = self._written.get(pair) or self._written.get(pair[::-1]) or some
                is_route = self._name_of(pair[0]) == self._name_of(pair[1])
                flow = flow._replace(
                    source=pair[0], target=pair[1], link=link, pulls=False, is_route=is_route
                )
                yield from (flow._replace(account=each, target_account=each) for each in accounts)

    def with_leaf_links(self, flows: list[Flow]) -> tuple[list[Flow], list[Note]]:
        """The flows without leaf links that are one with others, and notes on what clusters make of them.

        A server passes nothing on between its routes and the leaf links that it opened. So every member needs
        its link to a hub; together they are like one link, since a hub sends to each just what is for it.
        """
        inside = {leaf.link: leaf for leaf in leaves_of(flows) if leaf.hub in self._cluster_of(leaf)}
        notes = list(map(refused_within, inside.values()))
        dropped = set(inside)
        flows = [flow for flow in flows if flow.link not in dropped]
        over_gateways = list(self._over_gateways(flows))
        notes.extend(map(refused_over_gateways, over_gateways))
        dropped.update(leaf.link for leaf in chain(*over_gateways))
        flows = [flow for flow in flows if flow.link not in dropped]
        apart: set[str] = set()
        groups = self._groups(flows)
        for (own, hubs, accounts), group in groups.items():
            # Of links that both sides open, some are refused; single servers then deliver once.
            opposite = groups.get((hubs, own, accounts[::-1]))
            dropped.update(self._repeated(group, flows, [] if opposite else notes))
            if opposite and own < hubs and len(own) + len(hubs) > 2:
                notes.append(left_by_refusal(group[0], opposite[0]))
            if lacking := list(self._left_out(group)):
                notes.extend(lacking)
                apart.update(leaf.link for leaf in group)
        notes.extend(self._passed_on(groups, flows))
        flows = [
            flow._replace(apart_from_routes=flow.link in apart) for flow in flows if flow.link not in dropped
        ]
        closing = self._closing(flows, list(chain(*over_gateways)))
        notes.extend(map(closes_cycle, closing))
        refused = {leaf.link for leaf in closing}
        meeting = list(self._opposite(flows))
        notes.extend(meet_in_account(*pair) for pair in meeting)
        unsure = {leaf.link for pair in meeting for leaf in pair}
        return [
            flow._replace(may_be_refused=flow.link in unsure) for flow in flows if flow.link not in refused
        ], notes

    def _over_gateways(self, flows: Iterable[Flow]) -> Iterator[list[Leaf]]:
        """Leaf links of one server, for one account, to different clusters that gateways join to each other.

        They don't join them to the server.
        """
        groups: dict[tuple[object, ...], dict[str, Leaf]] = {}
        for leaf in leaves_of(flows):
            mesh = self._meshes.get(leaf.hub, (leaf.hub,))
            if leaf.opener not in mesh:
                groups.setdefault((leaf.opener, leaf.accounts, tuple(mesh)), {}).setdefault(leaf.link, leaf)
        for group in groups.values():
            if len({self._name_of(leaf.hub) for leaf in group.values()}) > 1:
                yield list(group.values())

    def _closing(self, flows: Iterable[Flow], refused: Sequence[Leaf]) -> list[Leaf]:
        """Leaf links that close a cycle through clusters or gateways which servers may refuse.

        Cycles of leaf links alone are none of them. Where one part of the mesh has several cycles, or links
        that are `refused` already, servers may refuse any.
        """
        by_server, by_mesh = Joined(), Joined()
        beside: dict[End, list[Leaf]] = {}
        unseen, seen = [], list[Leaf]()
        for leaf in {leaf.link: leaf for leaf in leaves_of(flows)}.values():
            closes = not by_mesh.join(*map(self._in_mesh, leaf.ends)) and not by_server.are_joined(*leaf.ends)
            if closes and not self._is_never_refused(leaf, beside):
                seen.append(leaf)
                continue
            unseen += [leaf] if closes else []
            by_server.join(*leaf.ends)
            for end in leaf.ends:
                beside.setdefault(end, []).append(leaf)
        for leaf in refused:
            by_mesh.join(*map(self._in_mesh, leaf.ends))
        cycles = Counter(by_mesh.root(self._in_mesh(leaf.ends[0])) for leaf in (*seen, *unseen, *refused))
        return seen + [leaf for leaf in unseen if cycles[by_mesh.root(self._in_mesh(leaf.ends[0]))] > 1]

    def _in_mesh(self, end: End) -> End:
        """What stands for an end in its whole mesh: the first server."""
        server, account = end
        return self._meshes.get(server, [server])[0], account

    def _is_never_refused(self, leaf: Leaf, beside: Mapping[End, Sequence[Leaf]]) -> bool:
        """Whether servers never see the cycle that a link closes through one cluster or gateway.

        Measured with nats-server 2.15, in all orders in which the servers start: so it is if gateways join
        the two ends of the link, or if the two servers that a route or gateway joins opened the leaf links
        of the cycle that they have. Messages then arrive twice, or with gateways loop.
        """
        one, other = (reached(end, leaf, beside) for end in leaf.ends)
        at: dict[End, list[End]] = {}
        for far in other:
            at.setdefault(self._in_mesh(far), []).append(far)
        crossings = [(end, far) for end in one for far in at.get(self._in_mesh(end), ())]
        return bool(crossings) and all(
            (one[end].opener, other[far].opener) == (end[0], far[0])
            or (one[end] is other[far] and self._name_of(end[0]) != self._name_of(far[0]))
            for end, far in crossings
        )

    def _name_of(self, server: str) -> str:
        """What stands for the cluster of a server: its first member."""
        return self._clusters.get(server, [server])[0]

    def _opposite(self, flows: Iterable[Flow]) -> Iterator[tuple[Leaf, Leaf]]:
        """Links between clusters, opened at opposite ends, that meet in an account of the first one's hub.

        A server may connect to any member of a cluster, since they tell it the addresses of the others.
        """
        leaves = list({leaf.link: leaf for leaf in leaves_of(flows)}.values())
        at: dict[tuple[str, str, str | None], list[Leaf]] = {}
        for leaf in leaves:
            own, far = self._name_of(leaf.opener), self._name_of(leaf.hub)
            at.setdefault((own, far, leaf.accounts[0]), []).append(leaf)
        for leaf in leaves:
            own, far = self._name_of(leaf.opener), self._name_of(leaf.hub)
            for other in at.get((far, own, leaf.accounts[1]), ()):
                if leaf.accounts[0] != other.accounts[1]:
                    yield leaf, other

    def _groups(self, flows: Iterable[Flow]) -> dict[_Ends, list[Leaf]]:
        """Leaf links from the same cluster to the same servers, for the same accounts."""
        groups: dict[_Ends, dict[str, Leaf]] = {}
        for leaf in leaves_of(flows):
            own = tuple(self._cluster_of(leaf))
            hubs = tuple(self._clusters.get(leaf.hub, (leaf.hub,)))
            groups.setdefault((own, hubs, leaf.accounts), {}).setdefault(leaf.link, leaf)
        return {ends: list(group.values()) for ends, group in groups.items()}

    def _cluster_of(self, leaf: Leaf) -> list[str]:
        """The servers that routes connect with the one that opened a link, itself among them."""
        return self._clusters.get(leaf.opener, [leaf.opener])

    def _repeated(self, group: list[Leaf], flows: list[Flow], notes: list[Note]) -> Iterator[str]:
        """The links after the first; a server that has one to each of two members gets everything twice."""
        first_of: dict[str, Leaf] = {}
        for leaf in group:
            known = first_of.setdefault(leaf.opener, leaf)
            if known.hub != leaf.hub:
                notes.append(doubled(leaf, known, flows, self._place_of(known.hub, leaf.hub)))
            if known.hub != leaf.hub or leaf.opener != group[0].opener:
                yield leaf.link

    def _passed_on(self, groups: Mapping[_Ends, list[Leaf]], flows: list[Flow]) -> Iterator[Note]:
        """Tell of what each of several members of a cluster gets over leaf links and passes on.

        They pass it on by links to another hub, or by gateways; for each, the first case is told.
        """
        alike: dict[tuple[object, ...], list[_Passing]] = {}
        of_link: dict[str, list[Flow]] = {}
        for flow in flows:
            of_link.setdefault(flow.link, []).append(flow)
        for (own, hubs, accounts), group in groups.items():
            leaves = {leaf.opener: leaf for leaf in reversed(group) if leaf.opener not in self._deaf}
            if len(leaves) > 1 and (hubs, own, accounts[::-1]) not in groups:
                alike.setdefault((own, accounts[0]), []).append(leaves)
        for several in alike.values():
            pairs = islice(permutations(several, 2), _MOST_PAIRS)
            to_hubs = (self._to_hub(into, out, of_link) for into, out in pairs)
            yield from islice(filter(None, to_hubs), 1)
            over_gateways = (self._over_gateway(into, of_link) for into in several)
            yield from islice(filter(None, over_gateways), 1)

    def _to_hub(self, into: _Passing, out: _Passing, of_link: Mapping[str, list[Flow]]) -> Note | None:
        """What to say if two members pass on to one hub what they get from another; None if they don't."""
        members = sorted(into.keys() & out.keys())[:2]
        topic = _name_through([into[name] for name in members], [out[name] for name in members], of_link)
        if len(members) < 2 or topic is None:
            return None
        ends = {name: (*out[name].ends[1], out[name].place) for name in members}
        return passed_on_twice(topic, [into[name] for name in members], ends)

    def _over_gateway(self, into: _Passing, of_link: Mapping[str, list[Flow]]) -> Note | None:
        """What to say if two members pass on over gateways what they get from a hub; None if they don't."""
        members = sorted(into)[:2]
        first = into[members[0]]
        beyond = self._beyond_gateways(first)
        is_passed_on = beyond and first.hub not in beyond
        topic = _name_through([into[name] for name in members], [], of_link) if is_passed_on else None
        if topic is None:
            return None
        ends = {name: (beyond[0], first.accounts[0], self._place_of(name, beyond[0])) for name in members}
        return passed_on_twice(topic, [into[name] for name in members], ends)

    def _beyond_gateways(self, leaf: Leaf) -> list[str]:
        """The servers that gateways join to the cluster of the one that opened a link."""
        own = self._cluster_of(leaf)
        return [name for name in self._meshes.get(leaf.opener, ()) if name not in own]

    def _place_of(self, server: str, other: str) -> Place | None:
        """Where a route or gateway between two servers is written."""
        flow = self._written.get((server, other)) or self._written.get((other, server))
        return flow.place if flow else None

    def _left_out(self, group: list[Leaf]) -> Iterator[Note]:
        """Tell the members of a cluster that have no link where others have."""
        first = group[0]
        openers = {leaf.opener for leaf in group}
        missing = [name for name in self._clusters.get(first.opener, ()) if name not in openers]
        if missing:
            yield left_out(first, missing)


def _name_through(into: Sequence[Leaf], out: Sequence[Leaf], of_link: Mapping[str, list[Flow]]) -> str | None:
    """A name that comes in by some links and goes out by others; None where none is found at once."""
    coming = [flow for leaf in into for flow in of_link[leaf.link] if flow.pulls]
    going = [flow for leaf in out for flow in of_link[leaf.link] if not flow.pulls]
    return name_over([*coming, *going])


def _accounts_at(flows: Iterable[Flow]) -> dict[str, set[str]]:
    """By server, the accounts that flows have there."""
    found: dict[str, set[str]] = {}
    for flow in flows:
        for server, account in ((flow.source, flow.account), (flow.target, flow.target_account)):
            if account is not None:
                found.setdefault(server, set()).add(account)
    return found


def components(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """By name, the sorted names that pairs connect it with, itself among them."""
    part_of: dict[str, set[str]] = {}
    for pair in pairs:
        joined = set().union(*(part_of.get(name, {name}) for name in pair))
        for name in joined:
            part_of[name] = joined
    ordered = {id(part): sorted(part) for part in part_of.values()}
    return {name: ordered[id(part)] for name, part in part_of.items()}
