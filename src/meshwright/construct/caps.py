"""What max_links says, and proofs that it can't be met."""

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa

from meshwright.construct.dual.bound import find_certificate
from meshwright.construct.options import COLUMN, UNLIMITED
from meshwright.construct.resilient import neighbours_needed
from meshwright.model.interests import Interests
from meshwright.model.names import lookup, meant_name, name_array
from meshwright.runtime.arrays import Ids, Longs
from meshwright.runtime.columns import arrow_of
from meshwright.runtime.errors import InfeasibleError, InputError, OptionError
from meshwright.runtime.progress import Progress
from meshwright.runtime.wording import count

_NAMED = 3

_PROOF_STEPS = 100
_MOST_PROOF_PAIRS = 500_000_000
"""Pairs of subscribers, over all topics, up to which the tight bound is worth a try: about a minute."""


def caps_of(interests: Interests, max_links: int | str | Mapping[str, int] | None) -> Longs:
    """By node, the most links that it may have."""
    caps = np.full(interests.node_count, UNLIMITED)
    if max_links is None:
        return caps
    if isinstance(max_links, Mapping):
        names = name_array(list(max_links), "node")
        ids = lookup(interests.nodes, names)
        unknown = names.filter(pa.array(ids < 0))
        if len(unknown):
            first = unknown[0].as_py()
            more = f" (and {len(unknown) - 1:,} more)" if len(unknown) > 1 else ""
            raise OptionError(
                f"there is no node {first!r}{more} to limit by max_links; "
                f"{meant_name(interests.nodes, first)}leave unknown nodes out",
                option="max_links",
            )
        caps[ids] = [UNLIMITED if cap is None else cap for cap in max_links.values()]
    elif max_links == COLUMN:
        caps = _column(interests)
    else:
        caps[:] = int(max_links)
    return caps


def _column(interests: Interests) -> Longs:
    table = interests.node_attributes
    if table is None or "max_links" not in table.column_names:
        raise OptionError(
            f"max_links is {COLUMN!r}, but nodes/ has no column max_links; add it, or give a number",
            option="max_links",
        )
    try:
        found: Longs = table["max_links"].cast(pa.int64()).fill_null(UNLIMITED).to_numpy()
    except pa.ArrowInvalid as error:
        raise InputError(
            f"the column max_links of nodes/ has numbers that are not whole, or too large: {error}"
        ) from None
    wrong = np.flatnonzero(found < 0)
    if len(wrong):
        name = interests.nodes[int(wrong[0])].as_py()
        raise InputError(f"max_links of node {name!r} is {found[wrong[0]]}; give 0 or more, or nothing")
    return found.copy()


def check_possible(
    interests: Interests,
    max_links: int | str | Mapping[str, int] | None,
    resilience: int,
    progress: Progress | None = None,
) -> None:
    """Refuse caps that are wrong, or proved to be too low, with nodes and topics at fault.

    Three arguments, each in linear time or that of overlaps: topics of two (of three, if they must survive a
    failure) force their links; a node needs as many neighbours as `neighbours_needed` says; and the nodes of
    a topic have enough links together for a tree that spans it, or for two links each.
    """
    caps = caps_of(interests, max_links)
    if not (caps < UNLIMITED).any():
        return
    _check_forced(interests, caps, resilience)
    needed = neighbours_needed(interests, resilience, progress)
    if needed is not None and (needed > caps).any():
        node = int(np.argmax(needed - caps))
        own = _topics_of(interests, node)
        raise _proof(
            interests,
            int(np.count_nonzero(needed > caps)),
            node,
            f"needs at least {int(needed[node]):,} links for its {count(len(own), 'topic')}",
            caps,
            own,
        )
    _check_topics(interests, caps, resilience)


def _topics_of(interests: Interests, node: int) -> Ids:
    return interests.topic_ids[interests.indptr[node] : interests.indptr[node + 1]]


def _small_topics(interests: Interests, resilience: int) -> Longs:
    """Topics of two, and of three if they must survive a failure: all of their subscribers are linked."""
    sizes = np.diff(interests.topic_indptr)
    found: Longs = np.flatnonzero((sizes == 2) | ((sizes == 3) & (resilience > 1)))
    return found


def forced_links(interests: Interests, resilience: int) -> Ids:
    """The links that every overlay has, each once."""
    small, sizes = _small_topics(interests, resilience), np.diff(interests.topic_indptr)
    pairs = [np.empty((0, 2), np.int32)]
    for size in (2, 3):
        first = interests.topic_indptr[small[sizes[small] == size]]
        for a, b in ((0, 1),) if size == 2 else ((0, 1), (0, 2), (1, 2)):
            pairs.append(np.column_stack([interests.node_ids[first + a], interests.node_ids[first + b]]))
    return np.unique(np.concatenate(pairs), axis=0).astype(np.int32)


