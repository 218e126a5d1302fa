"""Rows whose topics are filters."""

import json

import pytest

from meshwright import Interests
from meshwright.model.storage.manifest import read_manifest
from meshwright.pipeline.ingest.cutting import NO_FILTER
from meshwright.pipeline.ingest.job import ingest
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.runtime.errors import InputError, OptionError
from tests.raw_files import rejected, write_csv, write_parquet

PAIRS = [("b1", "plant/+/temp"), ("b2", "plant/7/#"), ("b3", "plant/7/temp"), ("b4", "+/#"), ("b4", "#")]


def take(out, *inputs, **options):
    ingest(None, list(map(str, inputs)), out, IngestOptions(relation="pairs", filters="mqtt", **options))
    return Interests.read(out)


@pytest.mark.parametrize("write", [write_csv, write_parquet])
def test_rows_give_the_interests_that_the_library_makes_of_the_filters(write, tmp_path):
    suffix = "csv" if write is write_csv else "parquet"
    found = take(tmp_path / "out", write(tmp_path / f"i.{suffix}", [*PAIRS, PAIRS[0]]))
    assert found == Interests.from_filters(PAIRS)
    facts = read_manifest(tmp_path / "out", "interests")["facts"]
    assert (facts["filters"], facts["duplicates"], facts["filters_without_names"]) == (4, 1, 0)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_what_is_no_filter_is_rejected_with_its_line(suffix, tmp_path):
    pairs = [*PAIRS, ("b9", "a/#/b")]
    path = tmp_path / f"i.{suffix}"
    if suffix == "jsonl":
        path.write_text("".join(json.dumps({"node": node, "topic": topic}) + "\n" for node, topic in pairs))
    else:
        (write_csv if suffix == "csv" else write_parquet)(path, pairs)
    assert take(tmp_path / "out", path, max_rejected=0.5) == Interests.from_filters(PAIRS)
    line = 7 if suffix == "csv" else 6
    why = f"{NO_FILTER}: # may only be the last word; end the filter there, or name the word"
    assert rejected(tmp_path / "out") == [(path.name, line, why)]


def test_a_node_without_topics_has_no_filters(tmp_path):
    path = tmp_path / "i.jsonl"
    path.write_text('{"node": "b1", "topic": ["a/#"]}\n{"node": "b2", "topic": []}\n')
    assert take(tmp_path / "out", path) == Interests.from_filters([("b1", "a/#")], nodes=["b2"])


def test_a_catalogue_gives_classes_of_names_that_exist(tmp_path):
    names = tmp_path / "names.txt"
    names.write_text("plant/7/temp\r\n\nplant/8/temp\n")
    found = take(tmp_path / "out", write_csv(tmp_path / "i.csv", PAIRS), catalogue=str(names))
    assert found == Interests.from_filters(PAIRS, names=["plant/7/temp", "plant/8/temp"])
    assert read_manifest(tmp_path / "out", "interests")["facts"]["filters_without_names"] == 0


@pytest.mark.parametrize("text", [b"a\xff\n", b"a/+\n"])
def test_a_catalogue_that_has_no_names_is_refused(tmp_path, text):
    names = tmp_path / "names.txt"
    names.write_bytes(text)
    with pytest.raises(InputError):
        take(tmp_path / "out", write_csv(tmp_path / "i.csv", PAIRS), catalogue=str(names))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"relation": "follows", "filters": "mqtt"}, "--as pairs"),
        ({"relation": "pairs", "filters": "kafka"}, "mqtt, nats, amqp, zenoh"),
        ({"relation": "pairs", "catalogue": "x"}, "--filters"),
        ({"relation": "pairs", "filters": "mqtt", "wildcards": "reject"}, "--filters"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, words):
    with pytest.raises(OptionError, match=words):
        IngestOptions(**options)
