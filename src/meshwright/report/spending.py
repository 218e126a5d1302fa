"""What links cost: by class, against other overlays, and on a map."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from meshwright.report.contents import Contents, LinkClass, Map, Spending
from meshwright.report.figures import LONGEST_BAR, bars
from meshwright.report.markup import (
    Html,
    amount,
    count,
    figure,
    legible,
    name,
    of_the_least,
    percent,
    section,
    table,
    tag,
    times,
)
from meshwright.runtime.arrays import Floats

_SHEET = 1_000
_MARGIN = 0.06
_LEAST_HEIGHT, _MOST_HEIGHT = 420, 800
_LEAST_EXTENT = 0.5
_STEPS = (1, 2, 5, 10, 15, 30)
_LEAST_RADIUS, _MOST_RADIUS = 4, 16
_NAMED = 8
_LONGEST_LABEL = 18
_LETTER, _LINE = 19, 44
"""Room of a letter and of a line of text at the size that narrow screens have."""

_QUARTERS = (
    "All links, from the cheapest to the dearest, in four parts. Links of the same cost are never separated, "
    "so the parts differ in size."
)

DEAREST = 0.1
"""The share of the links drawn that stand out."""


class _View(NamedTuple):
    """What part of the globe the sheet shows: degrees at its left and top, and units a degree."""

    west: float
    north: float
    scale: float
    height: int

    def place(self, lons: Floats, lats: Floats) -> Floats:
        """Where on the sheet degrees are, in whole numbers."""
        found: Floats = np.column_stack([lons - self.west, self.north - lats]) * self.scale
        return found.round()


def drawn_map(found: Map, unit: str = "") -> Html:
    """A plain chart: a degree is as wide as it is high, whatever the latitude; no land is drawn."""
    lons, lats = np.array(found.lons, np.float64), np.array(found.lats, np.float64)
    view = _view(lons, lats)
    places = view.place(lons, lats)
    links = count(len(found.links), "pair")
    return tag(
        "svg",
        _grid(view),
        *_links(found, view),
        tag("g", *_circles(found, places, unit)),
        tag("g", *_labels(found, places, view)),
        viewBox=f"0 0 {_SHEET} {view.height}",
        role="img",
        aria_label=f"Map of {count(len(found.names), 'place')} and {links} of them that are linked",
        class_="map",
    )


def _view(lons: Floats, lats: Floats) -> _View:
    width, height = (max(float(np.ptp(each)), _LEAST_EXTENT) * (1 + 2 * _MARGIN) for each in (lons, lats))
    width = max(width, height * _SHEET / _MOST_HEIGHT)
    height = max(height, width * _LEAST_HEIGHT / _SHEET)
    west, north = float(lons.min() + lons.max() - width) / 2, float(lats.min() + lats.max() + height) / 2
    scale = _SHEET / width
    return _View(west, north, scale, round(height * scale))


def _grid(view: _View) -> Html:
    """Meridians and parallels, as many as can be told apart."""
    east, south = view.west + _SHEET / view.scale, view.north - view.height / view.scale
    step = next((step for step in _STEPS if (east - view.west) / step <= 14), _STEPS[-1])
    lines = [f"M0 0H{_SHEET}V{view.height}H0Z"]
    for lon in np.arange(np.ceil(view.west / step), np.floor(east / step) + 1) * step:
        lines.append(f"M{round((lon - view.west) * view.scale)} 0V{view.height}")
    for lat in np.arange(np.ceil(south / step), np.floor(view.north / step) + 1) * step:
        lines.append(f"M0 {round((view.north - lat) * view.scale)}H{_SHEET}")
    return tag("path", d="".join(lines), class_="frame")


def _links(found: Map, view: _View) -> Iterator[Html]:
    """The dearest links over the others, in another colour."""
    some = len(found.links) >= 1 / DEAREST
    cut = round(len(found.links) * DEAREST) if some else 0
    for kind, links in (("far", found.links[cut:]), ("dearest", found.links[:cut])):
        if links:
            yield tag("path", d="".join(_ways(found, links, view)), class_=kind)


def _ways(found: Map, links: Sequence[Sequence[float]], view: _View) -> Iterator[str]:
    """Straight lines; one that is shorter over the date line leaves the sheet and comes back."""
    for link in links:
        u, v = int(link[0]), int(link[1])
        lons, lats = np.array([found.lons[u], found.lons[v]]), np.array([found.lats[u], found.lats[v]])
        turns = [[0.0, 0.0]]
        if abs(lons[0] - lons[1]) > 180:
            way = 360.0 if lons[0] > lons[1] else -360.0
            turns = [[0.0, way], [-way, 0.0]]
        for turn in turns:
            (a, b), (c, d) = view.place(lons + turn, lats).astype(int).tolist()
            yield f"M{a} {b}L{c} {d}"


def _radii(found: Map) -> list[int]:
    costs = np.sqrt(np.array(found.costs, np.float64))
    largest = max(float(costs.max(initial=0)), 1e-12)
    few = min(1.0, 6 / np.sqrt(max(1, len(costs))))
    radii = _LEAST_RADIUS + few * (_MOST_RADIUS - _LEAST_RADIUS) * costs / largest
    return [round(radius) for radius in radii.tolist()]


def _circles(found: Map, places: Floats, unit: str) -> Iterator[Html]:
    radii = _radii(found)
    for at, (x, y) in enumerate(places.astype(int).tolist()):
        words = f"{legible(found.names[at])}: links for {amount(found.costs[at], unit)}"
        yield tag("circle", tag("title", words), cx=str(x), cy=str(y), r=str(radii[at]))


def _labels(found: Map, places: Floats, view: _View) -> Iterator[Html]:
    """The names of the spots of most cost that are not in each other's way."""
    taken: list[tuple[float, float, float]] = []
    radii = _radii(found)
    for at in np.argsort(-np.array(found.costs), kind="stable").tolist():
        words = legible(found.names[at], _LONGEST_LABEL)
        half = _LETTER * len(words) / 2
        x = min(max(places[at, 0], half), _SHEET - half)
        y = places[at, 1] - radii[at] - 6
        y = y if y > _LINE else places[at, 1] + radii[at] + _LINE * 0.75
        if any(abs(x - left) < half + wide and abs(y - top) < _LINE for left, top, wide in taken):
            continue
        taken.append((x, y, half))
        yield tag("text", words, x=str(round(x)), y=str(round(min(y, view.height - 6))))
        if len(taken) == _NAMED:
            return


