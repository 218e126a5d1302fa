"""A report on any overlay, alone or beside others of the same interests: facts, and a page of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from meshwright.metrics.evaluation import QUICK, Evaluation, check_bound, evaluate, unit_of
from meshwright.metrics.idle import idle_links
from meshwright.metrics.statistics import exact_sum
from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests
from meshwright.model.overlay import COSTS_FACT, Overlay, costs_of, priced
from meshwright.model.storage.manifest import counted, read_manifest, without_files
from meshwright.model.storage.single_file import check_file
from meshwright.pipeline.busiest import busiest_of
from meshwright.pipeline.cost_files import CostFiles
from meshwright.pipeline.overlay_pairs import check_same_interests, compared_costs, compared_links, differing
from meshwright.pipeline.summary.in_process import sums_of
from meshwright.pipeline.summary.job import Spots, places_of, spending_by, spots_of
from meshwright.report.contents import (
    Alternative,
    Contents,
    Drawing,
    Repriced,
    Sharing,
    Spending,
    Target,
    TopicPaths,
)
from meshwright.report.load import topic_loads
from meshwright.report.overlay import choose_drawing, edges_inside
from meshwright.report.page import write_page
from meshwright.report.report_page import report_page
from meshwright.report.spending import least_cost
from meshwright.report.summary import alternatives
from meshwright.routing.load import expected_load
from meshwright.runtime.columns import arrow_of
from meshwright.runtime.errors import CapacityError
from meshwright.runtime.memory import fits
from meshwright.runtime.progress import Progress, stage
from meshwright.stan.measures import TABLE as BY_NODE

_COUNTED = ("nodes", "topics", "interests", "edges")
_NOT_PARAMETERS = ("format_version", "kind", "counts", "facts", "tables", "seconds", "steps")


class Given(NamedTuple):
    """An overlay to report on: what the page calls it, what its manifest says, and the unit of its costs.

    `repriced` says what it cost before, where costs that were given took the place of its own.
    """

    name: str
    overlay: Overlay
    manifest: Mapping[str, Any] = MappingProxyType({})
    unit: str = ""
    repriced: Repriced | None = None

    @property
    def algorithm(self) -> str:
        """What built it; empty where that is not known, as of an imported one."""
        return str(self.manifest.get("algorithm", ""))


def report_here(
    paths: Sequence[Path],
    out: Path,
    *,
    costs: CostFiles | None = None,
    bound: str = QUICK,
    force: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write a page about the first of some overlay datasets, beside the others; gives the facts on it.

    With `costs` the links of all cost what these say; `bound` is that of `evaluate`. Overlays of different
    interests are refused.
    """
    check_file(out, force)
    check_bound(bound)
    given = [_read(path, name) for path, name in zip(paths, short_names(paths), strict=True)]
    for other in given[1:]:
        check_same_interests(given[0], other)
    contents = report_contents(_with_costs(given, costs), costs, bound, progress)
    with stage(progress, "writing the report"):
        write_page(out, report_page(contents))
    return as_json(contents)


def short_names(paths: Sequence[Path]) -> list[str]:
    """The last parts of paths, as few as tell them apart; "overlay" alone, which each run has, is too few."""
    parts = [path.absolute().parts for path in paths]
    for most in range(1, max(map(len, parts))):
        names = ["/".join(own[-most - (own[-1] == "overlay") :]) for own in parts]
        if len(set(names)) == len(set(parts)):
            return names
    return [str(path) for path in paths]


def _read(path: Path, name: str) -> Given:
    """The overlay at a path, if it fits into memory."""
    manifest = read_manifest(path, "overlay")
    views = counted({"counts": {"views": 0, **manifest["tables"]}}, ("views",), path)
    if not fits("evaluating", counted(manifest, _COUNTED, path) | views):
        raise CapacityError(
            f"{path} does not fit into memory; measure it with meshwright evaluate --engine spark"
        )
    return Given(name, Overlay.read(path), without_files(manifest), unit_of(manifest["facts"]) or "")


