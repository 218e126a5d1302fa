"""What filters cost and save: `python -m benchmarks.filters`.

First, for three naming schemes, laminar and with `+`: classes and links of 150 brokers. For comparison, the
links if each filter were an opaque topic, and how many classes such an overlay cuts. Then how the time from
filters to interests grows.
"""

import argparse
import random
import time
import warnings
from collections.abc import Callable

import numpy as np

import meshwright as mw
from benchmarks.naming_schemes import SCHEMES, subscriptions
from meshwright.runtime.errors import MeshwrightWarning


def cut_classes(classes: mw.Interests, overlay: mw.Overlay) -> int:
    """How many classes have subscribers that an overlay of the same nodes does not connect."""
    links = [set() for _ in range(classes.node_count)]
    for one, other in overlay.edges.tolist():
        links[one].add(other)
        links[other].add(one)
    cut = 0
    for start, stop in zip(classes.topic_indptr[:-1], classes.topic_indptr[1:], strict=True):
        left = set(classes.node_ids[start:stop].tolist())
        ahead = [left.pop()] if left else []
        while ahead:
            near = links[ahead.pop()] & left
            left -= near
            ahead += near
        cut += bool(left)
    return cut


def as_names(pairs: list[tuple[str, str]]) -> mw.Interests:
    """Interests that take each filter as a name, without the warning that this is probably not meant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshwrightWarning)
        return mw.Interests.from_pairs(pairs)


def compare(scheme: str, plus: bool, brokers: int, filters: int) -> tuple[object, ...]:
    """A row of the table."""
    pairs = subscriptions(scheme, brokers, filters, plus=plus)
    classes, opaque = mw.Interests.from_filters(pairs), as_names(pairs)
    ours, theirs = mw.build(classes, "gm"), mw.build(opaque, "gm")
    distinct = len({text for _, text in pairs})
    form = "with +" if plus else "laminar"
    return scheme, form, distinct, classes.topic_count, len(ours), len(theirs), cut_classes(classes, theirs)


_HEAD = ("scheme", "form", "filters", "classes", "links", "opaque", "classes cut")


def table(brokers: int, filters: int) -> None:
    """Print links and cut classes for each scheme."""
    print(f"{brokers} brokers, {filters} subscriptions; overlays by gm")
    print("{:12} {:8} {:>8} {:>8} {:>6} {:>7} {:>12}".format(*_HEAD))
    for scheme in SCHEMES:
        for plus in (False, True):
            row = compare(scheme, plus, brokers, filters)
            print("{:12} {:8} {:8,} {:8,} {:6,} {:7,} {:12,}".format(*row))


def plain(count: int) -> list[tuple[str, str]]:
    """Plain names and prefixes, half and half, and a filter for everything."""
    numbers = random.Random(1)
    ends = ("temp", "#")
    made = (
        f"plant{numbers.randrange(50)}/line{numbers.randrange(1000)}/dev{at}/{ends[at % 2]}"
        for at in range(count)
    )
    return [("b0", "#"), *((f"b{at % 1000}", text) for at, text in enumerate(made))]


def dotted(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """MQTT filters as AMQP binding keys."""
    return [(node, text.replace("/", ".").replace("+", "*")) for node, text in pairs]


def growth(
    label: str, make: Callable[[int], list[tuple[str, str]]], sizes: list[int], dialect: str = "mqtt"
) -> None:
    """Print the seconds for each size, and how the time grows: 1 is linear."""
    seconds = []
    for size in sizes:
        pairs = make(size)
        begin = time.perf_counter()
        interests = mw.Interests.from_filters(pairs, dialect)
        seconds.append(time.perf_counter() - begin)
        print(
            f"{label}: {size:>9,} filters of {interests.node_count:,} brokers: {seconds[-1]:6.2f} s, "
            f"{interests.topic_count:,} classes, {len(interests):,} interests"
        )
    power = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
    print(f"{label}: the time grows with the number of filters to the power of {power:.2f}")


def main() -> None:
    """Print both parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--brokers", type=int, default=150)
    parser.add_argument("--filters", type=int, default=900)
    parser.add_argument("--largest", type=int, default=1_000_000, help="names and prefixes, at most")
    options = parser.parse_args()
    table(options.brokers, options.filters)
    mw.Interests.from_filters([("b1", "a/+"), ("b2", "+/b")])  # compile
    crossing = [1_250, 2_500, 5_000, 10_000]

    def industrial(size: int) -> list[tuple[str, str]]:
        return subscriptions("industrial", 1000, size, plus=True, scale=4)

    growth("industrial, with +", industrial, crossing)
    growth(
        "the same in amqp, with #.alarm",
        lambda n: [*dotted(industrial(n)), ("b1", "#.alarm")],
        crossing,
        "amqp",
    )
    largest = options.largest
    growth("names and prefixes", plain, [largest // 16, largest // 8, largest // 4, largest // 2, largest])


if __name__ == "__main__":
    main()
