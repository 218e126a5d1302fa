"""Check a certificate of a lower bound against interests, in exact arithmetic, with nothing but this file.

The certificate puts the subscribers of each topic on a line, with a whole number, the gap, before each but
the first. In a topic, two nodes are as far apart as the greatest gap between them on its line. If, for every
pair of nodes, the distances in all topics that both have add up to at most the scale, then every
topic-connected overlay has at least (sum of all gaps) / scale links: cut a line at all gaps of at least h,
for any h > 0. The links inside the topic connect its parts, so at least as many of them as there are cuts
join two parts, and are at least h long. Summed over all h, the links inside a topic are together at least as
long as its gaps; summed over all topics, each link is at most as long as the scale.

A demand is some topics of a node, each with another subscriber, that no other node has all of. So the node
has two links, at least, to nodes that have any of them. Each such link pays the demand's price, but the one
to the nearest, which pays the nearest price, at most the other: the two of them pay at least the sum of both.
If distances and prices of every pair add up to at most the scale, the links number at least (sum of all
gaps, prices and nearest prices) / scale.

Where links cost, the part `cost` of a certificate has lines of its own. A unit of cost has 2^exponent parts,
and for every pair of nodes the distances may add up to what a link between the two costs, in whole parts.
Then the links of every topic-connected overlay cost together at least as much as all gaps: the argument is
the same, with the cost of each link in place of the scale. Costs of sites and clusters are taken as they are,
to the last bit. Costs by distance are roots or angles, which have no last bit: they are computed here once
more and lowered by a share of 10^-7, more than any rounding.

    python -m meshwright.metrics.certificate_checker DATASET CERTIFICATE

Python's whole numbers have no limit, and NumPy's are used only where no sum can reach 2^63.
"""

import json
import math
import sys
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

FORMAT = "meshwright lower bound certificate"
VERSION = 3
_DOUBT = 1e-7
_MOST_PARTS = 2.0**53
Topics = list[list[int]]
Row = Callable[[int], npt.NDArray[Any]]
"""Of a node, something of the links to all nodes: their costs, or how long they may be."""


class NoCertificateError(ValueError):
    """The file can't be read, or is of another format, version or of other interests."""


class RefutedError(ValueError):
    """The certificate proves less than it says."""


def check_files(dataset: Path, certificate: Path) -> tuple[int, Fraction | None]:
    """The links that every topic-connected overlay of a dataset's interests has at least, by a file.

    And what they cost at least, where the file has a part for that.
    """
    try:
        found = json.loads(certificate.read_text("utf-8"), parse_constant=_refuse)
    except (OSError, ValueError, RecursionError) as error:
        raise NoCertificateError(f"{certificate} can't be read: {error}") from None
    topics = read_topics(dataset)
    edges = check(topics, found)
    return edges, None if found.get("cost") is None else check_cost(topics, found, read_costs(dataset))


def read_topics(dataset: Path) -> Topics:
    """The topics of each node, by id, from the tables `nodes` and `lists` of a dataset."""
    nodes = pq.read_table(dataset / "nodes", columns=["id"]).num_rows
    lists = pq.read_table(dataset / "lists", columns=["node_id", "topic_ids"])
    topics: Topics = [[] for _ in range(nodes)]
    for node, own in zip(lists["node_id"].to_pylist(), lists["topic_ids"].to_pylist(), strict=True):
        topics[node] = own
    return topics


def read_costs(dataset: Path) -> Row:
    """The costs of the links of a node to all others, from the tables and the manifest of an overlay."""
    facts = json.loads((dataset / "manifest.json").read_text("utf-8")).get("facts", {})
    if "costs" not in facts:
        raise NoCertificateError(
            "it is of costs, which the dataset lacks: build or price the overlay with them"
        )
    told, nodes = facts["costs"], pq.read_table(dataset / "cost_nodes")
    names = pq.read_table(dataset / "nodes", columns=["id", "name"]).sort_by("id")["name"]
    if nodes["node"].to_pylist() != names.to_pylist():
        raise NoCertificateError("the dataset has costs of other nodes, or in another order")
    if told["kind"] == "sites":
        site = nodes["site_id"].to_numpy()
        flat = pq.read_table(dataset / "cost_sites")["costs"].combine_chunks().flatten().to_numpy()
        matrix = flat.reshape(math.isqrt(len(flat)), -1)
        return lambda node: matrix[site[node], site]
    if told["kind"] == "clusters":
        site = nodes["site_id"].to_numpy()
        return lambda node: np.where(site == site[node], told["inner"], told["outer"])
    points = np.stack([nodes[axis].to_numpy() for axis in ("x", "y", "z")], axis=1)

    def by_distance(node: int) -> npt.NDArray[Any]:
        apart = points - points[node]
        far = np.abs(apart).sum(axis=1)
        if told["kind"] != "manhattan":
            far = np.sqrt(np.square(apart).sum(axis=1))
        if told["kind"] == "great-circle":
            far = 2 * np.arctan2(far / 2, np.sqrt(np.maximum(0, 1 - np.square(far / 2))))
        costs: npt.NDArray[Any] = np.maximum(told.get("least", 0), told["base"] + told["factor"] * far)
        return costs * (1 - _DOUBT)

    return by_distance


