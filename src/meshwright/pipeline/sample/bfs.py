"""Breadth-first search over a social graph on Spark, as [1], VIII-A, samples Facebook and Twitter.

The graph is that of the relations "u subscribes to the topic named like v"; their direction is ignored.
A level is one join of the frontier with the relations; visited users and frontiers are tables on disk, and
the driver sees counts only, until the sample is complete. A social graph has few levels; the time is that of
reading all relations once a level.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from meshwright.pipeline.ranks import salt
from meshwright.pipeline.spark import functions as f
from meshwright.pipeline.spark.storage import read_table
from meshwright.pipeline.spark.tables import kept, rank
from meshwright.runtime.errors import InputError, OptionError
from meshwright.runtime.places import Place
from meshwright.runtime.wording import count

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, kw_only=True)
class BfsOptions:
    """Where a breadth-first search starts and when it ends.

    Attributes:
        users: how many users to visit.
        start: names of the users to start from.
        starts: how many users to start from, drawn by the seed, where no `start` is given.
    """

    users: int
    start: tuple[str, ...] = ()
    starts: int = 1

    def __post_init__(self) -> None:
        for name, flag in {"users": "--bfs", "starts": "--starts"}.items():
            if getattr(self, name) < 1:
                raise OptionError(
                    f"{flag} is {getattr(self, name)}; give a whole number of at least 1", option=flag
                )
        if self.start and self.starts != 1:
            raise OptionError("--start and --starts both choose the first users; give only one of them")
        if len(set(self.start)) < len(self.start):
            raise OptionError("--start names a user twice; name each user once")
        starts = max(self.starts, len(self.start))
        if starts > self.users:
            raise OptionError(
                f"the search starts from {count(starts, 'user')} but may visit only {self.users}; "
                f"start from fewer, or visit more"
            )


class Visit(NamedTuple):
    """The users visited (`id: int`), how many each level brought, and how often the search began anew."""

    users: "DataFrame"
    levels: list[int]
    restarts: int


def relations(interests: "DataFrame", owned: "DataFrame") -> "DataFrame":
    """`node_id, topic_id, owner_id: int`: the interests in topics that are named like nodes."""
    return interests.join(owned, "topic_id").select("node_id", "topic_id", "owner_id")


def links(related: "DataFrame") -> "DataFrame":
    """`source: int, target: int`: each relation between two users in both directions."""
    node, owner = f.col("node_id"), f.col("owner_id")
    there = f.struct(node.alias("source"), owner.alias("target"))
    back = f.struct(owner.alias("source"), node.alias("target"))
    both = related.where(node != owner).select(f.explode(f.array(there, back)).alias("link"))
    return both.select("link.source", "link.target")


def next_level(linked: "DataFrame", level: "DataFrame", visited: "DataFrame") -> "DataFrame":
    """`id: int` of the users that a link leads to from `level` and that are not visited yet."""
    sources = level.withColumnRenamed("id", "source")
    found = linked.join(sources, "source").select("target").distinct().withColumnRenamed("target", "id")
    return found.join(visited, "id", "left_anti")


def topics_among(related: "DataFrame", users: "DataFrame") -> "DataFrame":
    """`topic_id: int` of the topics named like one of `users` and subscribed to by one of them."""
    nodes, owned = users.withColumnRenamed("id", "node_id"), users.withColumnRenamed("id", "owner_id")
    both = related.join(nodes, "node_id", "left_semi").join(owned, "owner_id", "left_semi")
    return both.select("topic_id").distinct()


def visit(
    session: "SparkSession",
    nodes: "DataFrame",
    related: "DataFrame",
    options: BfsOptions,
    seed: int,
    place: Place,
) -> Visit:
    """Visit exactly `options.users` of the `nodes` (`id: int, name: string`), level by level.

    A level holds all users that are one relation away from the level before and not visited yet. The last
    one is cut to those of least rank by the seed, so that no name is favoured. Where no more users can be
    reached, the search goes on from further users of least rank: from one, then two, four and so on, such
    that a graph of many small islands takes few rounds too. `place` is for tables in between.
    """
    linked, users = links(related), nodes.select("id")
    found = _starts(nodes, options, seed)
    levels: list[int] = []
    restarts = 0
    while True:
        level = kept(session, found, place / "visited" / f"level={len(levels)}")
        levels.append(level.count())
        room = options.users - sum(levels)
        visited = read_table(session, place / "visited")
        if room <= 0:
            levels[-1] += room
            reached = _cut(session, visited, len(levels) - 1, levels[-1], seed, place) if room else visited
            return Visit(reached.select("id"), levels, restarts)
        if levels[-1]:
            found = next_level(linked, level, visited.select("id"))
        else:
            left = users.join(visited.select("id"), "id", "left_anti")
            found = _least(left, seed, "bfs start", min(2**restarts, room))
            restarts += 1


def _starts(nodes: "DataFrame", options: BfsOptions, seed: int) -> "DataFrame":
    if not options.start:
        return _least(nodes.select("id"), seed, "bfs start", options.starts)
    found = nodes.where(f.col("name").isin(*options.start))
    names = {row.name for row in found.select("name").collect()}
    for name in options.start:
        if name not in names:
            raise no_start(name)
    return found.select("id")


def no_start(name: str) -> InputError:
    """The error for a start that is no node."""
    return InputError(f"there is no node {name!r} to start from; give the name of a node, or use --starts")


def _least(ids: "DataFrame", seed: int, stage: str, count: int) -> "DataFrame":
    """The `count` of least rank."""
    return ids.orderBy(rank(salt(seed, stage), "id"), "id").limit(count)


def _cut(
    session: "SparkSession", visited: "DataFrame", last: int, keep: int, seed: int, place: Place
) -> "DataFrame":
    """The visited users (`id: int, level: int`), of the level `last` only the `keep` of least rank."""
    before = visited.where(visited.level < last).select("id")
    final = _least(visited.where(visited.level == last).select("id"), seed, "bfs cut", keep)
    return kept(session, before.union(final), place / "users")
