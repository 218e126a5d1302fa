"""What the interests look like: distributions, correlation, popular topics; on both kinds of page."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from meshwright.metrics.statistics import LEAST_TAIL, seldom_exceeded
from meshwright.report.figures import heat_map, log_log
from meshwright.report.markup import (
    Html,
    count,
    decimal,
    figure,
    joined,
    median,
    name,
    percent,
    section,
    table,
    tag,
)

_MOST_TOPICS = 10
_DARKEST = (0.05, 0.1, 0.2, 0.5)
_PAIRS = 5
_FAR_APART = 0.1
"""The distance between a law and the data beyond which the law does not help to read them."""


def distributions(profile: Mapping[str, Any] | None) -> Html:
    """The sizes and the two distributions."""
    if profile is None:
        return Html("")
    return section(
        "interests",
        "The interests",
        tag("p", *_sizes(profile)),
        tag(
            "div",
            _distribution("subscribers", profile["subscribers_per_topic"], "topic", "subscriber"),
            _distribution("subscriptions", profile["topics_per_node"], "node", "topic"),
            class_="pair",
        ),
        *_popular(profile.get("popular_topics") or []),
    )


def _sizes(profile: Mapping[str, Any]) -> Iterator[str]:
    nodes, topics, interests = profile["nodes"], profile["topics"], profile["interests"]
    yield f"{count(nodes, 'node')}, {count(topics, 'topic')}, {count(interests, 'interest')}"
    pairs = nodes * topics
    yield f": {percent(interests / pairs)} of all possible pairs of a node and a topic. " if pairs else ". "
    if interests:
        yield f"A node has {decimal(interests / nodes)} topics on average, "
        yield f"a topic {decimal(interests / topics)} subscribers."


def _distribution(key: str, found: Mapping[str, Any], thing: str, counted: str) -> Html:
    """One distribution with its picture, and in words."""
    pairs = [(value, number) for value, number in zip(found["values"], found["counts"], strict=True) if value]
    title = tag("h3", f"{counted.capitalize()}s of a {thing}")
    if not pairs:
        return tag("div", title, tag("p", f"No {thing} has any {counted}.", class_="empty"))
    values, counts = [value for value, _ in pairs], [number for _, number in pairs]
    fit, why = _fit(found, counts, thing, counted)
    words = _in_words(values, counts, thing, counted)
    axes = (f"{counted}s", f"{thing}s with at least as many")
    picture = log_log(key, f"Points on logarithmic scales. {words}", values, counts, axes, fit)
    return tag("div", title, figure(picture, f"{words} {why}"))


def _in_words(values: Sequence[int], counts: Sequence[int], thing: str, counted: str) -> str:
    middle = count(median(values, counts), counted)
    return f"Half of the {thing}s have at most {middle}, and the {thing} with most has {count(max(values))}."


def _fit(
    found: Mapping[str, Any], counts: Sequence[int], thing: str, counted: str
) -> tuple[tuple[float, int] | None, str]:
    """The exponent and the beginning of the line to draw, and a sentence on it; or why there is none."""
    exponent, least, apart = (found.get(key) for key in ("exponent", "x_min", "ks_distance"))
    if len(counts) == 1:
        return None, f"No power law is fitted: all {thing}s have the same number."
    if sum(counts) < LEAST_TAIL:
        return None, (
            f"No power law is fitted: a fit needs at least {LEAST_TAIL} {thing}s, and there "
            f"{'is' if sum(counts) == 1 else 'are'} {sum(counts)}."
        )
    if exponent is None or least is None or exponent <= 1:
        return None, "No line is drawn: no power law fits these numbers."
    if apart is not None and apart > max(_FAR_APART, seldom_exceeded(found["tail"])):
        return None, (
            f"No line is drawn: no power law fits. For {thing}s with {count(least, counted)} or more, even "
            f"the nearest one (exponent {exponent:.2f}) misses the counts by up to {percent(apart)}."
        )
    law = f"The line is a power law of exponent {exponent:.2f}, fitted from {count(least, counted)} on."
    return (float(exponent), int(least)), law


def _popular(topics: Sequence[Sequence[Any]]) -> Iterator[Html]:
    if topics:
        rows = [(name(topic), count(subscribers)) for topic, subscribers in topics[:_MOST_TOPICS]]
        yield tag("h3", "The most popular topics")
        yield table("The most popular topics", ("topic", "subscribers"), rows, {1})


def correlation(profile: Mapping[str, Any] | None) -> Html:
    """The heat map; a sentence where there is nothing to correlate."""
    if profile is None:
        return Html("")
    found = profile.get("correlation") or {}
    topics = found.get("topics") or []
    if len(topics) < 2:
        body = [tag("p", "Fewer than two topics: there is nothing to correlate.", class_="empty")]
    else:
        body = list(_heat_map(found))
    return section("correlation", "Correlation of topics", *body)


def _heat_map(found: Mapping[str, Any]) -> Iterator[Html]:
    topics, matrix = found["topics"], np.array(found["matrix"], np.float64)
    off = np.nan_to_num(matrix)[np.triu_indices(len(topics), 1)]
    darkest = next((shade for shade in _DARKEST if np.quantile(np.abs(off), 0.99) <= shade), 1.0)
    mean = float(np.mean(np.abs(off)))
    words = f"The absolute value of the correlation of two topics is {mean:.2g} on average."
    whole = f"{'a sample of' if found.get('sampled') else 'all'} {count(len(topics), 'topic')}"
    picture = heat_map("heat", f"Heat map of {whole}. {words}", matrix, darkest)
    yield figure(
        picture,
        f"Pearson correlation of the subscriptions to any two of {whole}: a cell without correlation has the "
        f"colour of the page, and the stronger the correlation, the more the cell stands out. ",
        words,
        class_="square",
    )
    yield tag("h3", "The most alike")
    yield table("The most alike topics", ("topics", "correlation"), _most_alike(topics, off), {1})


def _most_alike(topics: Sequence[str], off: npt.NDArray[np.float64]) -> Iterator[tuple[Html, str]]:
    rows, columns = np.triu_indices(len(topics), 1)
    for at in np.lexsort((np.arange(len(off)), -off))[:_PAIRS].tolist():
        pair = joined((name(topics[rows[at]], 40), " and ", name(topics[columns[at]], 40)))
        yield pair, f"{off[at]:.2f}"
