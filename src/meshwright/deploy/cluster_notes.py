"""What to say of leaf node links that meet clusters of NATS, each as nats-server 2.15 was measured."""

from collections.abc import Mapping, Sequence

from meshwright.deploy.configs.subjects import covers
from meshwright.deploy.leaf_links import Leaf
from meshwright.deploy.mesh import Flow, Note, Place, Witness
from meshwright.runtime.errors import quoted, visible

_Stop = tuple[str, str | None, Place | None]
"""A server, an account, and the line that brings a message there."""

_SHOWN = 3
"""How many servers a message names."""


def refused_within(leaf: Leaf) -> Note:
    """Measured: such a link is closed with "remote leafnode has same cluster name", whatever the accounts."""
    own = "itself" if leaf.hub == leaf.opener else f"{quoted(leaf.hub)} of its own cluster"
    message = (
        f"{quoted(leaf.opener)} opens a leaf node connection to {own}, and NATS refuses it, in any account; "
        f"remove it"
    )
    return Note("refused-link", "error", message, leaf.place)


def refused_over_gateways(leaves: list[Leaf]) -> Note:
    """Measured: the server closes all of them with "Loop detected", and tries again for ever."""
    hubs = ", ".join(quoted(leaf.hub) for leaf in leaves[:_SHOWN])
    message = (
        f"{quoted(leaves[0].opener)} opens leaf node connections to {hubs}, whose clusters gateways join, "
        f"and NATS refuses them; keep one, and give it the addresses of one cluster (urls)"
    )
    return Note("refused-link", "error", message, leaves[-1].place)


def closes_cycle(leaf: Leaf) -> Note:
    """Measured: by the order in which servers start, a link is closed with "Loop detected", or all stay.

    If all stay, messages arrive twice, or for ever.
    """
    message = (
        f"the leaf node connection from {quoted(leaf.opener)} to {quoted(leaf.hub)} closes a cycle through a "
        f"cluster or gateway: NATS refuses one of its connections, or brings messages many times, by the "
        f"order in which the servers start; remove one, or use another account for it"
    )
    return Note("refused-link", "error", message, leaf.place)


def meet_in_account(leaf: Leaf, other: Leaf) -> Note:
    """Measured with nats-server 2.15: it refuses one, or messages arrive twice, or with imports for ever."""
    one, far = _or_cluster(leaf.opener, other.hub), _or_cluster(leaf.hub, other.opener)
    message = (
        f"{one} and {far} open leaf node connections to each other that "
        f"meet in the account {quoted(leaf.accounts[1] or '')}: NATS refuses one of them, or brings "
        f"messages many times, by the order in which the servers start; open both at the same end"
    )
    return Note("not-decided", "warning", message, leaf.place)


def _or_cluster(server: str, other: str) -> str:
    """A server, and, where another one of its cluster takes part, that."""
    return quoted(server) if server == other else f"{quoted(server)} or its cluster ({quoted(other)})"


def left_by_refusal(leaf: Leaf, other: Leaf) -> Note:
    """Measured with nats-server 2.15: it refuses one, and the rest delivers once or twice."""
    message = (
        f"{quoted(leaf.opener)} and {quoted(other.opener)}, or their clusters, open leaf node connections to "
        f"each other, and NATS refuses some by the order in which the servers start; whether messages arrive "
        f"twice over those that are left is not decided: open all of them at the same end"
    )
    return Note("not-decided", "warning", message, leaf.place)


def passed_on_twice(topic: str, links: Sequence[Leaf], ends: Mapping[str, _Stop]) -> Note:
    """Measured with nats-server 2.15: a member passes on what its own clients want, as do the others.

    Of two members, `links` are those over which it comes, and `ends` are where it gets.
    """
    one, other = (
        ((leaf.hub, leaf.accounts[1], None), (leaf.opener, leaf.accounts[0], leaf.place), ends[leaf.opener])
        for leaf in links
    )
    hub, target, members = quoted(one[0][0]), quoted(one[-1][0]), " and ".join(map(quoted, ends))
    message = (
        f"a message on {visible(topic)} comes from {hub} to {target} twice if clients of {members} want it, "
        f"since each of them gets it by its own link and passes it on; open the link at {hub} instead, with "
        f"the addresses of the cluster (urls)"
    )
    return Note("doubled-delivery", "warning", message, links[-1].place, Witness(topic, one, other))


def left_out(leaf: Leaf, missing: Sequence[str]) -> Note:
    """What to say of members of a cluster that have no link where others have."""
    shown = ", ".join(map(quoted, missing[:_SHOWN])) + (", …" if len(missing) > _SHOWN else "")
    message = (
        f"{shown} can't be reached over this link to {quoted(leaf.hub)}: a server passes nothing on "
        f"between its routes and the leaf links that it opened; give every member this remote"
    )
    return Note("unreachable", "warning", message, leaf.place)


def doubled(leaf: Leaf, known: Leaf, flows: list[Flow], route: Place | None) -> Note:
    """What to say of links to two members; the witness comes from one of them, also through the other."""
    message = (
        f"everything crosses twice between {quoted(leaf.opener)} and the cluster of {quoted(leaf.hub)} and "
        f"{quoted(known.hub)}, to which it has a link each; give both addresses to one remote (urls)"
    )
    topic = name_over([flow for flow in flows if flow.link in (leaf.link, known.link) and flow.pulls])
    own, far = leaf.accounts
    start = known.hub, far, None
    direct = (start, (leaf.opener, own, known.place))
    through = (start, (leaf.hub, far, route), (leaf.opener, own, leaf.place))
    witness = Witness(topic, direct, through) if topic else None
    return Note("doubled-delivery", "error", message, leaf.place, witness)


def name_over(flows: list[Flow]) -> str | None:
    """A name that all links of these flows carry; None where none is found at once."""
    links = {flow.link for flow in flows}
    for name in dict.fromkeys(flow.filter.replace("*", "x").replace(">", "x") for flow in flows):
        carry = [flow for flow in flows if covers(flow.filter, name, "nats")]
        denied = any(covers(deny, name, "nats") for flow in carry for deny in flow.denies)
        if {flow.link for flow in carry} == links and not denied:
            return name
    return None
