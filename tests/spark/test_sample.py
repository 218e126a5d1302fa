import json
import random
from collections import Counter
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import meshwright as mw
from meshwright.pipeline.sample.bfs import BfsOptions
from meshwright.pipeline.sample.job import sample
from meshwright.pipeline.sample.universe import UniverseOptions
from meshwright.pipeline.spark.tables import rank, salt
from meshwright.pipeline.verify import verify
from meshwright.runtime.errors import InputError
from meshwright.runtime.seeds import generator
from tests.helpers import reseal

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


def test_ranks_are_xxh64_over_long_integers(spark):
    rows = (
        spark.range(20).select("id", rank(123, "id").alias("one"), rank(5, "id", "id").alias("two")).collect()
    )
    assert [row.one for row in rows] == [xxh64(123, row.id) for row in rows]
    assert [row.two for row in rows] == [xxh64(5, row.id, row.id) for row in rows]


@contextmanager
def other_partitions(spark):
    """Plans as on another machine."""
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "7")
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    try:
        yield
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)
        spark.conf.unset("spark.sql.adaptive.enabled")


def scatter(spark, dataset):
    """Write the tables again, in several files and without order."""
    for table in ("lists", "nodes", "topics"):
        rows = spark.read.parquet(str(dataset / table)).repartition(3).collect()
        schema = spark.read.parquet(str(dataset / table)).schema
        scattered = spark.createDataFrame(rows, schema).repartition(3)
        scattered.write.mode("overwrite").parquet(str(dataset / table))
    reseal(dataset)


def with_sites(interests: mw.Interests) -> mw.Interests:
    sites = pa.table({"site": [f"site of {name}" for name in interests.nodes.to_pylist()]})
    fields = (interests.indptr, interests.topic_ids, interests.nodes, interests.topics)
    return mw.Interests(*fields, node_attributes=sites)


def test_a_search_among_islands_visits_whom_a_plain_one_visits(spark, tmp_path):
    interests, options = social(24, 12, 2), BfsOptions(users=12, starts=2)
    interests.write(tmp_path / "data")
    manifest = sample(spark, tmp_path / "data", tmp_path / "out", options, seed=2)
    found = mw.Interests.read(tmp_path / "out")
    assert found == among(interests, plain_search(interests, options, 2))
    assert found.node_count == options.users
    assert manifest["counts"]["interests"] == len(found)
    assert sum(manifest["facts"]["levels"]) == options.users
    by_name = pq.read_table(tmp_path / "out" / "interests").to_pylist()
    assert [(row["node"], row["topic"]) for row in by_name] == list(found.to_pairs())
    tables = {"interests", "lists", "nodes", "topics"}
    assert {entry.name for entry in (tmp_path / "out").iterdir()} == {*tables, "manifest.json"}


def test_partitions_and_files_do_not_matter_where_a_level_is_cut_and_attributes_stay(spark, tmp_path):
    interests = social(40, 90, 3)
    with_sites(interests).write(tmp_path / "data")
    scatter(spark, tmp_path / "data")
    options = BfsOptions(users=20, start=("u7", "u30"))
    with other_partitions(spark):
        sample(spark, tmp_path / "data", tmp_path / "out", options, seed=3)
    expected = with_sites(among(interests, plain_search(interests, options, 3)))
    assert mw.Interests.read(tmp_path / "out") == expected


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