def spending(contents: Contents) -> Html:
    """The section on costs; nothing where links have none."""
    found = contents.spending
    if found is None:
        return Html("")
    if not contents.evaluation["edges"]:
        nothing = tag("p", "There are no links, so there is no cost.", class_="empty")
        return section("spending", "Where the cost goes", nothing)
    return section(
        "spending",
        "Where the cost goes",
        tag("p", *_in_words(found, contents)),
        tag("div", _classes(found), _compared(found, contents), class_="pair"),
        *_dearest(found),
        *_map(found),
    )


def _in_words(found: Spending, contents: Contents) -> Iterator[str]:
    links = contents.evaluation["edges"]
    yield f"{count(links, 'link')} cost "
    yield tag("strong", amount(found.cost, found.unit))
    yield f" together, {amount(found.cost / links, found.unit)} each on average. "
    if found.by_sites:
        local, long = found.classes[0], found.classes[-1]
        yield f"{percent(local.links / links)} of them stay on one site and take {_share(local, found)} "
        yield f"of the cost; the {count(long.links)} long ones take {_share(long, found)}. "
    yield from _rival_in_words(found, contents.parameters)
    bound = least_cost(contents.evaluation)
    if bound and contents.evaluation["topic_connected"]:
        yield f"No topic-connected overlay costs less than {amount(bound, found.unit)}: "
        yield of_the_least(found.cost / bound, "this one costs")