def _check_forced(interests: Interests, caps: Longs, resilience: int) -> None:
    small = _small_topics(interests, resilience)
    forced = np.bincount(forced_links(interests, resilience).ravel(), minlength=interests.node_count)
    if (forced > caps).any():
        node = int(np.argmax(forced - caps))
        own = _topics_of(interests, node)
        others = (
            f"{forced[node]:,} different nodes, which all need" if forced[node] > 1 else "one, which needs"
        )
        raise _proof(
            interests,
            int(np.count_nonzero(forced > caps)),
            node,
            f"is in topics of {'two' if resilience == 1 else 'two or three'} with {others} a link to it",
            caps,
            own[np.isin(own, small)],
        )


def _check_topics(interests: Interests, caps: Longs, resilience: int) -> None:
    sizes = np.diff(interests.topic_indptr)
    usable = np.minimum(caps[interests.node_ids], np.repeat(np.maximum(sizes - 1, 0), sizes))
    links = np.concatenate([[0], np.cumsum(usable)])
    held = links[interests.topic_indptr[1:]] - links[interests.topic_indptr[:-1]]
    wanted = np.where((sizes > 2) & (resilience > 1), 2 * sizes, 2 * np.maximum(sizes - 1, 0))
    if (held < wanted).any():
        topic = int(np.argmax(wanted - held))
        name = interests.topics[topic].as_py()
        own = interests.node_ids[interests.topic_indptr[topic] : interests.topic_indptr[topic + 1]]
        lowest = own[np.argsort(caps[own], kind="stable")][:_NAMED]
        nodes = interests.nodes.take(arrow_of(lowest)).to_pylist()
        raise InfeasibleError(
            f"max_links can't be met: topic {name!r} needs {wanted[topic] // 2:,} links among its "
            f"{int(sizes[topic]):,} subscribers, and max_links leaves them {held[topic] // 2:,}; raise "
            f"max_links of its subscribers, first of {_listed(nodes)}",
            proved=True,
            nodes=nodes,
            topics=[name],
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


def _proof(
    interests: Interests, how_many: int, node: int, why: str, caps: Longs, topics: Ids
) -> InfeasibleError:
    """The error about the node that is worst off."""
    name = interests.nodes[node].as_py()
    named = interests.topics.take(arrow_of(topics[:_NAMED])).to_pylist()
    others = (
        "1 more node needs more than it"
        if how_many == 2
        else f"{how_many - 1:,} more nodes need more than they"
    )
    more = f" (and {others} may have)" if how_many > 1 else ""
    return InfeasibleError(
        f"max_links can't be met: node {name!r} {why}, and may have {int(caps[node]):,}{more}; its topics: "
        f"{', '.join(map(repr, named))}{' …' if len(topics) > _NAMED else ''}; raise its max_links, or "
        f"give it fewer topics",
        proved=True,
        nodes=[name],
        topics=named,
    )


def not_found(
    interests: Interests,
    caps: Longs,
    resilience: int,
    missing: Longs,
    apart: bool,
    uncapped: int,
    progress: Progress | None,
) -> InfeasibleError:
    """The error after the search: a proof by the tight bound on all links, or how near it came.

    `missing` has by topic how many joins the nearest overlay lacks: of components, if it is `apart`, or else
    of blocks.
    `uncapped` is how many links an overlay without caps has; if they allow as many, no bound proves anything.
    """
    sizes = np.diff(interests.topic_indptr).astype(np.float64)
    allowed = int(np.minimum(caps, interests.node_count).sum()) // 2
    if uncapped > allowed and np.sum(sizes**2) / 2 <= _MOST_PROOF_PAIRS:
        least = find_certificate(interests, steps=_PROOF_STEPS, progress=progress).edges
        if least > allowed:
            limited = np.flatnonzero(caps < interests.node_count)
            own = np.diff(interests.indptr)[limited]
            nodes = interests.nodes.take(
                arrow_of(limited[np.argsort(-own, kind="stable")[:_NAMED]])
            ).to_pylist()
            large = interests.topics.take(arrow_of(np.argsort(-sizes, kind="stable")[:_NAMED])).to_pylist()
            return InfeasibleError(
                f"max_links can't be met: every overlay has at least {least:,} links, and max_links allows "
                f"{allowed:,} in all; most links are needed by the nodes with most topics, {_listed(nodes)}, "
                f"and by the topics with most subscribers, {_listed(large)}; raise max_links",
                proved=True,
                nodes=nodes,
                topics=large,
            )
    topics = np.flatnonzero(missing)
    worst = topics[np.argsort(-missing[topics], kind="stable")][:_NAMED]
    named = interests.topics.take(arrow_of(worst)).to_pylist()
    whole = interests.topic_count - len(topics)
    how = "are connected" if resilience == 1 or apart else "survive the failure of any one node"
    return InfeasibleError(
        f"no overlay within max_links was found, and it is not proved that none exists; "
        f"the nearest lacks {count(int(missing.sum()), 'join')}: in it, {whole:,} of "
        f"{count(interests.topic_count, 'topic')} {how}, and not "
        f"{', '.join(map(repr, named))}{' …' if len(topics) > _NAMED else ''}; raise max_links",
        proved=False,
        topics=named,
        missing=int(missing.sum()),
    )
