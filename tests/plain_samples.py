"""Samples by sets and plain loops, and ranks by Python's integers: what the engines are checked against."""

import random
from collections import Counter

import pyarrow as pa

import meshwright as mw
from meshwright.pipeline.ranks import salt
from meshwright.pipeline.sample.bfs import BfsOptions
from meshwright.pipeline.sample.universe import UniverseOptions
from meshwright.runtime.seeds import generator

_WRAP = 2**64
_P1, _P2, _P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_P4, _P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def xxh64(*numbers: int) -> int:
    """XXH64 of one long integer after the other, each under the hash of those before; the first under 42."""

    def turned(value, bits):
        return (value << bits | value >> (64 - bits)) % _WRAP

    state = 42
    for number in numbers:
        state = (state + _P5 + 8) % _WRAP
        state ^= turned(number % _WRAP * _P2 % _WRAP, 31) * _P1 % _WRAP
        state = (turned(state, 27) * _P1 + _P4) % _WRAP
        state = (state ^ state >> 33) * _P2 % _WRAP
        state = (state ^ state >> 29) * _P3 % _WRAP
        state ^= state >> 32
    return state - _WRAP if state >= _WRAP // 2 else state


def least(ids, seed, stage, count):
    salted = salt(seed, stage)
    return sorted(ids, key=lambda node: (xxh64(salted, node), node))[:count]


def plain_search(interests: mw.Interests, options: BfsOptions, seed: int) -> set[str]:
    """Whom a breadth-first search on the driver visits, by the order that the documentation states."""
    names = interests.nodes.to_pylist()
    number = {name: at for at, name in enumerate(names)}
    near = {node: set() for node in range(len(names))}
    for node, topic in interests.to_pairs():
        if topic in number:
            near[number[node]].add(number[topic])
            near[number[topic]].add(number[node])
    level = [number[name] for name in options.start] or least(near, seed, "bfs start", options.starts)
    visited, restarts = set(), 0
    while True:
        room = options.users - len(visited)
        visited |= set(level if len(level) <= room else least(level, seed, "bfs cut", room))
        if len(visited) == options.users:
            return {names[node] for node in visited}
        level = {other for node in level for other in near[node]} - visited
        if not level:
            room = options.users - len(visited)
            level = least(near.keys() - visited, seed, "bfs start", min(2**restarts, room))
            restarts += 1


def among(interests: mw.Interests, users: set[str]) -> mw.Interests:
    pairs = [(node, topic) for node, topic in interests.to_pairs() if node in users and topic in users]
    return mw.Interests.from_pairs(pairs, nodes=sorted(users))


def social(users: int, follows: int, seed: int) -> mw.Interests:
    """Random follows, some of the own topic, some of topics that are nobody's."""
    draw = random.Random(seed)
    names = [f"u{at}" for at in range(users)]
    pairs = {(draw.choice(names), draw.choice([*names, "news"])) for _ in range(follows)}
    return mw.Interests.from_pairs(pairs, nodes=names)


def with_sites(interests: mw.Interests) -> mw.Interests:
    sites = pa.table({"site": [f"site of {name}" for name in interests.nodes.to_pylist()]})
    fields = (interests.indptr, interests.topic_ids, interests.nodes, interests.topics)
    return mw.Interests(*fields, node_attributes=sites)


def plain_universe(
    interests: mw.Interests, options: UniverseOptions, seed: int, universe: int
) -> mw.Interests:
    """The universe of that number, by sets."""
    names, topics = interests.nodes.to_pylist(), interests.topics.to_pylist()
    theirs = {node: set() for node in names}
    for node, topic in interests.to_pairs():
        theirs[node].add(topic)
    drawn = generator(seed, "universe", universe).choice(len(topics), options.seeds, replace=False)
    grown = {topics[at] for at in drawn}
    members = {node for node in names if theirs[node] & grown}
    salted = salt(seed, "universe growth")
    for node in members:
        if options.grow == "own":
            grown |= {node} & set(topics)
        else:
            ordered = sorted(theirs[node], key=topics.index)
            grown.add(ordered[xxh64(salted, universe, names.index(node)) % len(ordered)])
    if options.nodes_of == "grown":
        members = {node for node in names if theirs[node] & grown}
    within = [
        (node, topic)
        for node, topic in interests.to_pairs()
        if node in members and (options.topics_of == "nodes" or topic in grown)
    ]
    subscribers = Counter(topic for _, topic in within)
    return mw.Interests.from_pairs(
        [(node, topic) for node, topic in within if subscribers[topic] >= options.least_subscribers]
    )
