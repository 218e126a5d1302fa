"""Gossip overlays in lock step: all nodes at once, on all cores."""

from collections.abc import Callable, Iterator

import numpy as np

from meshwright.model.interests import Interests
from meshwright.model.views import Views
from meshwright.runtime.arrays import Ids, Offsets, Ticks, Words
from meshwright.runtime.parallel import Chunk, balanced_chunks, on_all_cores
from meshwright.runtime.progress import Progress
from meshwright.runtime.seeds import generator
from meshwright.stan.local_views import node_keys
from meshwright.stan.messages import Traffic
from meshwright.stan.options import StanOptions


def view_sizes(interests: Interests, options: StanOptions) -> Offsets:
    """By topic: min(n - 1, ⌈ln n + c⌉) for n subscribers, with exp(-e^-c) the probability of connection.

    [5], 3.3, after Kermarrec, Massoulié, Ganesh, TPDS 2003: with ln n + c random peers per node, gossip
    reaches all n with that probability, in the limit; `options.rounding` may round down instead. A view size
    that is given is cut to the topic as well.
    """
    subscribers = np.diff(interests.topic_indptr)
    if options.view_size is None:
        margin = -np.log(-np.log(options.connected)) if options.connected > 0 else -np.inf
        rounded = {"up": np.ceil, "down": np.floor}[options.rounding]
        wanted = rounded(np.log(np.maximum(subscribers, 1)) + margin)
    else:
        wanted = np.full(len(subscribers), float(options.view_size))
    return np.clip(wanted, 0, np.maximum(subscribers - 1, 0)).astype(np.int64)


_LOSS_UNITS = 2**53


Watch = Callable[[int, Views, Traffic], None]
"""(round, views after it, traffic of it): called before the first round, as round 0, and after each."""


def draw_views(
    interests: Interests, options: StanOptions, seed: int, progress: Progress | None = None
) -> Views:
    """Random views: in every topic of a node, different others, all equally likely; lightest first.

    Their sizes are those of `view_sizes`. O(logical links), on all cores.
    """
    from meshwright.kernels.gossip.views import draw_views as draw

    indptr, keys = _rows(interests, options), _slot_keys(interests, seed)
    key = generator(seed, "gossip.views").integers(2**64, dtype=np.uint64)
    slots = np.empty(indptr[-1], np.int32)

    def work(turns: Iterator[Chunk], ticks: Ticks) -> None:
        for topics in turns:
            draw(interests.topic_indptr, topics, indptr, keys, key, slots, ticks)

    on_all_cores(work, _chunks(interests, indptr), "drawing views", progress)
    return Views(interests, indptr, slots)


def omniscient_views(views: Views, seed: int, progress: Progress | None = None) -> Views:
    """Views of the same sizes, of nodes that know all subscribers of their topics: what walks approach.

    O(n²) for a topic of n subscribers, on all cores; nothing is stored beside the views.
    """
    from meshwright.kernels.gossip.views import choose_lightest

    interests, indptr = views.interests, views.indptr
    keys, slots = _slot_keys(interests, seed), np.empty(len(views.peers), np.int32)

    def work(turns: Iterator[Chunk], ticks: Ticks) -> None:
        for topics in turns:
            choose_lightest(interests.topic_indptr, topics, indptr, keys, slots, ticks)

    pairs = np.diff(interests.topic_indptr) ** 2
    on_all_cores(work, balanced_chunks(pairs), "choosing peers", progress)
    return Views(interests, indptr, slots)


def run_rounds(
    views: Views,
    options: StanOptions,
    seed: int,
    watch: Watch | None = None,
    progress: Progress | None = None,
) -> tuple[Views, Traffic]:
    """StaN in lock step from `views` on: the views after the last round, and what it took.

    Guarantee: the same as if `Stan` ran on every node, all rounds began at once and all messages took equally
    long, with the same random picks. The same seed gives the same views on any number of cores.

    Cost: O((ttl + 1) k) for each round and view of k peers, (ttl + 1)² k with `learn`; 8 bytes a logical link
    and 24 an interest.
    """
    from meshwright.kernels.gossip import walks as kernel
    from meshwright.kernels.gossip.views import sort_views

    interests, indptr = views.interests, views.indptr
    keys, start = _slot_keys(interests, seed), views.slots.copy()
    sort_views(indptr, keys, start)  # views come from anywhere, and whom to put out is looked for at the end
    state = kernel.WalkState(
        topic_indptr=interests.topic_indptr,
        indptr=indptr,
        keys=keys,
        before=start,
        after=start.copy(),
        paces=np.ones(len(interests), np.int32),
        due=np.zeros(len(interests), np.int32),
    )
    chunks, picks = _chunks(interests, indptr), round_keys(seed, options.rounds)
    total = np.zeros(4, np.int64)
    _tell(watch, 0, state.after, views, total)
    for at in range(options.rounds):
        rules = kernel.Rules(
            round=at,
            key=picks[at],
            ttl=options.ttl,
            learn=options.learn,
            slowest=options.slowest,
            loss=round(options.loss * _LOSS_UNITS),
        )

        def work(turns: Iterator[Chunk], ticks: Ticks, rules: kernel.Rules = rules) -> Offsets:
            tally = np.zeros(4, np.int64)
            for topics in turns:
                kernel.walk_round(state, rules, topics, tally, ticks)
            return tally

        label = f"round {at + 1} of {options.rounds}"
        tally = sum(on_all_cores(work, chunks, label, progress), np.zeros(4, np.int64))
        np.copyto(state.before, state.after)
        total += tally
        _tell(watch, at + 1, state.after, views, tally)
    return Views(interests, indptr, state.after), _traffic(total)


def round_keys(seed: int, rounds: int) -> Words:
    """What the random picks of each round depend on."""
    return generator(seed, "gossip.rounds").integers(2**64, size=rounds, dtype=np.uint64)


def _tell(watch: Watch | None, at: int, slots: Ids, views: Views, tally: Offsets) -> None:
    if watch is not None:
        watch(at, Views(views.interests, views.indptr, slots), _traffic(tally))


def _traffic(tally: Offsets) -> Traffic:
    sent, ids, lost, walks = tally.tolist()
    return Traffic(messages=sent, ids=ids, lost=lost, walks=walks)


def _rows(interests: Interests, options: StanOptions) -> Offsets:
    sizes = np.repeat(view_sizes(interests, options), np.diff(interests.topic_indptr))
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _slot_keys(interests: Interests, seed: int) -> Words:
    return node_keys(interests, seed)[interests.node_ids]


def _chunks(interests: Interests, indptr: Offsets) -> list[Chunk]:
    return balanced_chunks(np.diff(indptr[interests.topic_indptr]))
