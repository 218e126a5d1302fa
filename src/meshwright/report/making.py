"""How the overlay was made: what was asked for, how long it took, what the algorithm counted."""

from collections.abc import Iterator, Mapping
from typing import Any

from meshwright.report.contents import Contents
from meshwright.report.markup import Html, as_text, name, section, table, tag
from meshwright.report.numbers import seconds

_MOST_FACTS = 60
_LONGEST = 300


def making(contents: Contents) -> Html:
    """The section on parameters, seconds and facts."""
    return section(
        "making",
        "How it was made",
        *_settings("Parameters", contents.parameters),
        *_stages(contents.seconds),
        *_settings("What the algorithm counted", contents.facts),
    )


def _settings(heading: str, values: Mapping[str, Any]) -> Iterator[Html]:
    rows = [(name(key), name(shown, _LONGEST)) for key, shown in _flattened(values)][:_MOST_FACTS]
    yield tag("h3", heading)
    if rows:
        yield table(heading, ("name", "value"), rows)
    else:
        yield tag("p", "None are known.", class_="empty")


def _flattened(values: Mapping[str, Any], lead: str = "") -> Iterator[tuple[str, str]]:
    """Keys and values as text; what is in a mapping is named by both keys."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _flattened(value, f"{lead}{key}: ")
        else:
            yield f"{lead}{key}".replace("_", " "), as_text(value)


def _stages(by_stage: Mapping[str, float]) -> Iterator[Html]:
    """Seconds by stage, with a bar that compares them."""
    yield tag("h3", "Time by stage")
    if not by_stage:
        yield tag("p", "No times are known.", class_="empty")
        return
    longest = max(*by_stage.values(), 1e-9)
    rows: list[tuple[str, ...]] = [
        (name(stage), seconds(taken), _bar(taken / longest)) for stage, taken in by_stage.items()
    ]
    rows.append(("all", seconds(sum(by_stage.values())), Html("")))
    yield table("Time by stage", ("stage", "time", ""), rows, {1})


def _bar(share: float) -> Html:
    return tag("span", style=f"width:{100 * share:.1f}%", class_="bar", aria_hidden="true")
