"""`mw.ingest`, `mw.profile` and `mw.sample` give what the commands write."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import meshwright as mw
from meshwright.pipeline.ingest.job import ingest as ingest_job
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.pipeline.profile.job import profile as profile_job
from meshwright.pipeline.sample.bfs import BfsOptions
from meshwright.pipeline.sample.job import sample as sample_job
from meshwright.pipeline.sample.universe import UniverseOptions
from meshwright.runtime.errors import MeshwrightWarning
from tests.raw_files import raw_inputs

FOLLOWS = mw.Interests.from_pairs(
    [(f"u{number:02}", f"u{(number * step + 1) % 40:02}") for number in range(40) for step in (1, 3, 7)]
)


@pytest.mark.filterwarnings("ignore::meshwright.runtime.errors.MeshwrightWarning")
def test_ingest_gives_the_interests_that_the_command_writes(tmp_path: Path) -> None:
    for name, raw in raw_inputs(tmp_path).items():
        ingest_job(None, list(map(str, raw.files)), tmp_path / "out" / name, IngestOptions(**raw.options))
        assert mw.ingest(raw.files, **raw.options) == mw.Interests.read(tmp_path / "out" / name), name


def test_a_friendship_is_an_interest_of_each_in_the_other(tmp_path: Path) -> None:
    path = tmp_path / "friends.csv"
    path.write_text("source,target\nann,bob\nbob,eve\n")
    pairs = [("ann", "bob"), ("bob", "ann"), ("bob", "eve"), ("eve", "bob")]
    assert mw.ingest(path, "friendship") == mw.Interests.from_pairs(pairs)
    assert len(mw.Interests.from_csv(path, "source", "target")) == 2


def test_rows_that_can_not_be_used_are_told_and_too_many_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "i.csv"
    path.write_text("node,topic\na,x\nb\nA,x\n")
    with pytest.warns(MeshwrightWarning) as told:
        found = mw.ingest(path, max_rejected=0.5)
    assert found == mw.Interests.from_pairs([("a", "x"), ("A", "x")])
    assert str(told[0].message) == "1 row can't be used and was left out (wrong number of columns: 1)"
    assert str(told[1].message).startswith("2 nodes look like another one")
    assert told[0].filename == __file__
    with pytest.raises(
        mw.InputError, match=r"1 of 3 rows .* than max_rejected 0.01 .*i.csv, line 3; .*table"
    ):
        mw.ingest(str(path))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"relation": "pair"}, r"^relation is 'pair'; did you mean pairs\?"),
        ({"own_topic": True}, r'^own_topic applies only to relation="follows" and relation="friendship"'),
        ({"colums": (1, 2)}, r"there is no option 'colums'; did you mean columns\?"),
        ({"max_rejected": 2}, "^max_rejected is 2; give a fraction"),
        ({"format": "jsonl", "header": True}, "^header=True and header=False apply only to csv"),
        ({"columns": ("node", "subject")}, "has no column 'subject'"),
        ({"columns": "node,topic"}, r'columns is .*; give a tuple, such as \("user", "genre"\)'),
        ({"relation": "follows"}, r'name two with columns=\("A", "B"\) or columns=\(1, 2\)'),
    ],
)
def test_what_is_wrong_is_told_in_words_of_python(tmp_path: Path, options: Any, words: str) -> None:
    path = tmp_path / "i.csv"
    path.write_text("node,topic\na,x\n")
    with pytest.raises(mw.MeshwrightError, match=words) as caught:
        mw.ingest(path, **options)
    assert "--" not in str(caught.value)


def test_profile_is_that_of_the_dataset(tmp_path: Path) -> None:
    FOLLOWS.write(tmp_path / "d")
    assert mw.profile(FOLLOWS, most_topics=20, seed=3) == profile_job(
        None, tmp_path / "d", most_topics=20, seed=3
    )


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ({"bfs": 12}, BfsOptions(users=12)),
        ({"bfs": 12, "start": ("u07", "u30")}, BfsOptions(users=12, start=("u07", "u30"))),
        (
            {"universe": 5, "least_subscribers": 2, "grow": "own"},
            UniverseOptions(seeds=5, least_subscribers=2, grow="own"),
        ),
    ],
)
def test_a_sample_is_that_of_the_dataset(tmp_path: Path, given: Any, options: Any) -> None:
    FOLLOWS.write(tmp_path / "d")
    sample_job(None, tmp_path / "d", tmp_path / "s", options, seed=4)
    found = mw.sample(FOLLOWS, seed=4, **given)
    assert found == mw.Interests.read(tmp_path / "s")
    assert 0 < found.node_count < FOLLOWS.node_count


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "give either bfs=N or universe=N"),
        ({"bfs": 1, "universe": 1}, "give either bfs=N or universe=N"),
        ({"bfs": 0}, "^bfs is 0; give a whole number"),
        ({"bfs": 99}, "99 users were asked for, but the dataset has only 40"),
        ({"bfs": 2, "grow": "own"}, "there is no option 'grow'"),
    ],
)
def test_samples_that_can_not_be_are_refused(given: Any, words: str) -> None:
    with pytest.raises(mw.MeshwrightError, match=words):
        mw.sample(FOLLOWS, **given)


def test_what_is_no_path_is_refused() -> None:
    with pytest.raises(mw.InputError, match=r"ingest got a DataFrame; .*from_pandas"):
        mw.ingest(pd.DataFrame({"node": ["a"]}))  # type: ignore[arg-type]


def test_what_is_no_interests_is_refused() -> None:
    for work in (mw.profile, mw.sample):
        with pytest.raises(mw.InputError, match=rf"{work.__name__} got a str; give Interests"):
            work("workload")  # type: ignore[arg-type]
