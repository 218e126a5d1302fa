"""Clusters of NATS servers: the full mesh of their routes and gateways, and the leaf nodes that they open."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

from meshwright.deploy.configs.subjects import covers
from meshwright.deploy.mesh import Flow, Note, Place, Witness
from meshwright.runtime.errors import quoted

ROUTE = "cluster"
"""The link of a flow that is a route, before the full mesh is known; gateways have another."""

_SHOWN = 3


class _Leaf(NamedTuple):
    """A link to a leaf node port."""

    link: str
    opener: str
    hub: str
    accounts: tuple[str | None, str | None]
    """At the opener, and at the hub."""
    place: Place


_Ends = tuple[tuple[str, ...], tuple[str, ...], tuple[str | None, str | None]]
"""The servers and the accounts at both ends of leaf links."""


class Clusters:
    """The servers that routes connect to clusters, and gateways to clusters of clusters."""

    def __init__(self, meshed: Sequence[Flow]) -> None:
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
                flow = flow._replace(source=pair[0], target=pair[1], link=link, pulls=False)
                yield from (flow._replace(account=each, target_account=each) for each in accounts)

    def with_leaf_links(self, flows: list[Flow]) -> tuple[list[Flow], list[Note]]:
        """The flows without leaf links that are one with others, and notes on what clusters make of them.

        A server passes nothing on between its routes and the leaf links that it opened. So every member needs
        its link to a hub; together they are like one link, since a hub sends to each just what is for it.
        """
        inside = {leaf.link: leaf for leaf in _leaves_of(flows) if leaf.hub in self._cluster_of(leaf)}
        notes = list(map(_refused, inside.values()))
        dropped = set(inside)
        for leaves in self._over_gateways(flows):
            notes.append(_over_gateways(leaves))
            dropped.update(leaf.link for leaf in leaves)
        flows = [flow for flow in flows if flow.link not in dropped]
        apart: set[str] = set()
        groups = self._groups(flows)
        for (own, hubs, accounts), group in groups.items():
            # Links that both sides open are refused, and what is left delivers once.
            is_refused = (hubs, own, accounts[::-1]) in groups
            dropped.update(self._repeated(group, flows, [] if is_refused else notes))
            if left_out := list(self._left_out(group)):
                notes.extend(left_out)
                apart.update(leaf.link for leaf in group)
        flows = [
            flow._replace(apart_from_routes=flow.link in apart) for flow in flows if flow.link not in dropped
        ]
        closing = list(self._closing(flows))
        notes.extend(map(_closes, closing))
        refused = {leaf.link for leaf in closing}
        opposite = list(self._opposite(flows))
        notes.extend(_meet_in(*pair) for pair in opposite)
        unsure = {leaf.link for pair in opposite for leaf in pair}
        return [
            flow._replace(may_be_refused=flow.link in unsure) for flow in flows if flow.link not in refused
        ], notes

    def _over_gateways(self, flows: Iterable[Flow]) -> Iterator[list[_Leaf]]:
        """Leaf links of one server, for one account, to different clusters that gateways join."""
        groups: dict[tuple[object, ...], dict[str, _Leaf]] = {}
        for leaf in _leaves_of(flows):
            mesh = self._meshes.get(leaf.hub, (leaf.hub,))
            groups.setdefault((leaf.opener, leaf.accounts, tuple(mesh)), {}).setdefault(leaf.link, leaf)
        for group in groups.values():
            if len({self._name_of(leaf.hub) for leaf in group.values()}) > 1:
                yield list(group.values())

    def _closing(self, flows: Iterable[Flow]) -> Iterator[_Leaf]:
        """Leaf links that close a cycle through clusters or gateways, and none without."""
        leaves = list({leaf.link: leaf for leaf in _leaves_of(flows)}.values())
        by_server, by_mesh = _Joined(), _Joined()
        for leaf in leaves:
            ends = tuple(zip((leaf.opener, leaf.hub), leaf.accounts, strict=True))
            new = by_mesh.join(
                *((self._meshes.get(server, [server])[0], account) for server, account in ends)
            )
            if new or by_server.are_joined(*ends):
                by_server.join(*ends)
            else:
                yield leaf

    def _name_of(self, server: str) -> str:
        """What stands for the cluster of a server: its first member."""
        return self._clusters.get(server, [server])[0]

    def _opposite(self, flows: Iterable[Flow]) -> Iterator[tuple[_Leaf, _Leaf]]:
        """Links between two servers, opened at opposite ends, that meet in an account of the first one's hub.

        A server may connect to any member of a cluster, since they tell it the addresses of the others.
        """
        leaves = list({leaf.link: leaf for leaf in _leaves_of(flows)}.values())
        at: dict[tuple[str, str, str | None], list[_Leaf]] = {}
        for leaf in leaves:
            at.setdefault((leaf.opener, self._name_of(leaf.hub), leaf.accounts[0]), []).append(leaf)
        for leaf in leaves:
            for other in at.get((leaf.hub, self._name_of(leaf.opener), leaf.accounts[1]), ()):
                if leaf.accounts[0] != other.accounts[1]:
                    yield leaf, other

    def _groups(self, flows: Iterable[Flow]) -> dict[_Ends, list[_Leaf]]:
        """Leaf links from the same cluster to the same servers, for the same accounts."""
        groups: dict[_Ends, dict[str, _Leaf]] = {}
        for leaf in _leaves_of(flows):
            own = tuple(self._cluster_of(leaf))
            hubs = tuple(self._clusters.get(leaf.hub, (leaf.hub,)))
            groups.setdefault((own, hubs, leaf.accounts), {}).setdefault(leaf.link, leaf)
        return {ends: list(group.values()) for ends, group in groups.items()}

    def _cluster_of(self, leaf: _Leaf) -> list[str]:
        """The servers that routes connect with the one that opened a link, itself among them."""
        return self._clusters.get(leaf.opener, [leaf.opener])

    def _repeated(self, group: list[_Leaf], flows: list[Flow], notes: list[Note]) -> Iterator[str]:
        """The links after the first; a server that has one to each of two members gets everything twice."""
        first_of: dict[str, _Leaf] = {}
        for leaf in group:
            known = first_of.setdefault(leaf.opener, leaf)
            if known.hub != leaf.hub:
                route = self._written.get((known.hub, leaf.hub)) or self._written.get((leaf.hub, known.hub))
                notes.append(_doubled(leaf, known, flows, route.place if route else None))
            if known.hub != leaf.hub or leaf.opener != group[0].opener:
                yield leaf.link

    def _left_out(self, group: list[_Leaf]) -> Iterator[Note]:
        """Tell the members of a cluster that have no link where others have."""
        first = group[0]
        openers = {leaf.opener for leaf in group}
        missing = [name for name in self._clusters.get(first.opener, ()) if name not in openers]
        if missing:
            shown = ", ".join(map(quoted, missing[:_SHOWN])) + (", …" if len(missing) > _SHOWN else "")
            message = (
                f"{shown} can't be reached over this link to {quoted(first.hub)}: a server passes nothing on "
                f"between its routes and the leaf links that it opened; give every member this remote"
            )
            yield Note("unreachable", "warning", message, first.place)


def _accounts_at(flows: Iterable[Flow]) -> dict[str, set[str]]:
    """By server, the accounts that flows have there."""
    found: dict[str, set[str]] = {}
    for flow in flows:
        for server, account in ((flow.source, flow.account), (flow.target, flow.target_account)):
            if account is not None:
                found.setdefault(server, set()).add(account)
    return found


def _leaves_of(flows: Iterable[Flow]) -> Iterator[_Leaf]:
    for flow in flows:
        if flow.refuses_loops and flow.pulls:
            accounts = flow.target_account, flow.account
            yield _Leaf(flow.link, flow.target, flow.source, accounts, flow.place)
        elif flow.refuses_loops:
            accounts = flow.account, flow.target_account
            yield _Leaf(flow.link, flow.source, flow.target, accounts, flow.place)


def _refused(leaf: _Leaf) -> Note:
    """Measured: such a link is closed with "remote leafnode has same cluster name", whatever the accounts."""
    own = "itself" if leaf.hub == leaf.opener else f"{quoted(leaf.hub)} of its own cluster"
    message = (
        f"{quoted(leaf.opener)} opens a leaf node connection to {own}, and NATS refuses it, in any account; "
        f"remove it"
    )
    return Note("refused-link", "error", message, leaf.place)


class _Joined:
    """Things that pairs connect."""

    def __init__(self) -> None:
        self._up: dict[object, object] = {}

    def _root(self, thing: object) -> object:
        while (up := self._up.setdefault(thing, thing)) != thing:
            thing = up
        return thing

    def join(self, one: object, other: object) -> bool:
        """Connect two things; whether they were not connected yet."""
        one, other = self._root(one), self._root(other)
        self._up[one] = other
        return one != other

    def are_joined(self, one: object, other: object) -> bool:
        """Whether two things are connected."""
        return self._root(one) == self._root(other)


def _over_gateways(leaves: list[_Leaf]) -> Note:
    """Measured: the server closes all of them with "Loop detected", and tries again for ever."""
    hubs = ", ".join(quoted(leaf.hub) for leaf in leaves[:_SHOWN])
    message = (
        f"{quoted(leaves[0].opener)} opens leaf node connections to {hubs}, whose clusters gateways join, "
        f"and NATS refuses them; keep one, and give it the addresses of one cluster (urls)"
    )
    return Note("refused-link", "error", message, leaves[-1].place)


def _closes(leaf: _Leaf) -> Note:
    """Measured: by the order in which servers start, a link is closed with "Loop detected", or all stay.

    If all stay, messages arrive twice, or for ever.
    """
    message = (
        f"the leaf node connection from {quoted(leaf.opener)} to {quoted(leaf.hub)} closes a cycle through a "
        f"cluster or gateway: NATS refuses one of its connections, or brings messages many times, by the "
        f"order in which the servers start; remove one, or use another account for it"
    )
    return Note("refused-link", "error", message, leaf.place)


def _meet_in(leaf: _Leaf, other: _Leaf) -> Note:
    """Measured with nats-server 2.15: it refuses one, or messages arrive twice, or with imports for ever."""
    far = "" if other.hub == leaf.opener else f" or its cluster ({quoted(other.hub)})"
    message = (
        f"{quoted(leaf.opener)}{far} and {quoted(leaf.hub)} open leaf node connections to each other that "
        f"meet in the account {quoted(leaf.accounts[1] or '')}: NATS refuses one of them, or brings "
        f"messages many times, by the order in which the servers start; open both at the same end"
    )
    return Note("not-decided", "warning", message, leaf.place)


def _doubled(leaf: _Leaf, known: _Leaf, flows: list[Flow], route: Place | None) -> Note:
    """What to say of links to two members; the witness comes from one of them, also through the other."""
    message = (
        f"everything crosses twice between {quoted(leaf.opener)} and the cluster of {quoted(leaf.hub)} and "
        f"{quoted(known.hub)}, to which it has a link each; give both addresses to one remote (urls)"
    )
    topic = _name_over([flow for flow in flows if flow.link in (leaf.link, known.link) and flow.pulls])
    own, far = leaf.accounts
    start = known.hub, far, None
    direct = (start, (leaf.opener, own, known.place))
    through = (start, (leaf.hub, far, route), (leaf.opener, own, leaf.place))
    witness = Witness(topic, direct, through) if topic else None
    return Note("doubled-delivery", "error", message, leaf.place, witness)


def _name_over(flows: list[Flow]) -> str | None:
    """A name that all links of these flows carry; None where none is found at once."""
    links = {flow.link for flow in flows}
    for name in dict.fromkeys(flow.filter.replace("*", "x").replace(">", "x") for flow in flows):
        carry = [flow for flow in flows if covers(flow.filter, name, "nats")]
        denied = any(covers(deny, name, "nats") for flow in carry for deny in flow.denies)
        if {flow.link for flow in carry} == links and not denied:
            return name
    return None


def components(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """By name, the sorted names that pairs connect it with, itself among them."""
    part_of: dict[str, set[str]] = {}
    for pair in pairs:
        joined = set().union(*(part_of.get(name, {name}) for name in pair))
        for name in joined:
            part_of[name] = joined
    ordered = {id(part): sorted(part) for part in part_of.values()}
    return {name: ordered[id(part)] for name, part in part_of.items()}
