"""The options that say what links cost, and what they stand for."""

from typing import Annotated, Any, NamedTuple

import typer

from meshwright.cli.options.columns import chosen_columns
from meshwright.cli.options.groups import MaxLine, MaxRatio, read_limits
from meshwright.model.reading.limits import READ_LIMITS

_COLUMNS = {
    "cost_columns": ((3,), "from,to,rtt or 1,2,3"),
    "site_columns": ((2,), "node,site or 1,2"),
    "place_columns": ((3, 4), "city,Lat,Long or 1,2,3"),
}
"""The options that name columns: how many, and an example."""


def _option(metavar: str, words: str) -> Any:
    return typer.Option(metavar=metavar, help=words, rich_help_panel="What links cost", show_default=False)


class CostOptions(NamedTuple):
    """What is said about costs; see `CostFiles`."""

    costs: Annotated[
        str | None,
        _option(
            "FILE",
            "A matrix (CSV, Parquet, NPY), a table with the columns source,target,cost, or a dataset.",
        ),
    ] = None
    sites: Annotated[
        str | None,
        _option(
            "FILE|nodes",
            "A table with the columns node,site, or 'nodes' to use the site of each node in the dataset. "
            "With --sites, --costs gives the costs between sites.",
        ),
    ] = None
    local: Annotated[
        float | None,
        _option("COST", "With --sites, and --costs or --places: the cost of a link inside a site."),
    ] = None
    inner: Annotated[
        float | None,
        _option("COST", "With --sites and --outer, without --costs: the cost of a link inside a site."),
    ] = None
    outer: Annotated[
        float | None, _option("COST", "With --sites and --inner: the cost of a link between two sites.")
    ] = None
    places: Annotated[
        str | None,
        _option(
            "FILE|nodes",
            "For costs by distance: a table with the columns node,lat,lon (with --sites: site,lat,lon), or "
            "'nodes' to use the lat and lon of each node in the dataset. With --metric euclidean or "
            "manhattan: x and y.",
        ),
    ] = None
    base: Annotated[
        float | None, _option("COST", "With --places: the part of the cost that does not depend on distance.")
    ] = None
    factor: Annotated[
        float | None,
        _option("COST", "With --places: the cost per km, or per unit of x and y; by default 1."),
    ] = None
    metric: Annotated[
        str | None,
        _option(
            "METRIC",
            "With --places: great-circle (on the globe, the default), euclidean (a straight line) or "
            "manhattan (along the axes).",
        ),
    ] = None
    least_cost: Annotated[
        float | None,
        _option(
            "COST",
            "With --costs or --places: a link that would cost less, such as one between two nodes at the "
            "same place, costs this.",
        ),
    ] = None
    unit: Annotated[
        str | None, _option("WORD", "What costs are counted in, such as ms or EUR; printed with them.")
    ] = None
    symmetrise: Annotated[
        str | None,
        _option(
            "mean|max|min|refuse", "What a pair of nodes costs if its two directions differ; by default mean."
        ),
    ] = None
    missing: Annotated[
        str | None,
        _option(
            "refuse|other-direction|path", "What to do if a pair of nodes has no cost; by default refuse."
        ),
    ] = None
    cost_names: Annotated[
        str | None,
        _option(
            "FILE|nodes",
            "For a matrix without names: a file with one node name per line, or 'nodes' to use the "
            "names of the dataset's nodes.",
        ),
    ] = None
    cost_columns: Annotated[
        str | None,
        _option("FROM,TO,COST", "The columns of --costs, by name or by position; FILE is a list then."),
    ] = None
    site_columns: Annotated[
        str | None, _option("NODE,SITE", "The columns of --sites, by name or by position.")
    ] = None
    place_columns: Annotated[
        str | None, _option("NAME,LAT,LON", "The columns of --places, by name or by position.")
    ] = None
    max_line: MaxLine = READ_LIMITS.line
    max_ratio: MaxRatio = READ_LIMITS.ratio

    def files(self) -> Any:
        """What was said, checked, as `CostFiles`; None where nothing was."""
        from meshwright.pipeline.cost_files import CostFiles

        given = {name: value for name, value in self._asdict().items() if value is not None}
        limits = given.pop("max_line"), given.pop("max_ratio")
        for name, (counts, example) in _COLUMNS.items():
            if name in given:
                flag = "--" + name.replace("_", "-")
                given[name] = chosen_columns(flag, given[name], counts, example)
        return CostFiles(**given, limits=read_limits(*limits)) if given else None
