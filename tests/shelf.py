"""Awkward interests, by what is awkward about them; every algorithm is tried on each."""

from meshwright import Interests


def _of(topics_of: dict[str, str], topics: tuple[str, ...] = ()) -> Interests:
    pairs = [(node, topic) for node, own in topics_of.items() for topic in own]
    return Interests.from_pairs(pairs, nodes=list(topics_of), topics=topics)


AWKWARD = {
    "none": _of({}),
    "one node": _of({"a": "xyz"}),
    "nodes without topics": _of({"a": "", "b": "", "c": ""}),
    "a topic without nodes": _of({"a": "x", "b": "x"}, topics=("nobody",)),
    "a topic of one": _of({"a": "xy", "b": "x", "c": "x"}),
    "no overlap at all": _of({"a": "x", "b": "y", "c": "z"}),
    "all identical": _of(dict.fromkeys("abcdefgh", "uvwxyz")),
    "one hub": _of({"hub": "stuvwxyz"} | {f"leaf {topic}": topic for topic in "stuvwxyz"}),
    "two islands": _of({"a": "xy", "b": "xy", "c": "x", "d": "vw", "e": "w", "f": "v"}),
    "two nodes": _of({"a": "x", "b": "x"}),
    "strange names": _of({"ключ, 1": "x", 'say "hi"': "xy", "two\nlines": "xy", "007": "y"}),
}