def check(topics: Topics, certificate: Any) -> int:
    """The links that the certificate proves for nodes with these topics; refuses it if it is wrong."""
    scale, edges = _head(certificate)
    lines, gaps = _lines(topics, certificate)
    demands = _demands(topics, lines, certificate.get("demands"))
    total = sum(sum(own) for own in gaps)
    total += sum(demand["price"] + demand["nearest_price"] for demand in demands)
    if edges * scale >= total + scale:
        raise RefutedError(f"the gaps and prices add up to {total}, which is not enough for {edges} links")
    same = np.full(len(topics), scale)
    _check_distances(topics, lines, gaps, demands, scale, lambda _: same)
    return edges


def check_cost(topics: Topics, certificate: Any, costs: Row) -> Fraction:
    """What all links cost at least, by the part `cost` of a certificate; refuses it if it is wrong."""
    _head(certificate)
    part = certificate.get("cost")
    exponent, parts = (part.get(key) if isinstance(part, Mapping) else None for key in ("exponent", "parts"))
    if not _is_whole(exponent, -2_000) or exponent > 2_000 or not _is_whole(parts, 0):
        raise NoCertificateError("its exponent or parts of cost are missing or no whole numbers")
    lines, gaps = _lines(topics, part)
    total = sum(sum(own) for own in gaps)
    if parts > total:
        raise RefutedError(f"the gaps add up to {total}, which is not enough for {parts} parts")
    most = 2**63 // (len(lines) + 3) - 1

    def limits(node: int) -> npt.NDArray[Any]:
        with np.errstate(over="ignore"):
            exact = np.ldexp(costs(node), exponent)
        return np.minimum(np.floor(exact), _MOST_PARTS).astype(np.int64)

    _check_distances(topics, lines, gaps, [], most, limits)
    return Fraction(parts) / Fraction(2) ** exponent


def _head(certificate: Any) -> tuple[int, int]:
    """Its scale and links; refuses what is no certificate of this version."""
    if not isinstance(certificate, Mapping) or certificate.get("format") != FORMAT:
        raise NoCertificateError(f"its format is not {FORMAT!r}")
    if certificate.get("version") != VERSION:
        raise NoCertificateError(
            f"its version is {certificate.get('version')!r}, but only {VERSION} is known"
        )
    scale, edges = certificate.get("scale"), certificate.get("edges")
    if not _is_whole(scale, 1) or not _is_whole(edges, 0):
        raise NoCertificateError("its scale or edges are missing or no whole numbers")
    return scale, edges


def _lines(topics: Topics, part: Mapping[str, Any]) -> tuple[list[list[int]], list[list[int]]]:
    """The nodes and gaps of each topic; refuses what is no line of just its subscribers."""
    lines = part.get("lines")
    if not isinstance(lines, list):
        raise NoCertificateError("its lines are missing")
    subscribers: list[set[int]] = [set() for _ in lines]
    for node, own in enumerate(topics):
        for topic in own:
            if topic >= len(lines):
                raise NoCertificateError(f"it has {len(lines)} topics, but the interests have more")
            subscribers[topic].add(node)
    for topic, line in enumerate(lines):
        _check_line(topic, line, subscribers[topic])
    return [line["nodes"] for line in lines], [line["gaps"] for line in lines]


def _check_line(topic: int, line: Any, subscribers: set[int]) -> None:
    nodes, gaps = (line.get(key) if isinstance(line, Mapping) else None for key in ("nodes", "gaps"))
    if not isinstance(nodes, list) or not isinstance(gaps, list) or len(nodes) != len(gaps):
        raise NoCertificateError(f"the line of topic {topic} has no nodes, or not a gap for each of them")
    if not all(_is_whole(node, 0) for node in nodes) or not all(_is_whole(gap, 0) for gap in gaps):
        raise NoCertificateError(f"the line of topic {topic} has a node or gap that is no whole number")
    if len(nodes) != len(subscribers) or set(nodes) != subscribers:
        raise NoCertificateError(
            f"the line of topic {topic} has other nodes than the topic: it is of other interests"
        )
    if gaps and gaps[0] != 0:
        raise RefutedError(f"the line of topic {topic} begins with a gap")


