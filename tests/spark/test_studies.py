"""Studies on Spark."""

from meshwright.studies import running


def test_spark_measures_what_this_process_does(spark, tmp_path):
    plan = running.Plan(studies=["shadows-figure-2", "shadows-figure-3"], scale="smoke", runs=2)
    here = running.run(plan, tmp_path / "here")
    there = running.run(plan, tmp_path / "there", session=spark)
    assert {name: [row[:5] for row in rows] for name, rows in there.items()} == {
        name: [row[:5] for row in rows] for name, rows in here.items()
    }
