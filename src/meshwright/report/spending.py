"""Where the money goes: what links cost by class, what others would have paid, and a map."""

from collections.abc import Iterator, Mapping
from typing import Any

from meshwright.report.atlas import DEAREST, drawn_map
from meshwright.report.contents import LinkClass, Map, Spending
from meshwright.report.figures import bars
from meshwright.report.markup import Html, figure, name, section, table, tag
from meshwright.report.numbers import count, decimal, percent, times


def spending(found: Spending | None, evaluation: Mapping[str, Any], parameters: Mapping[str, Any]) -> Html:
    """The section on costs; nothing where links have none."""
    if found is None:
        return Html("")
    if not evaluation["edges"]:
        nothing = tag("p", "There are no links, so nothing is paid.", class_="empty")
        return section("spending", "Where the money goes", nothing)
    return section(
        "spending",
        "Where the money goes",
        tag("p", *_in_words(found, evaluation, parameters)),
        tag("div", _classes(found), _compared(found, evaluation, parameters), class_="pair"),
        *_dearest(found),
        *_map(found.map, found.by_sites),
    )


def _in_words(found: Spending, evaluation: Mapping[str, Any], parameters: Mapping[str, Any]) -> Iterator[str]:
    links = evaluation["edges"]
    yield f"{count(links, 'link')} cost "
    yield tag("strong", decimal(found.cost))
    yield f" together, {decimal(found.cost / links)} each on average. "
    if found.by_sites:
        local, long = found.classes[0], found.classes[-1]
        yield f"{percent(local.links / links)} of them stay on one site and take {_share(local, found)} "
        yield f"of the money; the {count(long.links)} long ones take {_share(long, found)}. "
    yield from _rival_in_words(found, parameters)
    bound = _bound(evaluation)
    if bound and evaluation["topic_connected"]:
        yield f"No topic-connected overlay costs less than {decimal(bound)}: this one is within "
        yield f"{times(found.cost / bound)} times of the least possible."


def _rival_in_words(found: Spending, parameters: Mapping[str, Any]) -> Iterator[str]:
    rival = found.rival
    if rival is None:
        return
    ours = parameters.get("algorithm", "this overlay")
    looks = "which chooses by cost" if found.rival_needs_costs else "which ignores costs"
    yield f"{rival.name}, {looks}, would have paid "
    yield tag("strong", decimal(rival.cost))
    yield f" for {count(rival.links, 'link')}: {times(rival.cost / found.cost)} times what {ours} pays. "


def _share(part: LinkClass, found: Spending) -> str:
    return percent(part.cost / found.cost)


def _bound(evaluation: Mapping[str, Any]) -> float | None:
    """What all links cost at least."""
    degree = evaluation.get("lower_bound_weighted_average_degree")
    return None if degree is None else degree * evaluation["nodes"] / 2


def _classes(found: Spending) -> Html:
    rows = [(part.name, count(part.links), decimal(part.cost), _share(part, found)) for part in found.classes]
    kinds = "local and long links" if found.by_sites else "quarters of all links"
    heads = ("links", "number", "cost", "of all")
    return tag("div", tag("h3", f"By {kinds}"), table("Cost by class of links", heads, rows, {1, 2, 3}))


def _compared(found: Spending, evaluation: Mapping[str, Any], parameters: Mapping[str, Any]) -> Html:
    rows = [(f"this overlay ({parameters.get('algorithm', 'ours')})", found.cost, "ours")]
    if found.rival is not None:
        ignoring = "" if found.rival_needs_costs else ", ignoring costs"
        rows.append((f"{found.rival.name}{ignoring}", found.rival.cost, "others"))
    bound = _bound(evaluation)
    if bound:
        rows.append(("proven lower bound", bound, "bound"))
    label = "Bars: " + "; ".join(f"{words}, {decimal(cost)}" for words, cost, _ in rows)
    return tag("div", tag("h3", "What others would pay"), figure(bars("spending", label, rows, "cost")))


def _dearest(found: Spending) -> Iterator[Html]:
    if found.dearest:
        rows = [
            (name(part.name), count(part.links), decimal(part.cost), _share(part, found))
            for part in found.dearest
        ]
        yield tag("h3", "The dearest connections")
        yield table("The dearest connections", ("between", "links", "cost", "of all"), rows, {1, 2, 3})


def _map(found: Map | None, by_sites: bool) -> Iterator[Html]:
    if found is None:
        return
    yield tag("h3", "On a map")
    if not found.names:
        yield tag("p", "No place that has links has coordinates.", class_="empty")
        return
    yield figure(drawn_map(found), *_map_in_words(found, "site" if by_sites else "node"), class_="wide")


def _map_in_words(found: Map, spot: str) -> Iterator[str]:
    yield f"{count(len(found.names), spot)} at their longitude and latitude, the larger the more their links "
    yield f"cost, and {count(len(found.links), 'pair')} of them that are linked. "
    if len(found.links) >= 1 / DEAREST:
        yield f"The dearest {percent(DEAREST)} are red. "
    if found.left_out:
        yield f"Not drawn, since they are many: {count(found.left_out, 'cheaper pair')}. "
    if found.without_place:
        yield f"Not drawn, for want of coordinates: {count(found.without_place, spot)}. "
