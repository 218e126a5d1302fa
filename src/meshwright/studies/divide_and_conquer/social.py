"""Claims of [1], Table II, on samples of Facebook and Twitter.

The samples of [1] are not public. Others of the same kind are cut as in VIII-A out of the graphs of SNAP
(ego-Facebook and ego-Twitter, https://snap.stanford.edu/data/), which the user provides.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array

from meshwright.building import build
from meshwright.metrics.evaluation import evaluate
from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Ids
from meshwright.runtime.errors import OptionError
from meshwright.runtime.seeds import generator
from meshwright.studies.catalogue import Curves, Point
from meshwright.studies.claims import Claim, Expected, Scope, about, at_least, at_most
from meshwright.studies.tolerances import NUMBER, OTHER_DATA

FILES = {
    "Facebook": ("ego-facebook.txt.gz", "facebook_combined.txt.gz"),
    "Twitter": ("ego-twitter.txt.gz", "twitter_combined.txt.gz"),
}
"""By network, the names that its file may have."""

_STARTS = 5


class Relations(NamedTuple):
    """Who follows whom, as places in the names; friends follow each other."""

    names: Sequence[str]
    follower: Ids
    followee: Ids


def follows(path: Path) -> Relations:
    """A file of `follower followee` lines."""
    import pandas as pd

    table = pd.read_csv(path, sep=r"\s+", header=None, comment="#", usecols=[0, 1])
    found, ids = np.unique(table.to_numpy(), return_inverse=True)
    names = found.astype(str)
    order = np.argsort(names)
    rank = np.empty(len(names), np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    follower, followee = rank[ids.reshape(table.shape)].T
    apart = follower != followee
    return Relations(names[order].tolist(), follower[apart], followee[apart])


def friendships(path: Path) -> Relations:
    """A file of `u v` lines."""
    found = follows(path)
    both = np.concatenate([found.follower, found.followee]), np.concatenate([found.followee, found.follower])
    return Relations(found.names, *both)


def sample(relations: Relations, nodes: int, seed: int, *, own_topic: bool = False) -> Interests:
    """So many users, breadth first from a few random ones, and all relations among them.

    The search ignores direction. A follower subscribes to the followee; a user is a subscriber of the own
    topic only if told.
    """
    count = len(relations.names)
    ones = np.ones(len(relations.follower), np.int8)
    links = coo_array((ones, (relations.follower, relations.followee)), shape=(count, count)).tocsr()
    visited = np.zeros(count, np.bool_)
    visited[_breadth_first((links + links.T).tocsr(), nodes, seed)] = True
    keep = visited[relations.follower] & visited[relations.followee]
    name = relations.names
    ends = relations.follower[keep].tolist(), relations.followee[keep].tolist()
    pairs = [(name[u], name[v]) for u, v in zip(*ends, strict=True)]
    users = [name[user] for user in np.flatnonzero(visited).tolist()]
    return Interests.from_pairs([*pairs, *((user, user) for user in users if own_topic)], nodes=users)


def _breadth_first(links: Any, wanted: int, seed: int) -> list[int]:
    queue: list[int] = generator(seed, "bfs").choice(links.shape[0], _STARTS, replace=False).tolist()
    seen = set(queue)
    for u in queue:
        for v in links.indices[links.indptr[u] : links.indptr[u + 1]].tolist():
            if len(queue) >= wanted:
                return queue[:wanted]
            if v not in seen:
                seen.add(v)
                queue.append(v)
    return queue


class Input(NamedTuple):
    """A column of Table II: a network, and how many of its users are sampled."""

    network: str
    nodes: int


SMALL = (Input("Facebook", 1_000), Input("Facebook", 4_039), Input("Twitter", 1_000))
LARGE = Input("Twitter", 10_000)
"""ego-Facebook has 4,039 users: all of them stand for the 10,000 of [1]."""

_BY_SCALE = {"smoke": 30}
"""The most users of a sample, by scale, where there is a limit."""

_ALGORITHMS = ("gm", "dcbc", "dc")


class Reading(NamedTuple):
    """What [1] leaves open: whether users have their own topics, and ties by algorithm."""

    own_topic: bool = False
    ties: str = "shuffled"


class Found(NamedTuple):
    """What an algorithm came to on an input."""

    degree: float
    diameter: float
    mean_diameter: float


@cache
def _relations(folder: str, network: str) -> Relations:
    paths = [Path(folder) / name for name in FILES[network]]
    there = [path for path in paths if path.exists()]
    if not there:
        raise OptionError(
            f"--data {folder} has no file of {network}; put {paths[0].name} or {paths[1].name} of SNAP there",
            option="data",
        )
    return (friendships if network == "Facebook" else follows)(there[0])


@cache
def _interests(folder: str, given: Input, own_topic: bool, seed: int) -> Interests:
    return sample(_relations(folder, given.network), given.nodes, seed, own_topic=own_topic)


@cache
def _found(folder: str, given: Input, reading: Reading, algorithm: str, seed: int) -> Found:
    interests = _interests(folder, given, reading.own_topic, seed)
    found = evaluate(build(interests, algorithm, seed=seed, ties=reading.ties), bound=False)
    return Found(
        found.average_degree, float(found.maximum_topic_diameter or 0), found.mean_topic_diameter or 0.0
    )


class _Table:
    """Table II for a seed and a reading."""

    def __init__(self, folder: str, inputs: Sequence[Input], reading: Reading, seed: int) -> None:
        self._where, self._inputs, self._how = folder, inputs, (reading, seed)

    def of(self, given: Input, what: str) -> list[float]:
        """A number by algorithm."""
        reading, seed = self._how
        return [getattr(_found(self._where, given, reading, name, seed), what) for name in _ALGORITHMS]

    def share_in_order(self, what: str, order: Sequence[str]) -> float:
        """The share of the inputs on which the algorithms have that order, from less to more."""
        holds = []
        for given in self._inputs:
            by_name = dict(zip(_ALGORITHMS, self.of(given, what), strict=True))
            values = [by_name[name] for name in order]
            holds.append(values[0] < values[1] < values[2])
        return sum(holds) / len(holds)

    def largest(self, what: str) -> list[float]:
        """A number by algorithm on the largest sample of Twitter."""
        return self.of(self._inputs[-1], what)

    def growth_of_advantage(self, what: str) -> float:
        """By how much DC is above DCBC on the large sample more than on the small one, on either network."""
        gaps = [dc - dcbc for _, dcbc, dc in (self.of(given, what) for given in self._inputs)]
        return min(large - small for small, large in (gaps[:2], gaps[2:]))


_DEGREES, _DIAMETERS = ("gm", "dcbc", "dc"), ("dcbc", "gm", "dc")


def _ratio(what: str, one: int, other: int) -> Callable[[_Table], float]:
    return lambda table: table.largest(what)[one] / table.largest(what)[other]


_STATED: Sequence[tuple[str, str, Expected, Callable[[_Table], float]]] = (
    (
        "degrees",
        "On all samples of Facebook and Twitter, d_GM < d_DCBC < d_DC.",
        at_least(1.0),
        lambda table: table.share_in_order("degree", _DEGREES),
    ),
    (
        "diameters",
        "On all samples of Facebook and Twitter, Diam_DCBC < Diam_GM < Diam_DC.",
        at_least(1.0),
        lambda table: table.share_in_order("diameter", _DIAMETERS),
    ),
    (
        "dcbc-minus-gm",
        "On 10,000 users of Twitter, d_DCBC - d_GM is 3.22.",
        about(3.22, OTHER_DATA),
        lambda table: table.largest("degree")[1] - table.largest("degree")[0],
    ),
    (
        "advantage-grows",
        "As the instances scale up, DCBC shows more substantial advantages over DC in average degrees.",
        at_least(0.0),
        lambda table: table.growth_of_advantage("degree"),
    ),
    (
        "diameter-advantage-grows",
        "As the instances scale up, DCBC shows more substantial advantages over DC in topic diameters.",
        at_least(0.0),
        lambda table: table.growth_of_advantage("diameter"),
    ),
    ("dc-over-gm", "There d_DC is about twice d_GM.", about(2.0, NUMBER), _ratio("degree", 2, 0)),
    ("diameter-of-gm", "There Diam_DCBC is under a half of Diam_GM.", at_most(0.5), _ratio("diameter", 1, 0)),
    (
        "diameter-of-dc",
        "There Diam_DCBC is under a third of Diam_DC.",
        at_most(1 / 3),
        _ratio("diameter", 1, 2),
    ),
)
_ONE_CHAIN = (
    "The paper writes Diam_DCBC < 1/2 Diam_GM < 1/3 Diam_DC. By its own table 1/2 of 16 and 1/3 of 24 are "
    "both 8, so that the second is false."
)
_CONTRADICTED = {
    "advantage-grows": (
        "By the paper's own table d_DC - d_DCBC falls on Facebook, from 4.40 - 2.94 = 1.46 to "
        "8.47 - 7.43 = 1.04."
    ),
    "diameter-of-gm": _ONE_CHAIN,
    "diameter-of-dc": _ONE_CHAIN,
}
"""Where the table contradicts the text."""

_READINGS: Mapping[str, tuple[str, Reading]] = {
    "large-first": (
        "Of equal links, those of nodes with many topics come first.",
        Reading(ties="large-first"),
    ),
    "small-first": (
        "Of equal links, those of nodes with few topics come first.",
        Reading(ties="small-first"),
    ),
    "own-topic": ("A user is also a subscriber of the own topic.", Reading(own_topic=True)),
}
_NOT_SHIPPED = (
    "The samples of [1] are not public. With --data, a folder that holds SNAP's ego-Facebook and "
    "ego-Twitter, it is measured on samples of these."
)


def _inputs(scale: str) -> list[Input]:
    most = _BY_SCALE.get(scale, LARGE.nodes)
    return [given._replace(nodes=min(given.nodes, most)) for given in (*SMALL, LARGE)]


def claims(scale: str, data: str | None) -> Iterator[Claim]:
    """Table II; without data, only what it states."""
    inputs = _inputs(scale)

    def measure(value: Callable[[_Table], float], reading: Reading, seed: int) -> float:
        assert data is not None
        return float(value(_Table(data, inputs, reading, seed)))

    for name, statement, expected, value in _STATED:
        claim = Claim(
            name=f"table-2-{name}",
            source="[1], Table II and VIII-D.1",
            statement=statement,
            expected=expected,
            how=(
                "Breadth-first samples of ego-Facebook (1,000 users, and all 4,039) and of ego-Twitter "
                "(1,000 and 10,000), new ones for every run; p by Alg. 5, 20% bulk nodes; for orders, the "
                "share of the samples on which they hold; for growth, the lesser of the two networks."
            ),
            measure=partial(measure, value, Reading()) if data else None,
            quick_runs=3,
            reason=" ".join(filter(None, ("" if data else _NOT_SHIPPED, _CONTRADICTED.get(name)))),
        )
        yield claim
        for suffix, (words, reading) in _READINGS.items() if data else ():
            yield claim.variant(suffix, words, partial(measure, value, reading))
        if data and name == "diameters":
            yield claim.variant(
                "mean",
                "The diameter is the mean over the topics, which does not hang on a single one.",
                partial(
                    measure,
                    lambda table: table.share_in_order("mean_diameter", _DIAMETERS),
                    Reading(),
                ),
            )


def _points(what: str, seed: int, scope: Scope) -> Iterator[Point]:
    if scope.data is None:
        return
    inputs = _inputs(scope.scale)
    table = _Table(scope.data, inputs, Reading(), seed)
    for at, given in enumerate(inputs):
        for name, value in zip(_ALGORITHMS, table.of(given, what), strict=True):
            yield Point(name, at, value)


_PAPER: Mapping[str, Mapping[str, Sequence[float]]] = {
    "degree": {
        "dc": (4.40, 8.47, 8.61, 16.63),
        "dcbc": (2.94, 7.43, 4.98, 11.55),
        "gm": (2.74, 5.48, 4.74, 8.33),
    },
    "diameter": {"dc": (10, 18, 14, 24), "dcbc": (6, 8, 8, 7), "gm": (8, 12, 11, 16)},
}
"""Table II, from left to right."""


def _panel(what: str, y: str) -> Curves:
    return Curves(
        measure=partial(_points, what),
        x="sample (the paper's second one has 10,000 users)",
        y=y,
        ticks=tuple(f"{given.network}, {given.nodes:,}" for given in (*SMALL, LARGE)),
        stated=tuple(
            Point(name, at, value) for name, own in _PAPER[what].items() for at, value in enumerate(own)
        ),
    )


TABLE_2 = (_panel("degree", "average degree"), _panel("diameter", "greatest topic diameter"))
