"""Bring together what the stages of a run have found, for its report.

Two engines add up the overlay's tables, in this process or on Spark, where only sums reach the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from meshwright import building, registry
from meshwright.metrics.evaluation import unit_of
from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests
from meshwright.model.names import lookup
from meshwright.model.storage.manifest import read_manifest
from meshwright.pipeline.cost_files import CostFiles
from meshwright.pipeline.ingest.notices import LOOK_ALIKES, notices
from meshwright.pipeline.spark.tables import load_costs, load_interests, load_nodes
from meshwright.report.contents import (
    Alternative,
    Busiest,
    Contents,
    Drawing,
    LinkClass,
    Map,
    Quality,
    Sharing,
    Spending,
    TopicLoad,
)
from meshwright.report.markup import amount
from meshwright.report.page import write_page
from meshwright.report.report_page import report_page
from meshwright.report.summary import alternatives
from meshwright.runtime.arrays import Flags, Floats, Ids
from meshwright.runtime.errors import CapacityError
from meshwright.runtime.memory import fits
from meshwright.runtime.places import Place, is_local
from meshwright.runtime.progress import Progress, stage
from meshwright.stan.measures import TABLE as BY_NODE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


EXAMPLES = 10
_DEAREST = 10


MOST_DRAWN = 800

_QUARTERS = ("cheapest quarter", "second quarter", "third quarter", "dearest quarter")

_RIVALS: Mapping[bool, tuple[tuple[str, int, dict[str, Any]], ...]] = {
    True: (("gm", 10_000, {}), ("dc", 200_000, {"part_size": 2_000})),
    False: (("gr-maw", 5_000, {}), ("dc-maw", 50_000, {})),
}
"""By whether ours looks at costs: which other algorithm to compare with, up to how many nodes.

What each takes there: `benchmarks/gm.py`, `benchmarks/weighted.py`.
"""


class Spots(NamedTuple):
    """Where links end, for sums: sites that several nodes share, or else the nodes themselves."""

    of_node: Ids
    names: pa.StringArray
    shared: bool


class ClassSum(NamedTuple):
    """The links of a class: its key (0 long, 1 local; or the quarter), their cost, that of the dearest."""

    key: int
    links: int
    cost: float
    most: float


class Sums(NamedTuple):
    """What is added up over the links of an overlay.

    Attributes:
        classes: local and long links where spots are shared, else quarters by cost; equal costs are in one.
        dearest: PAIRS of the spots whose links cost most, falling; `low` and `high` may be the same.
        far: as `dearest`, between different spots only.
        linked: how many pairs of different spots are linked.
        paid: `spot, cost` of all spots that have links, by spot.
    """

    classes: list[ClassSum]
    dearest: pa.Table
    far: pa.Table
    linked: int
    paid: pa.Table


class Tables(Protocol):
    """An engine that reads the tables of one overlay."""

    def sums(self, spots: Spots, progress: Progress | None) -> Sums:
        """See `Sums`."""

    def busiest(self, algorithm: str, progress: Progress | None) -> Busiest:
        """The nodes with most links, with what to say about them."""

    def idle_links(self, progress: Progress | None) -> int | None:
        """How many links no topic uses; None where that is not counted."""

    def load(self, progress: Progress | None) -> dict[str, Any] | None:
        """What nodes are expected to send on, if no topic is cut; None where that is not measured."""

    def examples(self, rejected: Place) -> list[dict[str, Any]]:
        """Up to ten rejected rows: the first of each reason, then the second of each, and so on."""

    def sharing(self, progress: Progress | None) -> Sharing:
        """What gossip changed, by node."""

    def drawing(self, seed: int, progress: Progress | None) -> Drawing:
        """A few nodes and their links."""


def _engine(session: SparkSession | None, overlay: Place) -> Tables:
    """Imported where it is needed: each brings much that the other does without."""
    if session is None:
        from meshwright.pipeline.summary.in_process import InProcess

        assert is_local(overlay)
        return InProcess(overlay)
    from meshwright.pipeline.summary.on_spark import OnSpark

    return OnSpark(session, overlay)


def summed_pairs(source: Ids, target: Ids, costs: Floats, spot_of: Ids) -> pa.Table:
    """`low, high, links, cost`: how many links each two spots have, and what they cost together."""
    ends = np.sort(np.column_stack([spot_of[source], spot_of[target]]), axis=1)
    found, place = np.unique(ends, axis=0, return_inverse=True)
    count = len(found)
    return pa.table(
        {
            "low": found[:, 0],
            "high": found[:, 1],
            "links": np.bincount(place.reshape(-1), minlength=count),
            "cost": np.bincount(place.reshape(-1), costs, minlength=count),
        }
    )


def spending_of(
    session: SparkSession | None,
    overlay: Place,
    counts: Mapping[str, int],
    algorithm: str,
    *,
    files: CostFiles | None,
    seed: int,
    progress: Progress | None,
) -> Spending | None:
    """Where the cost goes in an overlay's dataset; None where it does not hold the costs between nodes."""
    costs = load_costs(session, overlay)
    if costs is None:
        return None
    spots = spots_of(costs)
    sums = _engine(session, overlay).sums(spots, progress)
    needy = registry.find(algorithm, "build").needs_costs
    places = places_of(spots, costs, files, lambda: load_nodes(session, overlay))
    return replace(
        spending_by(sums, spots, places, unit_of(read_manifest(overlay)["facts"]) or ""),
        rival=_rival(session, overlay, counts, costs, needy, seed, progress),
        rival_needs_costs=not needy,
    )