def _with_costs(given: Sequence[Given], files: CostFiles | None) -> list[Given]:
    """The same overlays, with costs where these are known.

    By `files` all of them; else those without costs by what the first of the others knows between all nodes.
    """
    if files is not None:
        costs = files.load(given[0].overlay.interests)
        return [_repriced(one, costs) for one in given]
    knowing = next((one for one in given if COSTS_FACT in one.overlay.facts), None)
    known = None if knowing is None else costs_of(knowing.overlay)
    if knowing is None or known is None:
        return list(given)
    return [
        one._replace(overlay=priced(one.overlay, known), unit=knowing.unit)
        if one.overlay.costs is None
        else one
        for one in given
    ]


def _repriced(given: Given, costs: Costs) -> Given:
    """The overlay with these costs, and what its own were, where these differ."""
    overlay, before = priced(given.overlay, costs), given.overlay.costs
    found = given._replace(overlay=overlay, unit=costs.unit or "")
    assert overlay.costs is not None
    other = 0 if before is None else differing(before, overlay.costs)
    if before is None or not other:
        return found
    told = Repriced(
        name=given.name,
        links=other,
        of_links=len(overlay),
        cost_before=exact_sum(before),
        unit_before=given.unit,
    )
    return found._replace(repriced=told)


def report_contents(
    given: Sequence[Given],
    files: CostFiles | None = None,
    bound: str = QUICK,
    progress: Progress | None = None,
) -> Contents:
    """The contents of the page: the first overlay, and the others compared with it."""
    today, *others = given
    found = evaluate(today.overlay, bound=bound, progress=progress)
    beyond = [evaluate(other.overlay, bound=False, progress=progress) for other in others]
    targets = [_target(today, other, own, progress) for other, own in zip(others, beyond, strict=True)]
    evaluation = _evaluation(found)
    beside = f" beside {', '.join(other.name for other in others)}" if others else ""
    return Contents(
        title=today.name + beside,
        evaluation=evaluation,
        parameters=_parameters(today),
        seconds=_seconds(today),
        alternatives=_alternatives(today.name, found, targets),
        drawing=_drawing(today.overlay, progress),
        facts={
            name: fact
            for name, fact in today.overlay.facts.items()
            if name not in (*today.manifest, COSTS_FACT, "seconds")
        },
        spending=_spending(today, files),
        sharing=_sharing(today.overlay),
        busiest=busiest_of(today.overlay, today.algorithm),
        load=_load(today.overlay, found, progress),
        topic_loads=topic_loads(found),
        targets=targets,
        paths=_paths([found, *beyond]) if others else None,
        idle_links=idle_links(today.overlay),
        asked={} if files is None else files.given(),
        repriced=[one.repriced for one in given if one.repriced is not None],
    )


def _paths(found: Sequence[Evaluation]) -> TopicPaths:
    """The longest paths of overlays over the topics that all of them connect, so that they compare."""
    components = np.array([one.components_per_topic for one in found])
    shared = (components == 1).all(axis=0)
    own = [np.empty(0) if one.diameter_per_topic is None else one.diameter_per_topic[shared] for one in found]
    return TopicPaths(
        topics=int(np.count_nonzero(shared)),
        cut=int(np.count_nonzero((components > 1).any(axis=0))),
        longest=[int(paths.max()) if len(paths) else None for paths in own],
        mean=[float(paths.mean()) if len(paths) else None for paths in own],
    )


def _evaluation(found: Evaluation) -> dict[str, Any]:
    broken = {"disconnected_topic_components": found.disconnected_topic_components()}
    return found.to_json() | found.distributions() | broken


def _parameters(given: Given) -> dict[str, Any]:
    """What the manifest says about how the overlay was made."""
    said = {name: value for name, value in given.manifest.items() if name not in _NOT_PARAMETERS}
    return said | {"written_by": said.pop("versions", None)}


def _seconds(given: Given) -> dict[str, float]:
    seconds = given.manifest.get("seconds")
    return dict(seconds) if isinstance(seconds, Mapping) else {}


