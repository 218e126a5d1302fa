"""What the search works on: the pairs of nodes that may be linked, and which of them divide a topic."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from meshwright.construct.dual.bound import LineCertificate
from meshwright.construct.dual.bound_by_cost import CostCertificate
from meshwright.construct.exact.program import Row
from meshwright.kernels.dual.demands import Demands
from meshwright.kernels.exact.partitions import find_partitions
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Floats, Ids, Offsets, Ticks

_VIOLATED = 1e-6


@dataclass(frozen=True)
class Problem:
    """Pairs of nodes that share a topic, one column each.

    Attributes:
        topic_indptr: where the subscribers of each topic begin.
        node_ids: the subscribers, by topic.
        pairs: (m, 2), the columns.
        costs: by column.
        column_of: (n, n), the column of a pair, in both directions; -1 where there is none.
    """

    topic_indptr: Offsets
    node_ids: Ids
    pairs: Ids
    costs: Floats
    column_of: Ids

    def columns(self, edges: Ids) -> Offsets:
        """The columns of some pairs."""
        found: Offsets = self.column_of[edges[:, 0], edges[:, 1]].astype(np.int64)
        return found

    def row(self, topic: int, labels: Ids) -> Row:
        """The partition inequality of a topic whose subscribers have these labels."""
        nodes = self.node_ids[self.topic_indptr[topic] : self.topic_indptr[topic + 1]]
        i, j = np.nonzero(np.triu(labels[:, None] != labels[None, :]))
        return Row(self.column_of[nodes[i], nodes[j]], len(np.unique(labels)) - 1)

    def rows_of_lines(self, certificate: LineCertificate | CostCertificate) -> list[Row]:
        """The partitions that a certificate pays for: its lines, cut at all gaps of some height."""
        found = []
        for topic, (start, end) in enumerate(pairwise(self.topic_indptr)):
            gaps = certificate.gaps[start:end]
            by_node = np.argsort(certificate.nodes[start:end])
            heights = np.unique(gaps[1:])
            found += [self.row(topic, np.cumsum(gaps >= height)[by_node]) for height in heights[heights > 0]]
        return found

    def rows_of_demands(self, demands: Demands) -> list[Row]:
        """Nodes that need two links, since no other node has all topics of their demand."""
        found = []
        for node, (start, end) in enumerate(pairwise(demands.indptr)):
            ranges = [slice(*self.topic_indptr[topic : topic + 2]) for topic in demands.topics[start:end]]
            if ranges:
                others = np.unique(np.concatenate([self.node_ids[own] for own in ranges]))
                found.append(Row(self.column_of[node, others[others != node]], 2))
        return found

    def violated(self, values: Floats, ticks: Ticks) -> list[Row]:
        """The most violated partition inequality of each topic, where there is one; exact."""
        square = np.zeros((len(self.column_of),) * 2)
        square[self.pairs[:, 0], self.pairs[:, 1]] = values
        square[self.pairs[:, 1], self.pairs[:, 0]] = values
        labels = np.empty(len(self.node_ids), np.int32)
        violations = np.zeros(len(self.topic_indptr) - 1)
        find_partitions(self.topic_indptr, self.node_ids, square, labels, violations, ticks)
        ends = self.topic_indptr
        return [
            self.row(int(topic), labels[ends[topic] : ends[topic + 1]])
            for topic in np.flatnonzero(violations > _VIOLATED)
        ]


def make_problem(interests: Interests, pairs: Ids, costs: Floats) -> Problem:
    """The problem over all pairs that share a topic."""
    column_of = np.full((interests.node_count,) * 2, -1, np.int32)
    column_of[pairs[:, 0], pairs[:, 1]] = column_of[pairs[:, 1], pairs[:, 0]] = np.arange(len(pairs))
    pairs, costs = np.ascontiguousarray(pairs), np.ascontiguousarray(costs)
    return Problem(interests.topic_indptr.copy(), interests.node_ids.copy(), pairs, costs, column_of)
