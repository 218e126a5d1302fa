"""Topics that look like filters: one treatment, whatever they are read by."""

import re
import warnings

import networkx as nx
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from meshwright import Interests
from meshwright.model.storage.manifest import read_manifest
from meshwright.model.wildcards import Wildcards, find_wildcards, has_wildcard, words
from meshwright.pipeline.ingest.job import ingest
from meshwright.pipeline.ingest.notices import notices
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.runtime.errors import MeshwrightWarning

PLAIN = [("a", "plant/7/temp"), ("b", "c++"), ("c", "a#")]
PAIRS = [*PLAIN, ("a", "plant/+/temp"), ("b", "plant/#"), ("c", "#"), ("a", "$share/g/plant/7")]


def test_a_wildcard_is_a_whole_level():
    topics = ["#", "+", "a/#", "+/a", "a/+/b", "/+", "a#", "a+/b", "c++", "", "a/b", "#/"]
    told = has_wildcard(pa.array(topics)).to_pylist()
    assert told == [any(level in ("#", "+") for level in topic.split("/")) for topic in topics]


def test_a_shared_subscription_looks_like_a_filter():
    topics = ["$share/g/plant/7", "$share/g/#", "$share", "$shared/a", "a/$share/b", "$SYS/a"]
    assert has_wildcard(pa.array(topics)).to_pylist() == [True, True, False, False, False, False]


def readers(folder):
    frame = pd.DataFrame(PAIRS, columns=["node", "topic"])
    frame.to_csv(folder / "i.csv", index=False)
    frame.to_parquet(folder / "i.parquet")
    graph = nx.Graph()
    graph.add_nodes_from(frame["node"], bipartite=0)
    graph.add_nodes_from(frame["topic"], bipartite=1)
    graph.add_edges_from(PAIRS)
    return {
        "from_pairs": lambda: Interests.from_pairs(PAIRS),
        "from_csv": lambda: Interests.from_csv(folder / "i.csv"),
        "from_parquet": lambda: Interests.from_parquet(folder / "i.parquet"),
        "from_arrow": lambda: Interests.from_arrow(pq.read_table(folder / "i.parquet")),
        "from_pandas": lambda: Interests.from_pandas(frame),
        "from_networkx": lambda: Interests.from_networkx(graph),
    }


@pytest.mark.parametrize("name", ["csv", "parquet"])
def test_ingest_and_the_library_keep_the_same_rows_and_say_the_same(tmp_path, name):
    made = readers(tmp_path)
    ingest(None, [str(tmp_path / f"i.{name}")], tmp_path / "out", IngestOptions(relation="pairs"))
    facts = read_manifest(tmp_path / "out")["facts"]
    told = Wildcards(**facts["topics_with_wildcards"])
    assert told == (4, "#")
    for make in made.values():
        with pytest.warns(MeshwrightWarning) as caught:
            found = make()
        assert found == Interests.read(tmp_path / "out")
        assert find_wildcards(found.topics) == told
        [warning] = caught
        assert str(warning.message).startswith(words(told))
        assert "use Interests.from_filters" in str(warning.message)
        assert warning.filename == __file__
        assert words(told)[1:] in notices(facts)[0]
    assert "give --filters mqtt" in notices(facts)[0]
    assert (facts["rows"], facts["rejected"]) == (len(PAIRS), 0)


def test_rows_with_wildcards_can_be_rejected(tmp_path):
    readers(tmp_path)
    options = IngestOptions(relation="pairs", wildcards="reject", max_rejected=1)
    ingest(None, [str(tmp_path / "i.csv")], tmp_path / "out", options)
    facts = read_manifest(tmp_path / "out")["facts"]
    assert facts["rejected_reasons"] == {"wildcard in topic": 4}
    assert "topics_with_wildcards" not in facts
    assert Interests.read(tmp_path / "out").topics.to_pylist() == ["a#", "c++", "plant/7/temp"]


def test_filters_that_are_read_as_filters_get_no_warning(tmp_path):
    readers(tmp_path)
    pairs = [pair for pair in PAIRS if pair not in PLAIN[1:]]  # c++ and a# are no filters
    pd.DataFrame(pairs, columns=["node", "topic"]).to_csv(tmp_path / "f.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = Interests.from_filters(pairs)
        ingest(
            None, [str(tmp_path / "f.csv")], tmp_path / "out", IngestOptions(relation="pairs", filters="mqtt")
        )
        assert Interests.read(tmp_path / "out") == found
    facts = read_manifest(tmp_path / "out")["facts"]
    assert "topics_with_wildcards" not in facts
    assert notices(facts) == []


def test_users_who_are_topics_are_no_filters(tmp_path):
    (tmp_path / "f.csv").write_text("follower,followee\na,#\n")
    ingest(None, [str(tmp_path / "f.csv")], tmp_path / "out", IngestOptions(relation="follows"))
    assert "topics_with_wildcards" not in read_manifest(tmp_path / "out")["facts"]


def test_what_was_written_is_read_again_without_a_word(tmp_path):
    with pytest.warns(MeshwrightWarning):
        Interests.from_pairs(PAIRS).write(tmp_path / "i")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Interests.read(tmp_path / "i").topic_count == 7


def test_one_topic_is_told_in_the_singular():
    assert re.match("the topic 'a/#' has an MQTT wildcard .*; it is kept", words(Wildcards(1, "a/#")))
    assert words(Wildcards(1200, "#")).startswith("1,200 topics have an MQTT wildcard")
