"""Candidates of a level: room for them, and those that several threads chose, as one."""

import numpy as np

from meshwright.kernels.greedy.by_price import Candidates, PricedPairs, drop_behind_cut

_MOST = 2**20
"""For one thread at a time."""


def room_for(nodes: int) -> int:
    """How many candidates one thread has room for."""
    return max(2 * nodes, min(_MOST, nodes * nodes // 2))


def start_candidates(nodes: int) -> Candidates:
    """Room for one thread."""
    size = room_for(nodes)
    return Candidates(
        prices=np.empty(size),
        codes=np.empty(size, np.int64),
        size=np.zeros(1, np.int64),
        cut_price=np.full(1, np.inf),
        cut_code=np.zeros(1, np.int64),
    )


def join_candidates(pairs: PricedPairs, chosen: list[Candidates]) -> Candidates:
    """The candidates of all threads before the first of their cuts."""
    cut = min((each.cut_price[0], each.cut_code[0]) for each in chosen)
    for each in chosen:
        each.cut_price[0], each.cut_code[0] = cut
        drop_behind_cut(pairs, each)
    if len(chosen) == 1:
        return chosen[0]
    return Candidates(
        prices=np.concatenate([each.prices[: each.size[0]] for each in chosen]),
        codes=np.concatenate([each.codes[: each.size[0]] for each in chosen]),
        size=np.array([sum(each.size[0] for each in chosen)], np.int64),
        cut_price=chosen[0].cut_price,
        cut_code=chosen[0].cut_code,
    )
