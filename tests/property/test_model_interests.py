"""Laws of interests: whatever the names, they agree with a dict of sets and survive every journey."""

import csv
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from meshwright.model import names
from meshwright.model.interests import Interests

NAMES = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6),
    st.sampled_from(
        ["007", "7", " 7", "a,b", '"', '""', "\n", "\r\n", "\\", "é", "e\u0301", "\ufffe", "𝄞", "\0"]
    ),
).filter(lambda name: not {"#", "+"} & set(name.split("/")))  # of such topics, callers are warned
PAIRS = st.lists(st.tuples(NAMES, NAMES), max_size=30)
EXTRA = st.lists(NAMES, max_size=4)


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def check_against_sets(
    interests: Interests, pairs: list[tuple[str, str]], nodes: list[str], topics: list[str]
) -> None:
    """The oracle: a dict of sets in each direction, and names sorted by their bytes."""
    topics_of: dict[str, set[str]] = defaultdict(set, {node: set() for node in nodes})
    nodes_of: dict[str, set[str]] = defaultdict(set, {topic: set() for topic in topics})
    for node, topic in pairs:
        topics_of[node].add(topic)
        nodes_of[topic].add(node)
    assert interests.nodes.to_pylist() == sorted(topics_of, key=str.encode)
    assert interests.topics.to_pylist() == sorted(nodes_of, key=str.encode)
    assert len(interests) == len(set(pairs))
    for node, wanted in topics_of.items():
        assert interests.topics_of(node) == sorted(wanted, key=str.encode)
    for topic, wanted in nodes_of.items():
        assert interests.nodes_of(topic) == sorted(wanted, key=str.encode)


@given(PAIRS, EXTRA, EXTRA)
def test_interests_agree_with_a_dict_of_sets(
    pairs: list[tuple[str, str]], nodes: list[str], topics: list[str]
) -> None:
    check_against_sets(Interests.from_pairs(pairs, nodes, topics), pairs, nodes, topics)


@given(PAIRS, EXTRA, EXTRA)
def test_both_directions_hold_the_same_interests_sorted(
    pairs: list[tuple[str, str]], nodes: list[str], topics: list[str]
) -> None:
    interests = Interests.from_pairs(pairs, nodes, topics)
    by_node = {
        (node, int(topic))
        for node, (start, stop) in enumerate(pairwise(interests.indptr))
        for topic in interests.topic_ids[start:stop]
    }
    by_topic = {
        (int(node), topic)
        for topic, (start, stop) in enumerate(pairwise(interests.topic_indptr))
        for node in interests.node_ids[start:stop]
    }
    assert by_node == by_topic
    for start, stop in pairwise(interests.topic_indptr):
        assert (np.diff(interests.node_ids[start:stop]) > 0).all()


@given(PAIRS, EXTRA, EXTRA)
def test_a_dataset_is_read_as_it_was_written(
    pairs: list[tuple[str, str]], nodes: list[str], topics: list[str]
) -> None:
    interests = Interests.from_pairs(pairs, nodes, topics)
    with folder() as path:
        interests.write(path / "d")
        assert Interests.read(path / "d") == interests
        assert Interests.from_parquet(path / "d" / "interests") == Interests.from_pairs(pairs)


@given(PAIRS)
def test_every_table_gives_the_same_interests(pairs: list[tuple[str, str]]) -> None:
    wanted = Interests.from_pairs(pairs)
    assert Interests.from_pairs(wanted.to_pairs()) == wanted
    assert Interests.from_arrow(wanted.to_arrow()) == wanted
    assert Interests.from_pandas(wanted.to_pandas()) == wanted
    assert Interests.from_scipy(wanted.to_scipy(), wanted.nodes, wanted.topics) == wanted


@given(PAIRS, st.integers(1, 5), st.booleans())
def test_chunks_and_dictionaries_do_not_show(pairs: list[tuple[str, str]], size: int, encoded: bool) -> None:
    table = pa.table({"node": pa.array([n for n, _ in pairs], pa.string()), "topic": [t for _, t in pairs]})
    table = table.cast(pa.schema([("node", pa.string()), ("topic", pa.string())]))
    if encoded:
        table = table.set_column(0, "node", table["node"].dictionary_encode())
    chunks = pa.Table.from_batches(table.to_batches(max_chunksize=size), table.schema)
    with pytest.MonkeyPatch.context() as patch, folder() as path:
        patch.setattr(names, "_WAIT_FOR_NAMES", size)
        assert Interests.from_arrow(chunks) == Interests.from_pairs(pairs)
        pq.write_table(table, path / "p.parquet", row_group_size=size)
        assert Interests.from_parquet(path / "p.parquet") == Interests.from_pairs(pairs)


@given(PAIRS)
def test_what_pythons_csv_writes_is_read(pairs: list[tuple[str, str]]) -> None:
    with folder() as path:
        with (path / "p.csv").open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream, quoting=csv.QUOTE_ALL).writerows([("node", "topic"), *pairs])
        assert Interests.from_csv(path / "p.csv") == Interests.from_pairs(pairs)


@given(st.lists(NAMES, unique=True, max_size=8), st.lists(NAMES, unique=True, max_size=8), st.data())
def test_a_graph_goes_there_and_back(nodes: list[str], topics: list[str], data: st.DataObject) -> None:
    topics = [topic for topic in topics if topic not in nodes]
    every = [(node, topic) for node in nodes for topic in topics]
    pairs = data.draw(st.lists(st.sampled_from(every), max_size=20)) if every else []
    interests = Interests.from_pairs(pairs, nodes, topics)
    assert Interests.from_networkx(interests.to_networkx()) == interests
