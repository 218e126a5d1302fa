import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import meshwright as mw
from meshwright.pipeline.ranks import ranks
from meshwright.pipeline.sample.bfs import BfsOptions
from meshwright.pipeline.sample.job import sample
from meshwright.pipeline.sample.universe import UniverseOptions
from meshwright.pipeline.verify import verify
from meshwright.runtime.errors import InputError
from tests.plain_samples import among, plain_search, plain_universe, social, with_sites, xxh64


def test_ranks_are_xxh64_over_long_integers():
    ids = np.array([0, 1, 2, 77, 2**31 - 1], np.int32)
    assert ranks(123, ids).tolist() == [xxh64(123, at) for at in ids.tolist()]
    assert ranks(5, 8, ids).tolist() == [xxh64(5, 8, at) for at in ids.tolist()]


def test_a_search_among_islands_visits_whom_a_plain_one_visits(tmp_path):
    interests, options = social(24, 12, 2), BfsOptions(users=12, starts=2)
    interests.write(tmp_path / "data")
    manifest = sample(None, tmp_path / "data", tmp_path / "out", options, seed=2)
    found = mw.Interests.read(tmp_path / "out")
    assert found == among(interests, plain_search(interests, options, 2))
    assert found.node_count == options.users
    assert manifest["counts"]["interests"] == len(found)
    assert sum(manifest["facts"]["levels"]) == options.users
    by_name = pq.read_table(tmp_path / "out" / "interests").to_pylist()
    assert [(row["node"], row["topic"]) for row in by_name] == list(found.to_pairs())
    tables = {"interests", "lists", "nodes", "topics"}
    assert {entry.name for entry in (tmp_path / "out").iterdir()} == {*tables, "manifest.json"}


def test_a_level_is_cut_by_rank_and_attributes_stay(tmp_path):
    interests = social(40, 90, 3)
    with_sites(interests).write(tmp_path / "data")
    options = BfsOptions(users=20, start=("u7", "u30"))
    sample(None, tmp_path / "data", tmp_path / "out", options, seed=3)
    expected = with_sites(among(interests, plain_search(interests, options, 3)))
    assert mw.Interests.read(tmp_path / "out") == expected


@settings(deadline=None)
@given(st.integers(1, 25), st.integers(1, 60), st.integers(0, 99), st.data())
def test_a_search_visits_whom_a_plain_one_visits(users, follows, seed, data):
    interests = social(users, follows, seed)
    options = BfsOptions(users=data.draw(st.integers(1, users)))
    owned = set(interests.nodes.to_pylist()) & set(interests.topics.to_pylist())
    with TemporaryDirectory() as folder:
        interests.write(Path(folder, "data"))
        if not owned:
            with pytest.raises(InputError, match="no topic has the same name"):
                sample(None, Path(folder, "data"), Path(folder, "out"), options, seed=seed)
            return
        sample(None, Path(folder, "data"), Path(folder, "out"), options, seed=seed)
        found = mw.Interests.read(Path(folder, "out"))
    assert found == among(interests, plain_search(interests, options, seed))


@pytest.mark.parametrize(
    "options",
    [
        UniverseOptions(seeds=4, least_subscribers=5, median_of=6),
        UniverseOptions(seeds=3, grow="own", nodes_of="grown", least_subscribers=4),
        UniverseOptions(seeds=2, nodes_of="grown", topics_of="nodes", least_subscribers=6, median_of=2),
    ],
)
def test_a_universe_is_that_of_plain_sets(tmp_path, options):
    interests = social(90, 500, 11)
    interests.write(tmp_path / "data")
    manifest = sample(None, tmp_path / "data", tmp_path / "out", options, seed=3)
    expected = [plain_universe(interests, options, 3, number) for number in range(options.median_of)]
    ratios = [each.topic_count / each.node_count if each.node_count else None for each in expected]
    facts = manifest["facts"]
    assert facts["topics_a_node_of_all"] == pytest.approx(ratios, abs=1e-6)
    assert mw.Interests.read(tmp_path / "out") == expected[facts["universe"]]
    assert verify(tmp_path / "out").intact
    ordered = sorted(ratio for ratio in ratios if ratio is not None)
    assert ratios[facts["universe"]] == ordered[(len(ordered) - 1) // 2]


def test_no_name_is_favoured_by_the_draw_of_one_topic():
    drawn = ranks(77, 0, np.arange(4_000)) % 4
    assert all(abs(count - 1000) < 6 * np.sqrt(750) for count in np.bincount(drawn))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (BfsOptions(users=4), "4 users were asked for, but the dataset has only 3"),
        (UniverseOptions(seeds=9), "9 topics were asked for, but the dataset has only 2"),
        (UniverseOptions(seeds=2, grow="own"), "no topic has the same name as a node"),
        (UniverseOptions(seeds=2), "give more seeds"),
    ],
)
def test_a_sample_that_can_not_be_is_refused_and_nothing_left(tmp_path, options, words):
    mw.Interests.from_pairs([("a", "x"), ("b", "x"), ("c", "y")]).write(tmp_path / "data")
    with pytest.raises(InputError, match=words):
        sample(None, tmp_path / "data", tmp_path / "out", options)
    assert not (tmp_path / "out").exists()


def test_a_start_that_is_nobody_is_named(tmp_path):
    social(10, 30, 1).write(tmp_path / "data")
    with pytest.raises(InputError, match="'nobody'"):
        sample(None, tmp_path / "data", tmp_path / "out", BfsOptions(users=5, start=("u1", "nobody")))


@pytest.fixture
def run(monkeypatch, capsys):
    """Call `meshwright sample` in this process."""
    from meshwright.cli import main

    def call(*words):
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
        (("--universe", 3, "--grow", "fast"), "choose among own, random"),
        (("--bfs", 0), "of at least 1"),
    ],
)
def test_wrong_calls_say_in_one_line_what_is_legal(run, tmp_path, words, said):
    code, out, err = run(tmp_path / "data", *words, "--out", tmp_path / "out")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err
