"""What links cost, as a command says it: by files and a few numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from meshwright.model.costs.costs import GREAT_CIRCLE_METRIC, Costs, ListColumns, default_columns
from meshwright.model.costs.forms import checked_unit, metric_kind
from meshwright.model.costs.matrices import MatrixRules
from meshwright.model.costs.sources import Located, check_globe, located, named
from meshwright.model.interests import Interests
from meshwright.model.names import NameSource
from meshwright.model.reading.columns import Column
from meshwright.model.reading.files import reading
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.model.reading.text import decoded_lines
from meshwright.runtime.errors import InputError, OptionError, columns_named_by

OWN = "nodes"
"""In place of a file: the attributes that the dataset's own nodes have."""

_NODE_SITE = ("node", "site")


@dataclass(frozen=True, kw_only=True)
class CostFiles:
    """Files that say what links cost; exactly one of four forms, and errors in the words of the command line.

    Attributes:
        costs: a matrix or a list of costs between nodes, or with `sites` between sites; or a dataset of them.
        sites: a table that puts nodes on sites, or "nodes": the dataset's own have the attribute `site`.
        local: what a link inside a site costs.
        inner, outer: what a link inside a site, and between two, costs, in place of a matrix.
        places: a table of `lat, lon` by node, or with `sites` by site; or "nodes". Without a matrix a link
            costs by distance; with one, places are for the map alone.
        base, factor: what a link costs at no distance, and for each kilometre or unit beyond that.
        metric: how distance is measured; see `Costs.coordinates`.
        least_cost: what a link costs that would cost less; of `costs` and `places`.
        unit: what costs are counted in.
        symmetrise, missing: what is done to a matrix; see `Costs.from_matrix`.
        cost_names: for a matrix without names, a file that has one per line; or "nodes": the dataset's.
        cost_columns: the columns of a list in `costs`: source, target, cost.
        site_columns: the columns of `sites`: node, site.
        place_columns: the columns of `places`: node (or site), latitude, longitude; or x, y and maybe z.
        limits: of what is read.
    """

    costs: str | None = None
    sites: str | None = None
    local: float | None = None
    inner: float | None = None
    outer: float | None = None
    places: str | None = None
    base: float | None = None
    factor: float | None = None
    metric: str | None = None
    least_cost: float | None = None
    unit: str | None = None
    symmetrise: str | None = None
    missing: str | None = None
    cost_names: str | None = None
    cost_columns: ListColumns | None = None
    site_columns: tuple[Column, Column] | None = None
    place_columns: tuple[Column, ...] | None = None
    limits: ReadLimits = READ_LIMITS

    def __post_init__(self) -> None:
        self.rules()
        checked_unit(self.unit)
        metric_kind(self.measured_by)
        for what, needed in _NEEDS.items():
            if getattr(self, what) is not None and all(getattr(self, name) is None for name in needed):
                raise OptionError(
                    f"{_flag(what)} has no effect without {' or '.join(map(_flag, needed))}; "
                    f"add {'that' if len(needed) == 1 else 'one of them'}, or leave {_flag(what)} out"
                )
        form = self._form()
        for name in _FORMS[form].without:
            if getattr(self, name) is not None:
                raise OptionError(
                    f"{_flag(form)} and {_flag(name)} both say what links cost; give only one of them"
                )
        if form == "inner" and (self.outer is None or self.sites is None):
            raise OptionError("--inner needs --outer and --sites; give all three")
        if self.cost_names == OWN and self.sites is not None:
            raise OptionError("with --sites, costs are between sites; give --cost-names a file of site names")
        if form == "places" and self.base is None and self.least_cost is None:
            raise OptionError("costs by distance need a minimum cost of a link; give --base or --least-cost")
        if form == "places" and self.sites is not None and self.places == OWN:
            raise OptionError("--places nodes gives each node its own place; leave --sites out")

    def _form(self) -> str:
        form = next((name for name in _FORMS if getattr(self, name) is not None), None)
        if form is None:
            raise OptionError(
                "--sites says where nodes are, not what links cost; give --costs FILE, --inner and --outer, "
                "or --places"
            )
        return form

    def rules(self) -> MatrixRules:
        """What is said about a matrix, checked."""
        given = {"symmetrise": self.symmetrise, "missing": self.missing}
        said = {name: rule for name, rule in given.items() if rule is not None}
        return MatrixRules(**said, least_cost=self.least_cost)

    @property
    def measured_by(self) -> str:
        """How distance is measured."""
        return GREAT_CIRCLE_METRIC if self.metric is None else self.metric

    def given(self) -> dict[str, Any]:
        """What was given, by name, for a manifest."""
        options = {name: value for name, value in asdict(self).items() if value is not None}
        del options["limits"]
        return options

    def files(self) -> list[Path]:
        """The files and folders to read, all of which are there."""
        given = (self.costs, self.sites, self.places, self.cost_names)
        paths = [Path(name) for name in given if name is not None and name != OWN]
        for path in paths:
            if not path.exists():
                raise InputError(f"{path}: there is no such file; check the path")
        return paths

    def check(self) -> None:
        """Refuse files that are not as they should be, as far as that can be told before there are nodes."""
        self.files()
        nobody = Interests.from_pairs([])
        form = self._form()
        needs_nodes = OWN in (self.sites, self.cost_names) or (form == "places" and self.places == OWN)
        if not needs_nodes:
            _FORMS[form].load(self, nobody)
        if self.places != OWN:
            self.located(nobody)

    def load(self, nodes: Interests) -> Costs:
        """The costs between these nodes, by id; whatever has no cost is refused."""
        return self._loaded(nodes)[1]

    def load_all(self, nodes: Interests) -> Costs:
        """All costs that the files hold, also of nodes other than these; each of these must have some."""
        return self._loaded(nodes)[0]

    def _loaded(self, nodes: Interests) -> tuple[Costs, Costs]:
        """All costs, and those between `nodes`."""
        loaded = _FORMS[self._form()].load(self, nodes).with_unit(self.unit)
        with named(self._file("sites", "costs", "places")):
            return loaded, loaded.of(nodes)

    def located(self, nodes: Interests) -> Located | None:
        """The places of sites, or of nodes where there are no sites, for a map; None if not on the globe."""
        if self.places is None or self.measured_by != GREAT_CIRCLE_METRIC:
            return None
        name, *columns = self.columns_of_places()
        with columns_named_by("--place-columns", delimiter=False):
            found = located(self.where(self.places, nodes), name, tuple(columns), self.limits)
        with named(self._file("places")):
            check_globe(found)
        return found

    def columns_of_places(self) -> tuple[Column, ...]:
        """What the columns of places are called."""
        node = "node" if self.sites is None else "site"
        return self.place_columns or (node, *default_columns(self.measured_by))

    def on_sites(self, between: Costs, nodes: Interests) -> Costs:
        """Costs between nodes, from costs between sites if nodes are on sites."""
        if self.sites is None:
            return between
        node, site = self.site_columns or _NODE_SITE
        with named(self._file("costs", "places")), columns_named_by("--site-columns", delimiter=False):
            return Costs.sites(
                between,
                self.where(self.sites, nodes),
                local=self.local,
                node=node,
                site=site,
                limits=self.limits,
            )

    def _file(self, *options: str) -> str | None:
        """The file of the first of some options that is given; None where nodes say it themselves."""
        given = next((value for name in options if (value := getattr(self, name)) is not None), None)
        return None if given == OWN else given

    def where(self, table: str, nodes: Interests) -> str | Interests:
        """A file, or the nodes that have it themselves."""
        return nodes if table == OWN else table