def _demands(topics: Topics, lines: list[list[int]], demands: Any) -> list[Mapping[str, Any]]:
    """The demands; refuses those that force no two links."""
    keys = ("node", "price", "nearest", "nearest_price")
    if not isinstance(demands, list):
        raise NoCertificateError("its demands are missing")
    seen = set()
    for demand in demands:
        whole = isinstance(demand, Mapping) and all(_is_whole(demand.get(key), 0) for key in keys)
        if not whole or not isinstance(demand.get("topics"), list) or demand["node"] >= len(topics):
            raise NoCertificateError("a demand has no node, topics or prices that are whole numbers")
        node, wanted = demand["node"], demand["topics"]
        if not wanted or not all(_is_whole(topic, 0) and topic in topics[node] for topic in wanted):
            raise NoCertificateError(f"the demand of node {node} has topics that are not its own")
        if node in seen or demand["nearest_price"] > demand["price"]:
            raise RefutedError(f"node {node} has two demands, or the nearest pays more than the others")
        seen.add(node)
        if any(len(lines[topic]) < 2 for topic in wanted):
            raise RefutedError(f"the demand of node {node} has a topic that no other node has")
        if len(set.intersection(*(set(lines[topic]) for topic in wanted))) > 1:
            raise RefutedError(f"another node has all topics of the demand of node {node}")
    return demands


def _check_distances(
    topics: Topics,
    lines: list[list[int]],
    gaps: list[list[int]],
    demands: list[Mapping[str, Any]],
    scale: int,
    limits: Row,
) -> None:
    """Refuse a pair of nodes whose distances and prices add up to more than the limit of their link.

    Also a gap or price above the scale.
    """
    widest = max((gap for own in gaps for gap in own), default=0)
    widest = max(widest, max((demand["price"] for demand in demands), default=0))
    if widest > scale or scale * (len(lines) + 3) >= 2**63:
        raise RefutedError(
            f"a gap or price is {widest}, more than the scale, {scale}, or the scale is too great to add up"
        )
    prices, nearest, lowered = (np.zeros(len(topics), np.int64) for _ in range(3))
    askers: list[list[int]] = [[] for _ in lines]
    wanted: dict[int, list[int]] = {}
    for demand in demands:
        node = demand["node"]
        prices[node], nearest[node] = demand["price"], demand["nearest"]
        lowered[node] = demand["price"] - demand["nearest_price"]
        wanted[node] = demand["topics"]
        for topic in demand["topics"]:
            askers[topic].append(node)
    askers_of = [np.array(own, np.int64) for own in askers]
    nodes_of = [np.array(line, np.int64) for line in lines]
    gaps_of = [np.array(own, np.int64) for own in gaps]
    nobody = np.empty(0, np.int64)
    places = [{node: place for place, node in enumerate(line)} for line in lines]
    for node, own in enumerate(topics):
        far = np.zeros(len(topics), np.int64)
        for topic in own:
            place = places[topic][node]
            behind = np.maximum.accumulate(gaps_of[topic][place + 1 :])
            ahead = np.maximum.accumulate(gaps_of[topic][place:0:-1])
            far[nodes_of[topic][place + 1 :]] += behind
            far[nodes_of[topic][:place][::-1]] += ahead
        asking = np.unique(np.concatenate([askers_of[topic] for topic in own])) if own else nobody
        far[asking] += prices[asking] - np.where(nearest[asking] == node, lowered[asking], 0)
        meeting = np.unique(np.concatenate([nodes_of[topic] for topic in wanted.get(node, [])] or [nobody]))
        far[meeting] += prices[node] - np.where(meeting == nearest[node], lowered[node], 0)
        far[node] = 0
        too_far = far - limits(node)
        too_far[node] = 0
        if too_far.max(initial=0) > 0:
            other = int(too_far.argmax())
            allowed = far[other] - too_far[other]
            raise RefutedError(
                f"nodes {node} and {other} are {far[other]} apart, at most {allowed} is allowed"
            )


def _is_whole(value: object, least: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no whole number")


if __name__ == "__main__":
    proved, least_cost = check_files(Path(sys.argv[1]), Path(sys.argv[2]))
    print(f"{proved} links" if least_cost is None else f"{proved} links, which cost {float(least_cost)}")
