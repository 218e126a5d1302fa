import pytest

from meshwright.pipeline.ingest.job import ingest
from meshwright.pipeline.ingest.options import IngestOptions
from tests.raw_files import contents, write_csv, write_parquet

PAIRS = [("b1", "plant/+/temp"), ("b2", "plant/7/#"), ("b3", "plant/7/temp"), ("b4", "+/#"), ("b4", "#")]
PAIRS += [("b1", "plant/+/temp"), ("b9", "a/#/b")]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_spark_makes_the_classes_of_filters_that_this_process_makes(spark, tmp_path, suffix):
    path = (write_csv if suffix == "csv" else write_parquet)(tmp_path / f"i.{suffix}", PAIRS)
    options = IngestOptions(relation="pairs", filters="mqtt", max_rejected=0.5)
    ingest(None, [str(path)], tmp_path / "here", options)
    ingest(spark, [str(path)], tmp_path / "there", options)
    here, there = contents(tmp_path / "here"), contents(tmp_path / "there")
    assert there.manifest == here.manifest
    for table in here.tables:
        assert there.tables[table].equals(here.tables[table]), table