@pytest.mark.parametrize(
    "options",
    [
        UniverseOptions(seeds=4, least_subscribers=5, median_of=6),
        UniverseOptions(seeds=3, grow="own", nodes_of="grown", least_subscribers=4),
        UniverseOptions(seeds=2, nodes_of="grown", topics_of="nodes", least_subscribers=6, median_of=2),
    ],
)
def test_a_universe_is_that_of_plain_sets(spark, tmp_path, options):
    interests = social(90, 500, 11)
    interests.write(tmp_path / "data")
    manifest = sample(spark, tmp_path / "data", tmp_path / "out", options, seed=3)
    expected = [plain_universe(interests, options, 3, number) for number in range(options.median_of)]
    ratios = [each.topic_count / each.node_count if each.node_count else None for each in expected]
    facts = manifest["facts"]
    assert facts["topics_a_node_of_all"] == pytest.approx(ratios, abs=1e-6)
    assert mw.Interests.read(tmp_path / "out") == expected[facts["universe"]]
    assert verify(tmp_path / "out").intact
    ordered = sorted(ratio for ratio in ratios if ratio is not None)
    assert ratios[facts["universe"]] == ordered[(len(ordered) - 1) // 2]


def test_no_name_is_favoured_by_the_draw_of_one_topic(spark):
    from meshwright.pipeline.sample.universe import random_topics

    lists = spark.createDataFrame(
        [(node, [0, 1, 2, 3]) for node in range(4000)], "node_id int, topic_ids array<int>"
    )
    members = lists.selectExpr("0 AS universe", "node_id")
    counts = Counter(row.topic_id for row in random_topics(members, lists, 77).collect())
    assert all(abs(count - 1000) < 6 * np.sqrt(750) for count in counts.values())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (BfsOptions(users=4), "4 users were asked for, and the dataset has 3"),
        (UniverseOptions(seeds=9), "9 topics were asked for, and the dataset has 2"),
        (UniverseOptions(seeds=2, grow="own"), "no topic has the same name as a node"),
        (UniverseOptions(seeds=2), "take more seeds"),
    ],
)
def test_a_sample_that_can_not_be_is_refused_and_nothing_left(spark, tmp_path, options, words):
    mw.Interests.from_pairs([("a", "x"), ("b", "x"), ("c", "y")]).write(tmp_path / "data")
    with pytest.raises(InputError, match=words):
        sample(spark, tmp_path / "data", tmp_path / "out", options)
    assert not (tmp_path / "out").exists()


def test_a_start_that_is_nobody_is_named(spark, tmp_path):
    social(10, 30, 1).write(tmp_path / "data")
    with pytest.raises(InputError, match="'nobody'"):
        sample(spark, tmp_path / "data", tmp_path / "out", BfsOptions(users=5, start=("u1", "nobody")))


@pytest.fixture
def run(spark, monkeypatch, capsys):
    """Call `meshwright sample` in this process, on the session of the tests."""
    from meshwright.cli import main
    from meshwright.cli import sample as command

    @contextmanager
    def session(master, conf):
        yield spark

    def call(*words):
        monkeypatch.setattr(command, "spark_command", session)
        monkeypatch.setattr("sys.argv", ["meshwright", "sample", *map(str, words)])
        return main(), *capsys.readouterr()

    return call


def test_the_command_writes_a_dataset_and_says_what_made_it(run, tmp_path):
    social(30, 90, 1).write(tmp_path / "data")
    code, out, _ = run(tmp_path / "data", "--bfs", 12, "--seed", 4, "--out", tmp_path / "out", "--json")
    assert code == 0
    assert json.loads(out)["counts"]["nodes"] == 12
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))
    assert (manifest["command"], manifest["seed"]) == ("sample", 4)
    assert manifest["options"]["users"] == 12


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "--bfs N or --universe SEEDS"),
        (("--bfs", 3, "--universe", 2), "give either --bfs N or --universe SEEDS"),
        (("--bfs", 3, "--grow", "own"), "--grow can't be used with --bfs"),
        (("--universe", 3, "--starts", 2), "--starts can't be used with --universe"),
        (("--universe", 3, "--grow", "fast"), "choose one of own, random"),
        (("--bfs", 0), "of at least 1"),
    ],
)
def test_wrong_calls_say_in_one_line_what_is_legal(run, tmp_path, words, said):
    code, out, err = run(tmp_path / "data", *words, "--out", tmp_path / "out")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
