"""Small worlds by their definitions, word for word, for rings small enough to look at every pair."""

from collections.abc import Mapping

from tests import oracles

Edge = tuple[int, int]


def distance(v: int, w: int, positions: Mapping[int, int], space: int) -> int:
    """Clockwise, from v to w."""
    return (positions[w] - positions[v]) % space


def phases(v: int, positions: Mapping[int, int], space: int) -> dict[int, list[int]]:
    """The nodes in each phase of v that is not empty, the nearest first."""
    found: dict[int, list[int]] = {}
    for w in sorted(positions, key=lambda w: distance(v, w, positions, space)):
        if w != v:
            highest_bit = distance(v, w, positions, space).bit_length() - 1
            found.setdefault(highest_bit, []).append(w)
    return found


def candidates(v: int, positions: Mapping[int, int], space: int) -> dict[int, list[int]]:
    """Whom each finger may point to: in the first phase that is not empty, the next node alone."""
    found = phases(v, positions, space)
    if found:
        found[min(found)] = found[min(found)][:1]
    return found


def gr_swico(
    topics_of: oracles.Topics,
    positions: Mapping[int, int],
    space: int,
    target_slot: str,
    farthest: bool = False,
) -> tuple[list[Edge], dict[Edge, int]]:
    """[4], Alg. 4, while links contribute: the links as they are taken, and the finger of each (node, phase).

    Of equals the first by the owner's place on the ring, then by phase, then by distance,
    the greatest first if `farthest`.
    """
    around = sorted(positions, key=lambda v: positions[v])
    may = {v: candidates(v, positions, space) for v in around}
    ordered = [(v, i, w) for v in around for i in sorted(may[v]) for w in may[v][i][:: -1 if farthest else 1]]
    fingers: dict[Edge, int] = {}
    edges: list[Edge] = []

    def free_slot(owner: int, target: int) -> int | None:
        """The phase of `owner` that `target` may fill, if it has no finger yet."""
        slots = [i for i, nodes in may[owner].items() if target in nodes and (owner, i) not in fingers]
        return slots[0] if slots else None

    while True:
        gains = dict(oracles.contributions(topics_of, edges))
        left = [
            (gains.get((v, w), gains.get((w, v))), v, i, w)
            for v, i, w in ordered
            if (v, i) not in fingers and (target_slot != "required" or free_slot(w, v) is not None)
        ]
        best = max((entry[0] for entry in left), default=0)
        if best == 0:
            return edges, fingers
        _, v, i, w = next(entry for entry in left if entry[0] == best)
        back = free_slot(w, v)
        fingers[v, i] = w
        if target_slot != "never" and back is not None:
            fingers[w, back] = v
        edges.append((v, w))


def nsmf(
    subscribers: set[int],
    fingers: Mapping[int, list[int]],
    positions: Mapping[int, int],
    space: int,
    issuer: int,
) -> list[tuple[int, int, int]]:
    """[4], Protocol 3, from the issuer on: every hop as (sender, receiver, hops from the issuer)."""
    hops: list[tuple[int, int, int]] = []

    def send(v: int, low: int, high: int, depth: int) -> None:
        near = [
            u for u in fingers[v] if distance(v, u, positions, space) <= distance(v, low, positions, space)
        ]
        u = min(near, key=lambda u: distance(u, low, positions, space))
        hops.append((v, u, depth + 1))
        receive(u, low, high, depth + 1)

    def in_range(v: int, u: int, high: int) -> bool:
        span = distance(v, high, positions, space) or space
        return 0 < distance(v, u, positions, space) < span

    def receive(v: int, low: int, high: int, depth: int) -> None:
        if v != low:
            send(v, low, high, depth)
            return
        others = sorted(subscribers - {v}, key=lambda u: distance(v, u, positions, space))
        found = {u for u in fingers[v] if u in subscribers} | set(others[:1])
        x = sorted((u for u in found if in_range(v, u, high)), key=lambda u: distance(v, u, positions, space))
        for j, target in enumerate(x):
            send(v, target, x[j + 1] if j + 1 < len(x) else high, depth)

    receive(issuer, issuer, issuer, 0)
    return hops