def _matrix(files: CostFiles, nodes: Interests) -> Costs:
    assert files.costs is not None
    names = _cost_names(files.cost_names, nodes, files.limits)
    rules = asdict(files.rules())
    between = Costs.from_file(files.costs, names, columns=files.cost_columns, limits=files.limits, **rules)
    return files.on_sites(between, nodes)


def _cost_names(given: str | None, nodes: Interests, limits: ReadLimits) -> NameSource | None:
    """The names of a matrix's rows: those of a file, a line each, or those of the nodes in their order."""
    if given is None or given == OWN:
        return None if given is None else nodes.nodes
    with reading(Path(given)):
        return [line.rstrip("\r\n") for line in decoded_lines(Path(given), limits)]


def _clusters(files: CostFiles, nodes: Interests) -> Costs:
    assert files.sites is not None
    assert files.inner is not None
    assert files.outer is not None
    node, site = files.site_columns or _NODE_SITE
    table = files.where(files.sites, nodes)
    prices = {"inner": files.inner, "outer": files.outer}
    with columns_named_by("--site-columns", delimiter=False):
        return Costs.clusters(table, **prices, node=node, cluster=site, limits=files.limits)


def _distances(files: CostFiles, nodes: Interests) -> Costs:
    assert files.places is not None
    name, *columns = files.columns_of_places()
    with columns_named_by("--place-columns", delimiter=False):
        between = Costs.coordinates(
            files.where(files.places, nodes),
            base=files.base,
            factor=1.0 if files.factor is None else files.factor,
            least_cost=files.least_cost,
            metric=files.measured_by,
            node=name,
            columns=tuple(columns),
            limits=files.limits,
        )
    return files.on_sites(between, nodes)


@dataclass(frozen=True)
class _Form:
    load: Callable[[CostFiles, Interests], Costs]
    without: tuple[str, ...]


_FORMS: Mapping[str, _Form] = {
    "costs": _Form(_matrix, ("inner", "outer", "base", "factor", "metric")),
    "inner": _Form(_clusters, ("places", "base", "factor", "metric", "local", "least_cost")),
    "places": _Form(_distances, ("outer",)),
}
"""By what is given for them; the first decides."""

_NEEDS: Mapping[str, tuple[str, ...]] = {
    "local": ("sites",),
    "outer": ("inner",),
    "base": ("places",),
    "factor": ("places",),
    "metric": ("places",),
    "least_cost": ("costs", "places"),
    "unit": ("costs", "inner", "places"),
    "symmetrise": ("costs",),
    "missing": ("costs",),
    "cost_names": ("costs",),
    "cost_columns": ("costs",),
    "site_columns": ("sites",),
    "place_columns": ("places",),
}


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