def spending_by(sums: Sums, spots: Spots, places: Floats | None, unit: str) -> Spending:
    """Where the cost goes by these sums; without `places`, without a map."""
    return Spending(
        classes=_classes(sums, spots, unit),
        by_sites=spots.shared,
        dearest=_dearest(sums.dearest.slice(0, _DEAREST), spots),
        map=None if places is None else _drawn(sums.far, sums.paid, places, spots, sums.linked),
        unit=unit,
    )


def spots_of(costs: Costs) -> Spots:
    """The sites of costs where nodes share some, or else the nodes."""
    if costs.site_of is None or len(np.unique(costs.site_of)) == costs.node_count:
        return Spots(np.arange(costs.node_count, dtype=np.int32), costs.nodes, False)
    return Spots(costs.site_of, costs.site_names, True)


def _classes(sums: Sums, spots: Spots, unit: str) -> list[LinkClass]:
    """Links inside and between sites; where nodes share none, links by the quarter that their cost is in."""
    if spots.shared:
        names = {True: "local, inside a site", False: "long, between sites"}
        found = {bool(one.key): one for one in sums.classes}
        none = ClassSum(0, 0, 0.0, 0.0)
        return [
            LinkClass(name=name, links=found.get(local, none).links, cost=found.get(local, none).cost)
            for local, name in names.items()
        ]
    return [
        LinkClass(name=f"{_QUARTERS[key]}, up to {amount(most, unit)}", links=links, cost=cost)
        for key, links, cost, most in sorted(sums.classes)
    ]


def _dearest(pairs: pa.Table, spots: Spots) -> list[LinkClass]:
    return [
        LinkClass(name=_between(spots.names, row["low"], row["high"]), links=row["links"], cost=row["cost"])
        for row in pairs.to_pylist()
    ]


def _between(names: pa.StringArray, low: int, high: int) -> str:
    first, second = names[low].as_py(), names[high].as_py()
    return f"inside {first}" if low == high else f"{first} and {second}"


def _drawn(dearest: pa.Table, paid: pa.Table, places: Floats, spots: Spots, linked: int) -> Map:
    """Build from the costliest rows of `_PAIRS` and the cost of each spot that has a place."""
    ends = np.column_stack([dearest["low"].to_numpy(), dearest["high"].to_numpy()])
    has_place: Flags = np.isfinite(places.sum(axis=1))
    with_links = paid["spot"].to_numpy()
    kept = has_place[with_links] & (np.isin(with_links, ends) | spots.shared)
    shown = with_links[kept]
    links = np.flatnonzero(has_place[ends].all(axis=1))
    return Map(
        names=spots.names.take(pa.array(shown)).to_pylist(),
        lats=places[shown, 0].tolist(),
        lons=places[shown, 1].tolist(),
        costs=paid["cost"].to_numpy()[kept].tolist(),
        links=np.column_stack(
            [
                np.searchsorted(shown, ends[links]),
                dearest["links"].to_numpy()[links],
                dearest["cost"].to_numpy()[links],
            ]
        ).tolist(),
        left_out=linked - len(ends),
        without_place=int(np.count_nonzero(~has_place[with_links])),
    )