def _load(overlay: Overlay, found: Evaluation, progress: Progress | None) -> dict[str, Any] | None:
    """What nodes send on; None where a topic is cut, which no tree spans."""
    return expected_load(overlay, progress=progress).to_json() if found.topic_connected else None


def _target(today: Given, other: Given, found: Evaluation, progress: Progress | None) -> Target:
    links, costs = compared_links(today.overlay, other.overlay), compared_costs(today, other)
    return Target(
        name=other.name,
        evaluation=_evaluation(found),
        opened=links.opened,
        closed=links.closed,
        kept=links.kept,
        cost_today=costs.today,
        cost=costs.target,
        no_costs=costs.why_not,
        unit_today=costs.unit_today,
        unit=costs.unit,
        parameters=_parameters(other),
        busiest=busiest_of(other.overlay, other.algorithm),
        load=_load(other.overlay, found, progress),
        idle_links=idle_links(other.overlay),
    )


def _alternatives(name: str, found: Evaluation, targets: Sequence[Target]) -> list[Alternative]:
    """Today's overlay, the targets, a ring for each topic, and a full mesh."""
    values, counts = np.unique(found.subscribers_per_topic, return_counts=True)
    sizes = {"subscribers_per_topic": {"values": values.tolist(), "counts": counts.tolist()}}
    ours, *usual = alternatives(found.to_json(), sizes, "")
    beside = [
        Alternative(
            name=target.name,
            links=target.evaluation["edges"],
            average_degree=target.evaluation["average_degree"],
        )
        for target in targets
    ]
    named = Alternative(name=name, links=ours.links, average_degree=ours.average_degree, ours=True)
    return [named, *beside, *usual]


def _drawing(overlay: Overlay, progress: Progress | None) -> Drawing:
    nodes = overlay.interests.nodes
    with stage(progress, "choosing what to draw"):
        return choose_drawing(
            overlay.degrees(),
            edges_inside(overlay.edges),
            lambda ids: nodes.take(arrow_of(ids)).to_pylist(),
        )


def _sharing(overlay: Overlay) -> Sharing | None:
    table = overlay.tables.get(BY_NODE)
    if table is None:
        return None
    return Sharing.of(table["pvs_before"].to_numpy(), table["pvs_after"].to_numpy())


def _spending(given: Given, files: CostFiles | None) -> Spending | None:
    """Where the cost goes; by nodes, not by sites, where only the costs of links are known."""
    overlay = given.overlay
    if overlay.costs is None:
        return None
    known = costs_of(overlay)
    spots = _nodes_alone(overlay.interests) if known is None else spots_of(known)
    places = None if known is None else places_of(spots, known, files, lambda: overlay.interests)
    sums = sums_of(overlay.edges[:, 0], overlay.edges[:, 1], overlay.costs, spots)
    return spending_by(sums, spots, places, given.unit)


def _nodes_alone(interests: Interests) -> Spots:
    return Spots(np.arange(interests.node_count, dtype=np.int32), interests.nodes, False)


def as_json(contents: Contents) -> dict[str, Any]:
    """The facts of a report, in JSON's types."""
    found = contents.evaluation
    cost = None if contents.spending is None else contents.spending.cost
    return {
        "today": {
            "name": contents.name,
            **found,
            "cost": cost,
            "lower_bound_cost": least_cost(found),
            "unit": contents.unit,
            "idle_links": contents.idle_links,
            "parameters": contents.parameters,
        },
        "busiest": None if contents.busiest is None else asdict(contents.busiest),
        "load": contents.load,
        "topics": {name: [asdict(one) for one in own] for name, own in contents.topic_loads.items()},
        "alternatives": [asdict(one) for one in contents.alternatives],
        "targets": [_target_json(target, found["edges"]) for target in contents.targets],
        "paths": None if contents.paths is None else asdict(contents.paths),
        "repriced": [asdict(one) for one in contents.repriced],
    }


def _target_json(target: Target, links_today: int) -> dict[str, Any]:
    said = asdict(target)
    return {
        "name": said.pop("name"),
        **said.pop("evaluation"),
        **said,
        "links_saved": links_today - target.evaluation["edges"],
        "cost_saved": target.cost_saved,
    }
