"""Datasets on a file system of Hadoop's that is not the local one: viewfs, which needs no network."""

import pytest

from meshwright.model.storage.dataset import draft
from meshwright.model.storage.manifest import make_manifest, read_manifest, write_manifest
from meshwright.pipeline.spark.failures import translated
from meshwright.pipeline.spark.storage import copy_folder, location, open_checked, read_table, url
from meshwright.pipeline.verify import verify
from meshwright.runtime.errors import DatasetError, InputError


def write(spark, place, rows, force=False, then=lambda: None):
    with draft(place, force) as folder:
        spark.range(rows).write.parquet(url(folder / "lists"))
        then()
        write_manifest(folder, make_manifest("interests", {"nodes": rows}, {}, {}, None))


def files(folder):
    """All that a user sees there."""
    return sorted({path.name for path in folder.iterdir() if not path.name.endswith(".crc")})


def test_a_dataset_is_written_and_read_again(spark, lake, tmp_path):
    write(spark, lake, 10)
    assert files(tmp_path / "ä b") == ["lists", "manifest.json"]
    assert read_manifest(lake)["counts"] == {"nodes": 10}
    assert read_table(spark, lake / "lists").count() == 10


def test_an_error_leaves_nothing(spark, lake, tmp_path):
    with pytest.raises(ZeroDivisionError):
        write(spark, lake, 10, then=lambda: 1 / 0)
    assert files(tmp_path) == []


def test_what_is_there_is_overwritten_by_force_only_and_kept_on_an_error(spark, lake, tmp_path):
    write(spark, lake, 10)
    with pytest.raises(DatasetError, match="viewfs://lake/data/ä b is already a dataset"):
        write(spark, lake, 20)
    with pytest.raises(ZeroDivisionError):
        write(spark, lake, 20, force=True, then=lambda: 1 / 0)
    assert read_table(spark, lake / "lists").count() == 10
    write(spark, lake, 20, force=True)
    assert read_table(spark, lake / "lists").count() == 20
    assert files(tmp_path / "ä b") == ["lists", "manifest.json"]


def test_a_remote_path_has_the_methods_and_the_errors_of_a_path(lake, tmp_path):
    lake.mkdir()
    lake.mkdir(parents=True, exist_ok=True)
    (lake / "x.txt").write_text("ü")
    assert (tmp_path / "ä b" / "x.txt").read_text("utf-8") == (lake / "x.txt").read_text() == "ü"
    assert [entry.name for entry in lake.iterdir()] == ["x.txt"]
    assert (lake.is_dir(), (lake / "x.txt").is_file(), (lake / "y").exists()) == (True, True, False)
    (lake / "x.txt").rename(lake / "y")
    assert (tmp_path / "ä b" / "y").is_file()
    for missing in (
        (lake / "z").read_text,
        (lake / "z").unlink,
        lambda: [*(lake / "z").iterdir()],
    ):
        with pytest.raises(FileNotFoundError):
            missing()
    with pytest.raises(OSError, match="not empty"):
        lake.rmdir()


def test_a_table_is_copied_between_file_systems(spark, lake, tmp_path):
    write(spark, lake, 10)
    copy_folder(spark, lake / "lists", tmp_path / "copy")
    assert read_table(spark, tmp_path / "copy").count() == 10


@pytest.mark.parametrize("address", ["abc://host/x", "s3a://bucket/x", "viewfs://elsewhere/x", "s3a:/"])
def test_an_address_that_spark_cannot_reach_is_named(spark, address):
    with pytest.raises(InputError, match=f"^{address} can't be reached: .*"):
        location(spark, address)


def test_a_folder_is_taken_as_it_stands_whatever_its_name(spark, tmp_path):
    folder = tmp_path / "a[1] {x,y} *ü %20 #?b"
    spark.range(5).write.parquet(url(folder))
    assert read_table(spark, folder).count() == 5


def test_a_part_file_that_was_cut_off_or_changed_is_noticed(spark, tmp_path):
    spark.range(1000).coalesce(1).write.parquet(url(tmp_path / "table"))
    (part,) = (tmp_path / "table").iterdir()
    whole = part.read_bytes()
    for damaged in (whole[:-20], whole[:100] + bytes([whole[100] ^ 1]) + whole[101:]):
        part.write_bytes(damaged)
        with pytest.raises(InputError, match=r"part-0.*\.parquet: the file is damaged"), translated():
            read_table(spark, tmp_path / "table").agg({"id": "sum"}).collect()


def test_damage_is_noticed_in_any_place(spark, lake, tmp_path):
    write(spark, lake, 10)
    assert verify(lake).intact
    assert open_checked(lake, ["lists"]).manifest["counts"] == {"nodes": 10}
    part = next((tmp_path / "ä b" / "lists").glob("part-*.parquet"))
    whole = part.read_bytes()
    part.with_name(f".{part.name}.crc").unlink()  # Hadoop's own, which only some file systems have
    part.write_bytes(whole[:50] + bytes([whole[50] ^ 4]) + whole[51:])
    with pytest.raises(DatasetError, match=r"viewfs://lake/data/ä b/lists/part-.* is damaged"):
        open_checked(lake, ["lists"])
    ((path, problem),) = verify(lake).problems
    assert (path, problem[:10]) == (f"lists/{part.name}", "is damaged")


def test_force_leaves_foreign_files_in_any_place(spark, lake, tmp_path):
    write(spark, lake, 10)
    (tmp_path / "ä b" / "lists" / "thesis.tex").write_text("years")
    with pytest.raises(DatasetError, match=r"lists/thesis.tex is in the way"):
        write(spark, lake, 20, force=True)
    assert read_manifest(lake)["counts"] == {"nodes": 10}
    (tmp_path / "ä b" / "lists" / "thesis.tex").rename(tmp_path / "ä b" / "thesis.tex")
    write(spark, lake, 20, force=True)
    assert (tmp_path / "ä b" / "thesis.tex").read_text() == "years"