def places_of(
    spots: Spots, costs: Costs, files: CostFiles | None, nodes: Callable[[], Interests]
) -> Floats | None:
    """Latitude and longitude of each spot, NaN where not known; None where none are."""
    found = costs.degrees()
    if found is not None:
        return found
    placed = None if files is None else files.located(nodes())
    if placed is None:
        return None
    by_site = costs.site_of is not None and not spots.shared
    rows = lookup(placed.nodes, costs.site_names.take(pa.array(costs.site_of)) if by_site else spots.names)
    values: Floats = np.vstack([placed.values, np.full((1, 2), np.nan)])[rows]
    return values


def _rival(
    session: SparkSession | None,
    overlay: Place,
    counts: Mapping[str, int],
    costs: Costs,
    needy: bool,
    seed: int,
    progress: Progress | None,
) -> LinkClass | None:
    """The links of another algorithm, which looks at costs if ours does not; None where there is no room."""
    affordable = (rival for rival in _RIVALS[needy] if counts["nodes"] <= rival[1])
    name, _, options = next(affordable, (None, 0, {}))
    if name is None or not fits("building", counts):
        return None
    with suppress(CapacityError):
        interests = load_interests(session, overlay, counts)
        built = building.build(interests, name, costs=costs, seed=seed, progress=progress, **options)
        assert built.costs is not None
        return LinkClass(name=name, links=len(built), cost=float(built.costs.sum()))
    return None


def write_summary(
    session: SparkSession | None,
    out: Place,
    found: Mapping[str, Mapping[str, Any]],
    parameters: Mapping[str, Any],
    seconds: Mapping[str, float],
    progress: Progress | None,
    costs: CostFiles | None = None,
) -> list[Alternative]:
    """Write `out/report.html` from what each stage has `found`, by name, and from the overlay's edges.

    What comes back is the comparison in it: this overlay, a ring for each topic, a full mesh.
    """
    tables = _engine(session, out / "overlay")
    examples = tables.examples(out / "rejected")
    busiest = tables.busiest(parameters["algorithm"], progress)
    drawing = tables.drawing(parameters["seed"], progress)
    profile, evaluation = found["profile"], found["evaluate"]
    spent = spending_of(
        session,
        out / "overlay",
        found["build"]["counts"],
        parameters["algorithm"],
        files=costs,
        seed=parameters["seed"],
        progress=progress,
    )
    compared = alternatives(evaluation, profile, parameters["algorithm"])
    contents = Contents(
        title=_title(parameters["inputs"]),
        evaluation=evaluation,
        parameters=parameters,
        seconds=seconds,
        quality=_quality(found["ingest"]["facts"], profile, examples),
        profile=profile,
        alternatives=compared,
        drawing=drawing,
        facts={name: value for name, value in found["build"]["facts"].items() if name not in parameters},
        spending=spent,
        busiest=busiest,
        idle_links=tables.idle_links(progress),
        load=tables.load(progress) if evaluation["topic_connected"] else None,
        topic_loads=_main_loads(evaluation.get("topic_loads", {})),
        sharing=tables.sharing(progress) if BY_NODE in found["build"]["tables"] else None,
    )
    with stage(progress, "writing the report"):
        write_page(out / "report.html", report_page(contents))
    return compared


def _quality(
    facts: Mapping[str, Any], profile: Mapping[str, Any], examples: Sequence[Mapping[str, Any]]
) -> Quality:
    """What was wrong with the input; names that look alike have their own list on the page."""
    told = notices({name: fact for name, fact in facts.items() if name != LOOK_ALIKES})
    return Quality.from_ingest(facts, profile, examples, told)


def _main_loads(stored: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, list[TopicLoad]]:
    """The most expensive topics, or else those with most links; the profile has those of most subscribers."""
    return {name: [TopicLoad(**row) for row in stored[name]] for name in list(stored)[:1]}


def _title(inputs: Sequence[str]) -> str:
    first = inputs[0].rstrip("/").rpartition("/")[2]
    return first if len(inputs) == 1 else f"{first} and {len(inputs) - 1:,} more"
