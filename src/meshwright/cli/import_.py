"""`meshwright import`: read the links of an existing mesh."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from meshwright.cli.common import Force, Json, Out, print_json, progress_bar, sizes
from meshwright.cli.options.columns import chosen_column
from meshwright.cli.options.groups import options_for, read_limits
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.runtime.errors import OptionError, columns_named_by
from meshwright.runtime.wording import count

if TYPE_CHECKING:
    from meshwright.model.edges import EdgeList
    from meshwright.model.interests import Interests

EPILOG = """**Examples**

`meshwright import workload --edges bridges.csv --source from --target to --out overlay`

`meshwright import workload --edges links.tsv --source 1 --target 2 --cost 3 --out overlay`

A list that has both directions of links, with different costs, and links without a cost:

`meshwright import workload --edges rtt.csv --cost ms --symmetrise max --missing-cost 100 --out overlay`
"""


class EdgeOptions(NamedTuple):
    """How the rows of links are read."""

    source: Annotated[
        str,
        typer.Option(
            metavar="COLUMN", help="The column with one end of a link, by name or by position from 1."
        ),
    ] = "source"
    target: Annotated[str, typer.Option(metavar="COLUMN", help="The column with the other end.")] = "target"
    cost: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column with the cost of a link.")
    ] = None
    symmetrise: Annotated[
        str | None,
        typer.Option(
            metavar="mean|max|min|refuse",
            help="With --cost: what a link costs that comes in several rows with different costs; by default "
            "refuse.",
        ),
    ] = None
    missing_cost: Annotated[
        float | None,
        typer.Option(metavar="COST", help="With --cost: what a link costs whose cell is empty."),
    ] = None
    unit: Annotated[
        str | None, typer.Option(metavar="WORD", help="With --cost: what costs are counted in, such as ms.")
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line names the columns. By default it does, unless columns are chosen by "
            "position.",
        ),
    ] = None
    delimiter: Annotated[
        str | None,
        typer.Option(
            metavar="CHARACTER", help="The character between columns; by default a comma, or a tab in TSV."
        ),
    ] = None

    def columns(self) -> dict[str, Any]:
        """The columns to read, by what they hold."""
        given = {"source": self.source, "target": self.target, "cost": self.cost}
        return {name: chosen_column(f"--{name}", text) for name, text in given.items() if text is not None}

    def read(self, interests: "Interests", path: Path, limits: ReadLimits) -> "EdgeList":
        """The links of a file or folder."""
        from meshwright.model import edges
        from meshwright.model.pairs import Columns, is_parquet

        how: dict[str, Any] = {"limits": limits, "rules": self._rules(), "progress": progress_bar()}
        columns = self.columns()
        wanted = Columns(columns["source"], columns["target"], columns.get("cost"))
        with columns_named_by("--source, --target or --cost"):
            if is_parquet(path):
                self._check_parquet()
                return edges.from_parquet(interests.nodes, path, wanted, **how)
            how |= {"delimiter": self._delimiter(), "header": self.header}
            return edges.from_csv(interests.nodes, path, wanted, **how)

    def leaves_costs(self, path: Path, limits: ReadLimits) -> bool:
        """Whether a file has a column `cost` that nobody asked for."""
        from meshwright.model.pairs import column_names
        from meshwright.model.reading.columns import is_position

        if self.cost is not None or self.header is False or is_position(self.columns()["source"]):
            return False
        return "cost" in column_names(path, self._delimiter(), limits)

    def _delimiter(self) -> str | None:
        return "\t" if self.delimiter == "\\t" else self.delimiter

    def _rules(self) -> Any:
        from meshwright.model.edges import EdgeRules

        given = {"symmetrise": self.symmetrise, "missing_cost": self.missing_cost}
        said: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        for name in (*said, *(["unit"] if self.unit else [])) if self.cost is None else ():
            flag = "--" + name.replace("_", "-")
            raise OptionError(f"{flag} has no effect without --cost; give --cost COLUMN as well", option=flag)
        return EdgeRules(**said)

    def _check_parquet(self) -> None:
        if self.header is not None:
            raise OptionError("--header and --no-header apply only to CSV and TSV; leave them out")
        if self.delimiter is not None:
            raise OptionError("--delimiter applies only to CSV and TSV; leave it out", option="--delimiter")


@options_for("reading", EdgeOptions)
@options_for("limits", read_limits)
def import_(
    dataset: Annotated[Path, typer.Argument(metavar="DIR", help="A dataset with the nodes' interests.")],
    edges: Annotated[
        Path, typer.Option(metavar="PATH", help="CSV, TSV (also .gz) or Parquet: one link per row.")
    ],
    out: Out,
    reading: EdgeOptions,
    limits: ReadLimits = READ_LIMITS,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Read the links of an existing mesh and write them as an overlay, to evaluate or compare."""
    from meshwright.model.costs.forms import checked_unit
    from meshwright.model.interests import Interests
    from meshwright.model.overlay import Overlay
    from meshwright.model.storage.dataset import check_free

    check_free(out, force, [dataset, edges])
    interests = Interests.read(dataset, progress=progress_bar())
    found = reading.read(interests, edges, limits)
    unit = checked_unit(reading.unit)
    facts: dict[str, Any] = {
        "rows": found.rows,
        "repeated_rows": found.rows - len(found.edges),
        "links_with_several_costs": found.unequal,
        "rows_without_cost": found.without_cost,
    }
    facts |= {} if unit is None else {"unit": unit}
    overlay = Overlay(interests, found.edges, found.costs, facts)
    rules = {"symmetrise": reading.symmetrise, "missing_cost": reading.missing_cost, "unit": unit}
    made_by = {
        "command": "import",
        "options": {"cost": None, **reading.columns(), **rules},
        "inputs": [str(dataset), str(edges)],
    }
    overlay.write(out, force=force, made_by=made_by, progress=progress_bar())
    if as_json:
        counts = {"nodes": interests.node_count, "edges": len(overlay)}
        print_json({"out": str(out), **counts, **facts, **made_by})
    else:
        print(f"{out}: {sizes(overlay)}")
        _print_rows(reading, facts)
        if reading.leaves_costs(edges, limits):
            print("The column 'cost' was not read; give --cost cost to keep it.")


def _print_rows(reading: EdgeOptions, facts: dict[str, Any]) -> None:
    """Say which rows did not become a link of their own, or not with a cost of their own."""
    if facts["repeated_rows"]:
        again = count(facts["repeated_rows"], "row names", "rows name")
        print(f"{again} a link that another row names; a link counts once, whatever its direction.")
    if facts["links_with_several_costs"]:
        links = count(facts["links_with_several_costs"], "link has", "links have")
        print(f"{links} several costs in the file; the {reading.symmetrise} of them was taken.")
    if facts["rows_without_cost"]:
        rows = count(facts["rows_without_cost"], "row has", "rows have")
        print(f"{rows} no cost, and got {reading.missing_cost:g}.")
