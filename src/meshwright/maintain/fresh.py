"""The overlay that Low-ODA would build of the interests as they are."""

from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from meshwright.construct.greedy import GreedyProblem, make_problem
from meshwright.construct.low_oda import take_low_edges
from meshwright.kernels.arrays import Ids
from meshwright.maintain.state import State
from meshwright.progress import Progress


class FreshProblem(NamedTuple):
    """The interests of a moment, which no later event changes."""

    problem: GreedyProblem
    span: int  # places are under this
    rho: float

    def solve(self, progress: Progress | None = None) -> Ids:
        """The links, pairs of places, the lesser first. May run on another thread."""
        degrees = np.zeros(self.span, np.int32)
        edges = take_low_edges(self.problem, degrees, self.rho, None, None, progress).edges
        return np.sort(edges, axis=1)


def fresh_problem(state: State, rho: float, seed: int) -> FreshProblem:
    """The interests as they are, for Low-ODA.

    Ties are settled by a hash of the nodes' names and the seed: what comes out depends on the interests
    alone, and nodes keep their order as others come and go, so links stay where nothing asks for a change.
    """
    key = blake2b(str(int(seed)).encode(), digest_size=16).digest()

    def rank(name: str) -> tuple[bytes, str]:
        return blake2b(name.encode(), digest_size=8, key=key).digest(), name

    order = np.array([state.nodes.of[name] for name in sorted(state.nodes.of, key=rank)], np.int32)
    indptr, topic_ids = state.rows_packed("topics")
    problem = make_problem(indptr, topic_ids, len(state.live.subscribers.counts), order)
    return FreshProblem(problem, len(indptr) - 1, float(rho))
