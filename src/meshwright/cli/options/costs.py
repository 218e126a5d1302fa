"""The options that say what links cost, and what they stand for."""

from typing import Annotated, Any

import typer

from meshwright.cli.options.groups import MaxLine, MaxRatio, read_limits
from meshwright.model.reading.limits import READ_LIMITS
from meshwright.runtime.errors import OptionError

_PANEL = "What links cost"


def _option(flag: str, metavar: str, words: str) -> Any:
    return typer.Option(flag, metavar=metavar, help=words, rich_help_panel=_PANEL, show_default=False)


CostFile = Annotated[
    str | None,
    _option("--costs", "FILE", "A matrix (CSV, Parquet, NPY) or a list source,target,cost; or a dataset."),
]
Sites = Annotated[
    str | None,
    _option("--sites", "FILE|nodes", "A table node,site, or the word nodes; --costs is then between sites."),
]
Local = Annotated[float | None, _option("--local", "COST", "What a link inside a site costs.")]
Inner = Annotated[
    float | None, _option("--inner", "COST", "In place of --costs, with --outer: the cost inside a site.")
]
Outer = Annotated[float | None, _option("--outer", "COST", "The cost between any two sites.")]
Places = Annotated[
    str | None,
    _option("--places", "FILE|nodes", "Cost by distance: a table node,lat,lon; with --sites, site,lat,lon."),
]
Base = Annotated[float | None, _option("--base", "COST", "By distance: the least cost of a link.")]
Factor = Annotated[float | None, _option("--factor", "COST", "By distance: the cost per km; by default 1.")]
Symmetrise = Annotated[
    str | None,
    _option("--symmetrise", "mean|max|min|refuse", "For a pair whose directions differ; by default mean."),
]
Missing = Annotated[
    str | None,
    _option("--missing", "refuse|other-direction|path", "For a pair without a cost; by default refuse."),
]
CostNames = Annotated[
    str | None,
    _option("--cost-names", "FILE|nodes", "For a matrix without names: one per line; or the word nodes."),
]
SiteColumns = Annotated[
    str | None, _option("--site-columns", "NODE,SITE", "The names of the columns of --sites.")
]
PlaceColumns = Annotated[
    str | None, _option("--place-columns", "NAME,LAT,LON", "The names of the columns of --places.")
]


def cost_files(
    costs: CostFile = None,
    sites: Sites = None,
    local: Local = None,
    inner: Inner = None,
    outer: Outer = None,
    places: Places = None,
    base: Base = None,
    factor: Factor = None,
    symmetrise: Symmetrise = None,
    missing: Missing = None,
    cost_names: CostNames = None,
    site_columns: SiteColumns = None,
    place_columns: PlaceColumns = None,
    max_line: MaxLine = READ_LIMITS.line,
    max_ratio: MaxRatio = READ_LIMITS.ratio,
) -> Any:
    """What was said about costs, checked, as `CostFiles`; None where nothing was."""
    from meshwright.pipeline.cost_files import CostFiles

    values: dict[str, Any] = {
        "costs": costs,
        "sites": sites,
        "local": local,
        "inner": inner,
        "outer": outer,
        "places": places,
        "base": base,
        "factor": factor,
        "symmetrise": symmetrise,
        "missing": missing,
        "cost_names": cost_names,
        "site_columns": site_columns and _columns("--site-columns", site_columns, "node,site"),
        "place_columns": place_columns and _columns("--place-columns", place_columns, "city,Lat,Long"),
    }
    given = {name: value for name, value in values.items() if value is not None}
    return CostFiles(**given, limits=read_limits(max_line, max_ratio)) if given else None


def _columns(flag: str, text: str, example: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    count = example.count(",") + 1
    if len(names) != count or not all(names):
        raise OptionError(f"{flag} is {text!r}; give {count} names, such as {example}", option=flag)
    return names
