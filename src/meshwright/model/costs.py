"""Costs: what a link between any two nodes costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from meshwright.errors import InputError
from meshwright.kernels.arrays import Floats, Ids
from meshwright.kernels.cost_arrays import CostArrays
from meshwright.model import cost_forms, cost_means
from meshwright.model.cost_checks import check_all_known, lookup, positive, unique_names
from meshwright.model.cost_matrices import MatrixRules, checked_matrix
from meshwright.model.interests import Interests
from meshwright.model.names import NameSource, numbered
from meshwright.model.plain import plain


@dataclass(frozen=True, eq=False, repr=False)
class Costs:
    """What a link between any two nodes costs: positive, finite, the same in both directions.

    `nodes` are the names that the costs are for; after `of(interests)` they are the nodes of those interests,
    by id. `form` holds the arrays, `site_names` the sites or clusters that `form.site_of` points to, and
    `facts` what was done to the numbers that came in (symmetrised, filled, normalised). Frozen, and checked
    when made, in time linear in nodes and quadratic in sites. Use the class methods to make one.
    """

    nodes: pa.StringArray
    form: CostArrays
    site_names: pa.StringArray = field(default_factory=lambda: pa.array([], pa.string()))
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._set(nodes=unique_names(self.nodes, "node", "the costs"))
        self._set(site_names=unique_names(self.site_names, "site", "the costs"))
        self._set(form=cost_forms.sealed_form(self.form), facts=plain(dict(self.facts), "facts"))
        cost_forms.check_form(self.form, self.nodes, self.site_names)

    def _set(self, **fields: object) -> None:
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickled arrays are writeable, which kernels would be compiled once more for."""
        self._set(**state)
        for array in (self.form.matrix, self.form.site_of, self.form.points):
            array.flags.writeable = False

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return len(self.nodes)

    def arrays(self) -> CostArrays:
        """What `cost_between` of `kernels/costs.py` reads."""
        return self.form

    def between(self, u: npt.ArrayLike, v: npt.ArrayLike) -> Floats:
        """The costs between nodes at the same places of two arrays of ids, which must differ there."""
        from meshwright.kernels.costs import fill_costs

        sources, targets = np.broadcast_arrays(self._ids(u), self._ids(v))
        if (sources == targets).any():
            raise InputError("a node has no link to itself, and so no cost of one; ask for different nodes")
        costs = np.empty(sources.size)
        fill_costs(
            self.form, np.ascontiguousarray(sources).ravel(), np.ascontiguousarray(targets).ravel(), costs
        )
        return costs.reshape(sources.shape)

    def row(self, u: int, others: npt.ArrayLike) -> Floats:
        """The costs between one node and others."""
        return self.between(u, others)

    def _ids(self, ids: npt.ArrayLike) -> Ids:
        given = np.asarray(ids)
        if given.size and given.dtype.kind not in "iu":
            raise InputError(f"node ids are of type {given.dtype}; give integers")
        if given.size and (given.min() < 0 or given.max() >= self.node_count):
            raise InputError(f"a node id is outside 0 to {self.node_count - 1}")
        return given.astype(np.int32)

    def of(self, interests: Interests) -> Costs:
        """The costs of the nodes of `interests`, by their ids; a node that has none is refused. Linear."""
        if not isinstance(interests, Interests):
            raise InputError(f"costs are of interests, not of a {type(interests).__name__}")
        if self.nodes.equals(interests.nodes):
            return self
        places = lookup(self.nodes, interests.nodes)
        check_all_known(
            places,
            interests.nodes,
            f"has no costs, which are for {self.node_count:,} other nodes such as …",
            "check that both use the same names, or add it to the costs",
        )
        facts = dict(self.facts) | {"nodes_left_out": self.node_count - len(places)}
        return Costs(interests.nodes, cost_forms.taken(self.form, places), self.site_names, facts)

    @classmethod
    def from_matrix(
        cls,
        matrix: npt.ArrayLike,
        names: NameSource | None = None,
        *,
        symmetrise: str = "mean",
        missing: str = "refuse",
    ) -> Costs:
        """Of a square array: row u, column v is the cost from u to v, NaN where it is not known.

        Without names nodes are n000…, zero-padded, as in generated workloads. The diagonal is ignored.
        """
        count = np.shape(matrix)[0] if np.ndim(matrix) else 0
        nodes = numbered("n", count) if names is None else unique_names(names, "node", "the matrix")
        checked = checked_matrix(matrix, nodes, MatrixRules(symmetrise=symmetrise, missing=missing))
        checked.matrix.flags.writeable = False
        form = cost_forms.by_site(checked.matrix, np.arange(count, dtype=np.int32))
        return cls(nodes, form, nodes, checked.facts)

    @classmethod
    def clusters(cls, cluster_of: Mapping[str, str], *, inner: float, outer: float) -> Costs:
        """Of clusters of nodes: a link inside a cluster costs `inner`, one between clusters `outer`."""
        nodes = unique_names(list(cluster_of), "node", "the clusters")
        names = unique_names(sorted(set(cluster_of.values())), "cluster", "the clusters")
        ids = lookup(names, pa.array(list(cluster_of.values()), pa.string()))
        form = cost_forms.by_cluster(positive(inner, "inner"), positive(outer, "outer"), ids)
        return cls(nodes, form, names)
