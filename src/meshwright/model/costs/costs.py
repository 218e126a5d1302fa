"""Costs: what a link between any two nodes costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from meshwright.kernels.core.cost_arrays import GREAT_CIRCLE, SITES, CostArrays
from meshwright.model.costs import forms as cost_forms
from meshwright.model.costs import sources as cost_sources
from meshwright.model.costs import tables as cost_tables
from meshwright.model.costs.matrices import MatrixRules, check_room, checked_matrix
from meshwright.model.costs.sources import Cells, named
from meshwright.model.dense import set_fields
from meshwright.model.interests import Interests
from meshwright.model.names import NameSource, lookup, numbered
from meshwright.model.pairs import Columns
from meshwright.model.reading.columns import Column
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.model.storage.dataset import as_dataset, whole, write_dataset
from meshwright.model.storage.manifest import MANIFEST, check_counts, make_manifest, open_dataset, stated
from meshwright.runtime.arrays import Floats, Ids
from meshwright.runtime.errors import DatasetError, InputError, OptionError
from meshwright.runtime.json_values import plain
from meshwright.runtime.wording import type_of

if TYPE_CHECKING:
    import pandas as pd


GREAT_CIRCLE_METRIC = "great-circle"
_NAMED_ALREADY = "already names its nodes; leave names= (--cost-names) out"


ListColumns: TypeAlias = tuple[Column, Column, Column]
"""The columns of a list of costs: source, target, cost."""


def _list_columns(columns: ListColumns | None) -> Columns | None:
    return None if columns is None else Columns(*columns)


def default_columns(metric: str) -> tuple[Column, ...]:
    """What the columns of coordinates are called unless others are named."""
    return ("lat", "lon") if metric == GREAT_CIRCLE_METRIC else ("x", "y")


@dataclass(frozen=True, eq=False, repr=False)
class Costs:
    """What a link between any two nodes costs: positive, finite, the same in both directions.

    `nodes` are the names that the costs are for; after `of(interests)` they are the nodes of those interests,
    by id. `form` holds the arrays, `site_names` the sites or clusters that `form.site_of` points to, and
    `facts` what was done to the numbers that came in (symmetrised, filled, normalised). `unit` is what costs
    are counted in, such as "ms", for people who read them. Frozen, and checked when made, in time linear in
    nodes and quadratic in sites. The class methods make one from what there is.
    """

    nodes: pa.StringArray
    form: CostArrays
    site_names: pa.StringArray = field(default_factory=lambda: pa.array([], pa.string()))
    facts: Mapping[str, Any] = field(default_factory=dict)
    unit: str | None = None

    def __post_init__(self) -> None:
        set_fields(self, nodes=cost_forms.unique_names(self.nodes, "node", "the costs"))
        set_fields(self, site_names=cost_forms.unique_names(self.site_names, "site", "the costs"))
        set_fields(self, form=cost_forms.sealed_form(self.form), facts=plain(dict(self.facts), "facts"))
        cost_forms.checked_unit(self.unit)
        cost_forms.check_form(self.form, self.nodes, self.site_names)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickled arrays are writeable, which kernels would be compiled once more for."""
        set_fields(self, **state)
        for array in (self.form.matrix, self.form.site_of, self.form.points):
            array.flags.writeable = False

    def __repr__(self) -> str:
        unit = "" if self.unit is None else f", in {self.unit}"
        return f"Costs({cost_forms.shown(self.form, len(self.site_names))}{unit})"

    def __eq__(self, other: object) -> bool:
        """Whether both have the same nodes in the same order, in one form; facts and units may differ."""
        if not isinstance(other, Costs):
            return NotImplemented
        return (
            self.nodes.equals(other.nodes)
            and self.site_names.equals(other.site_names)
            and cost_forms.same(self.form, other.form)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return len(self.nodes)

    @property
    def site_of(self) -> Ids | None:
        """The site or cluster of each node, by its place in `site_names`; None for coordinates."""
        return self.form.site_of if cost_forms.has_sites(self.form) else None

    def arrays(self) -> CostArrays:
        """What `cost_between` of `kernels/core/costs.py` reads."""
        return self.form

    def between(self, u: npt.ArrayLike, v: npt.ArrayLike) -> Floats:
        """The costs between nodes at the same places of two arrays of ids, which must differ there."""
        from meshwright.kernels.core.costs import fill_costs

        sources, targets = np.broadcast_arrays(self._ids(u), self._ids(v))
        same = np.argwhere(sources == targets)
        if len(same):
            node = cost_forms.name_at(self.nodes, sources[tuple(same[0])])
            raise InputError(
                f"a link from {node} to itself has no cost{cost_forms.and_more(len(same))}; "
                f"ask for different nodes"
            )
        costs = np.empty(sources.shape)
        fill_costs(self.form, sources.flatten(), targets.flatten(), costs.reshape(-1))
        return costs

    def row(self, u: int, others: npt.ArrayLike) -> Floats:
        """The costs between one node and others."""
        return self.between(u, others)

    def _ids(self, ids: npt.ArrayLike) -> Ids:
        given = np.asarray(ids)
        if given.size and given.dtype.kind not in "iu":
            raise InputError(f"node ids are of type {given.dtype}; give integers")
        if given.size and (given.min() < 0 or given.max() >= self.node_count):
            raise InputError(f"a node id is outside 0 to {self.node_count - 1}; ids are positions in `nodes`")
        return given.astype(np.int32)

    def degrees(self) -> Floats | None:
        """Latitude and longitude of each node, for costs by distance on the globe; else None."""
        return cost_forms.degrees(self.form) if self.form.kind == GREAT_CIRCLE else None

    def to_matrix(self) -> Floats:
        """The costs of all pairs, zero on the diagonal; refused where that does not fit into memory."""
        from meshwright.kernels.core.costs import fill_matrix

        check_room(self.node_count)
        matrix = np.zeros((self.node_count, self.node_count))
        fill_matrix(self.form, matrix)
        return matrix

    def of(self, interests: Interests) -> Costs:
        """The costs of the nodes of `interests`, by their ids. Linear.

        A node that has no costs is refused; nodes that the interests lack are left out and counted.
        """
        if not isinstance(interests, Interests):
            raise InputError(f"costs.of got {type_of(interests)}; give Interests")
        if self.nodes.equals(interests.nodes):
            return self
        what = self._known()
        example = f", such as {cost_forms.name_at(self.nodes, 0)}" if self.node_count else ""
        return self._taken(
            interests.nodes,
            f"has no {what}; the costs are for {self.node_count:,} nodes{example}",
            f"use the same names in both, or give its {what}",
            "nodes_left_out",
        )

    def _known(self) -> str:
        """What is known of each node, so that its links have costs."""
        if self.site_of is None:
            return "coordinates"
        own = self.form.kind == SITES and self.site_names.take(pa.array(self.site_of)).equals(self.nodes)
        return "costs" if own else "site"

    def _taken(self, wanted: pa.StringArray, fault: str, way_out: str, fact: str) -> Costs:
        """The costs of the wanted nodes, in their order; the fact says how many were not wanted."""
        places = lookup(self.nodes, wanted)
        cost_forms.check_all_known(places, wanted, fault, way_out)
        before = stated({fact: 0, **self.facts}, fact, int, "the description of the costs")
        facts = dict(self.facts) | {fact: before + self.node_count - len(places)}
        return Costs(wanted, cost_forms.taken(self.form, places), self.site_names, facts, self.unit)

    def with_unit(self, unit: str | None) -> Costs:
        """The same costs, counted in `unit`: a short word, such as "ms", "km" or "EUR"; None forgets it.

        Example:
            >>> import meshwright as mw
            >>> mw.Costs.clusters({"b1": "eu", "b2": "us"}, inner=1, outer=10).with_unit("ms")
            Costs(2 nodes in 2 clusters, 1 inside and 10 between, in ms)
        """
        return replace(self, unit=unit)

    def normalised(self, *, seed: int = 0) -> Costs:
        """The same costs divided by their mean over all pairs of distinct nodes ([2], IX-A).

        Exact with sites and clusters, which needs no look at pairs of nodes, and with coordinates up to 5,000
        nodes; beyond, the mean is that of a million pairs drawn by `seed`. The facts say which, and what the
        mean was. The result has no unit. With fewer than two nodes there is no mean, and nothing changes.
        """
        if self.node_count < 2:
            return self
        mean = cost_forms.mean_cost(self.form, seed)
        facts = {"mean": mean.value, "mean_exact": mean.sampled_pairs is None}
        if mean.sampled_pairs is not None:
            facts |= {"mean_pairs": mean.sampled_pairs, "mean_standard_error": mean.standard_error}
        form = cost_forms.scaled(self.form, mean.value)
        return Costs(self.nodes, form, self.site_names, dict(self.facts) | {"normalised_by": facts})

    @classmethod
    def from_matrix(
        cls,
        matrix: npt.ArrayLike | pd.DataFrame,
        names: NameSource | None = None,
        *,
        symmetrise: str = "mean",
        missing: str = "refuse",
        least_cost: float | None = None,
    ) -> Costs:
        """Build from a square array: row u, column v is the cost from u to v, NaN where it is not known.

        A pandas frame brings its names, in any order of rows. Without names nodes are n000…, zero-padded, as
        in generated workloads. The diagonal is ignored. What a pair costs whose directions differ is their
        `mean`, or `max`, or `min`, or `refuse`d. A pair without a number is `refuse`d, or takes the
        `other-direction`'s, or, where that is missing too, that of the cheapest `path` over known pairs. With
        `least_cost`, a pair that would cost less costs this much, and zeros are legal.

        Example:
            >>> import meshwright as mw
            >>> costs = mw.Costs.from_matrix([[0, 5, 9], [5, 0, 2], [9, 2, 0]], ["b1", "b2", "b3"])
            >>> costs.between([0, 1], [2, 2]).tolist()
            [9.0, 2.0]
        """
        rules = MatrixRules(symmetrise=symmetrise, missing=missing, least_cost=least_cost)
        return cls._of_cells(cost_sources.from_memory(matrix, names is not None), names, rules)

    @classmethod
    def from_csv(
        cls,
        path: str | Path,
        names: NameSource | None = None,
        *,
        header: bool | None = None,
        delimiter: str | None = None,
        symmetrise: str = "mean",
        missing: str = "refuse",
        least_cost: float | None = None,
        columns: ListColumns | None = None,
        limits: ReadLimits = READ_LIMITS,
    ) -> Costs:
        """Build from a matrix in a CSV file (.gz, .bz2, .zst too), or from a list `source, target, cost`.

        The first row and the first column are names, in any order; or there are numbers alone, for nodes
        called `names`, or else n000…. An empty cell is a pair without a number; see `from_matrix`. A list may
        have its `columns` under other names, or at positions from 1; then it has no header.
        """
        rules = MatrixRules(symmetrise=symmetrise, missing=missing, least_cost=least_cost)
        with named(path):
            cells = cost_sources.from_csv(Path(path), header, delimiter, limits, _list_columns(columns))
            return cls._of_cells(cells, names, rules)

    @classmethod
    def from_parquet(
        cls,
        path: str | Path,
        names: NameSource | None = None,
        *,
        symmetrise: str = "mean",
        missing: str = "refuse",
        least_cost: float | None = None,
        columns: ListColumns | None = None,
        limits: ReadLimits = READ_LIMITS,
    ) -> Costs:
        """Build from Parquet: a column for each node and one of names, or `source, target, cost`."""
        rules = MatrixRules(symmetrise=symmetrise, missing=missing, least_cost=least_cost)
        with named(path):
            cells = cost_sources.from_parquet(Path(path), limits, _list_columns(columns))
            return cls._of_cells(cells, names, rules)

    @classmethod
    def from_npy(
        cls,
        path: str | Path,
        names: NameSource | None = None,
        *,
        symmetrise: str = "mean",
        missing: str = "refuse",
        least_cost: float | None = None,
    ) -> Costs:
        """Build from a square array that `numpy.save` has written; see `from_matrix`."""
        rules = MatrixRules(symmetrise=symmetrise, missing=missing, least_cost=least_cost)
        with named(path):
            return cls._of_cells(cost_sources.from_npy(Path(path)), names, rules)

    @classmethod
    def from_file(
        cls,
        path: str | Path,
        names: NameSource | None = None,
        *,
        symmetrise: str = "mean",
        missing: str = "refuse",
        least_cost: float | None = None,
        columns: ListColumns | None = None,
        limits: ReadLimits = READ_LIMITS,
    ) -> Costs:
        """Build from a file, by its name: *.npy, *.parquet (or a folder), else CSV; or from a dataset.

        A dataset is taken as it is: what is said about the numbers of a file is refused for it.
        """
        path = Path(path)
        if (path / MANIFEST).is_file():
            if names is not None:
                raise InputError(f"{path} {_NAMED_ALREADY}", path=path)
            if columns is not None or least_cost is not None:
                raise InputError(
                    f"{path} is a dataset, whose costs are final; leave --cost-columns and --least-cost out",
                    path=path,
                )
            return cls.read(path)
        rules = MatrixRules(symmetrise=symmetrise, missing=missing, least_cost=least_cost)
        with named(path):
            cells = cost_sources.from_file(path, limits, _list_columns(columns))
            return cls._of_cells(cells, names, rules)

    @classmethod
    def _of_cells(cls, cells: Cells, names: NameSource | None, rules: MatrixRules) -> Costs:
        if cells.names is not None and names is not None:
            raise InputError(f"it {_NAMED_ALREADY}")
        count = len(cells.values)
        given = cells.names if cells.names is not None else names
        nodes = (
            numbered("n", count) if given is None else cost_forms.unique_names(given, "node", "the matrix")
        )
        matrix, facts = checked_matrix(cells.values, nodes, rules)
        matrix.flags.writeable = False
        form = cost_forms.by_site(matrix, np.arange(count, dtype=np.int32))
        return cls(nodes, form, nodes, facts)

    @classmethod
    def sites(
        cls,
        between: Costs,
        site_of: cost_sources.Placement,
        *,
        local: float | Mapping[str, float] | None = None,
        node: Column = "node",
        site: Column = "site",
        limits: ReadLimits = READ_LIMITS,
    ) -> Costs:
        """Build from the costs `between` sites, of any form, and a table of the nodes' sites.

        `site_of` is a mapping, pairs, a CSV or Parquet file or a table with the columns `node` and `site`, or
        interests whose nodes have that attribute. `local` is what a link inside a site costs, one number or
        one for each site; without it a site of several nodes is refused. Memory grows with the square of the
        sites in use, not with that of the nodes.
        """
        if not isinstance(between, Costs):
            raise InputError(
                f"sites got {type_of(between)}; give the Costs between sites, such as Costs.from_csv(…)"
            )
        found = cost_sources.placed(site_of, Columns(node, site), limits)
        what = between._known()
        used = between._taken(
            found.sites,
            f"is the site of some nodes, but has no {what}; the costs are for {between.node_count:,} sites",
            f"use the same names in both, give its {what}, or put its nodes on another site",
            "sites_left_out",
        )
        matrix = used.to_matrix()
        np.fill_diagonal(matrix, cost_sources.local_costs(local, found.sites))
        matrix.flags.writeable = False
        form = cost_forms.by_site(matrix, found.site_of)
        return cls(found.nodes, form, found.sites, used.facts, between.unit)

    @classmethod
    def clusters(
        cls,
        cluster_of: cost_sources.Placement,
        *,
        inner: float,
        outer: float,
        node: Column = "node",
        cluster: Column = "cluster",
        limits: ReadLimits = READ_LIMITS,
    ) -> Costs:
        """Build from a table of the nodes' clusters: links cost `inner` inside one, and `outer` between two.

        `cluster_of` may be all that `sites` takes. Nothing quadratic is stored, not even in clusters.

        Example:
            >>> import meshwright as mw
            >>> costs = mw.Costs.clusters({"b1": "eu", "b2": "eu", "b3": "us"}, inner=1, outer=10)
            >>> costs.between([0, 0], [1, 2]).tolist()
            [1.0, 10.0]
        """
        prices = cost_forms.positive(inner, "inner"), cost_forms.positive(outer, "outer")
        found = cost_sources.placed(cluster_of, Columns(node, cluster), limits)
        return cls(found.nodes, cost_forms.by_cluster(*prices, found.site_of), found.sites)

    @classmethod
    def coordinates(
        cls,
        places: cost_sources.Coordinates,
        *,
        base: float | None = None,
        factor: float = 1.0,
        least_cost: float | None = None,
        metric: str = GREAT_CIRCLE_METRIC,
        node: Column = "node",
        columns: tuple[Column, ...] | None = None,
        limits: ReadLimits = READ_LIMITS,
    ) -> Costs:
        """Build from the nodes' places: a link costs `base`, plus `factor` for each unit of distance.

        `places` is a mapping of nodes to numbers, a CSV or Parquet file or a table with the columns `node`
        and `columns`, or interests whose nodes have these attributes. By "great-circle" they are `lat, lon`
        in degrees, and the unit is a kilometre on the globe (a sphere of 6,371 km, so within 0.6% of the
        ellipsoid); by "euclidean" (a straight line) and "manhattan" (along the axes) they are `x, y`, or what
        `columns` names, two or three. A link that would cost less than `least_cost` costs that. One of `base`
        and `least_cost` must be given, since two nodes may be at one place, and a cost is positive. Distances
        are computed when asked for: 24 bytes per node.

        Example:
            >>> import meshwright as mw
            >>> places = {"b1": (0, 0), "b2": (3, 4), "b3": (0, 0)}
            >>> costs = mw.Costs.coordinates(places, metric="euclidean", least_cost=0.5)
            >>> costs.between([0, 0], [1, 2]).tolist()
            [5.0, 0.5]
        """
        kind = cost_forms.metric_kind(metric)
        prices = cost_forms.distance_prices(base, factor, least_cost)
        wanted = columns or default_columns(metric)
        if len(wanted) not in ((2,) if kind == GREAT_CIRCLE else (2, 3)):
            raise OptionError(
                f"there are {len(wanted)} names in columns; give two, or three unless metric is great-circle"
            )
        found = cost_sources.located(places, node, wanted, limits)
        if kind != GREAT_CIRCLE:
            return cls(found.nodes, cost_forms.by_distance(found.values, prices, kind))
        cost_sources.check_globe(found)
        return cls(found.nodes, cost_forms.by_great_circle(found.values, prices))

    def _parts(self) -> cost_tables.Parts:
        return cost_tables.Parts(self.nodes, self.form, self.site_names, self.facts, self.unit)

    def description(self) -> dict[str, Any]:
        """What the costs are, in JSON's types; with `tables` all that `read` needs of a dataset."""
        return cost_tables.description(self._parts())

    def tables(self) -> dict[str, pa.Table]:
        """The costs as tables, which an overlay can hold beside its own."""
        return cost_tables.tables(self._parts())

    def write(
        self, path: str | Path, *, force: bool = False, made_by: Mapping[str, Any] | None = None
    ) -> None:
        """Write a dataset of kind "costs": all of it, or nothing that looks like one."""
        tables = self.tables()
        rows = {name: table.num_rows for name, table in tables.items()}
        facts = {"costs": self.description()}
        manifest = make_manifest("costs", {"nodes": self.node_count}, facts, rows, made_by)
        write_dataset(path, manifest, {name: whole(table) for name, table in tables.items()}, force=force)

    @classmethod
    def from_tables(cls, tables: Mapping[str, pa.Table], description: Mapping[str, Any]) -> Costs:
        """Build from what `tables` and `description` returned."""
        return cls(*cost_tables.from_tables(tables, description))

    @classmethod
    def read(cls, path: str | Path) -> Costs:
        """Read a dataset of costs, or the costs that an overlay's dataset has in its facts and tables."""
        dataset = open_dataset(Path(path), "costs", "overlay")
        facts = dataset.manifest["facts"]
        if "costs" not in facts:
            raise DatasetError(
                f"{path} does not contain the costs of its links; give a dataset of costs", path=path
            )
        with as_dataset(dataset.path):
            costs = cls(*cost_tables.read(dataset, facts["costs"]))
        check_counts(dataset, {"nodes": costs.node_count})
        return costs