def _rival_in_words(found: Spending, parameters: Mapping[str, Any]) -> Iterator[str]:
    rival = found.rival
    if rival is None:
        return
    ours = parameters.get("algorithm", "this overlay")
    looks = "which chooses by cost" if found.rival_needs_costs else "which ignores costs"
    yield f"An overlay by {rival.name}, {looks}, has {count(rival.links, 'link')} that cost "
    yield tag("strong", amount(rival.cost, found.unit))
    yield f", {times(rival.cost / found.cost)} times as much as {ours}. "


def _share(part: LinkClass, found: Spending) -> str:
    return percent(part.cost / found.cost)


def least_cost(evaluation: Mapping[str, Any]) -> float | None:
    """What the links of any topic-connected overlay cost at least; None where that is not known."""
    degree = evaluation.get("lower_bound_weighted_average_degree")
    return None if degree is None else degree * evaluation["nodes"] / 2


def _classes(found: Spending) -> Html:
    heading = "Local and long links" if found.by_sites else "Cheap and dear links"
    rows = [(part.name, *_numbers(part, found)) for part in found.classes]
    listed = _table("Cost by class of links", "links", "number", rows)
    about = "" if found.by_sites else tag("p", _QUARTERS, class_="note")
    return tag("div", tag("h3", heading), listed, about)


def _numbers(part: LinkClass, found: Spending) -> tuple[str, str, str]:
    return count(part.links), amount(part.cost, found.unit), _share(part, found)


def _table(label: str, first: str, second: str, rows: Iterable[Sequence[str]]) -> Html:
    return table(label, (first, second, "cost", "of all"), rows, {1, 2, 3})


def _compared(found: Spending, contents: Contents) -> Html:
    """What other overlays cost; nothing where none is known."""
    rows = [(legible(contents.name, LONGEST_BAR), found.cost, "ours")]
    if found.rival is not None:
        ignoring = "" if found.rival_needs_costs else ", ignoring costs"
        rows.append((f"{found.rival.name}{ignoring}", found.rival.cost, "others"))
    rows += [
        (legible(target.name, LONGEST_BAR), target.cost, "others")
        for target in contents.targets
        if target.cost is not None and not target.no_costs
    ]
    bound = least_cost(contents.evaluation)
    if bound:
        rows.append(("proven lower bound", bound, "bound"))
    if len(rows) == 1:
        return Html("")
    label = "Bars: " + "; ".join(f"{words}, {amount(cost, found.unit)}" for words, cost, _ in rows)
    axis = f"cost, {legible(found.unit)}" if found.unit else "cost"
    return tag("div", tag("h3", "What other overlays cost"), figure(bars("spending", label, rows, axis)))


def _dearest(found: Spending) -> Iterator[Html]:
    if found.dearest:
        rows = [(name(part.name), *_numbers(part, found)) for part in found.dearest]
        yield tag("h3", "The dearest connections")
        yield _table("The dearest connections", "between", "links", rows)


def _map(spent: Spending) -> Iterator[Html]:
    found = spent.map
    if found is None:
        return
    yield tag("h3", "On a map")
    if not found.names:
        yield tag("p", "No place that has links has coordinates.", class_="empty")
        return
    words = _map_in_words(found, "site" if spent.by_sites else "node")
    yield figure(drawn_map(found, spent.unit), *words, class_="wide")


def _map_in_words(found: Map, spot: str) -> Iterator[str]:
    yield f"{count(len(found.names), spot)} at their longitude and latitude, and "
    yield f"{count(len(found.links), 'pair')} of them that are linked. Larger ones have costlier links. "
    if len(found.links) >= 1 / DEAREST:
        yield f"The dearest {percent(DEAREST)} are red. "
    if found.left_out:
        yield f"Not drawn, because there are too many: {count(found.left_out, 'cheaper pair')}. "
    if found.without_place:
        yield f"Not drawn, because coordinates are missing: {count(found.without_place, spot)}. "
