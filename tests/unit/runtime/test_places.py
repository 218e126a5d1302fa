from pathlib import Path

import pytest

from meshwright.runtime.errors import DatasetError
from meshwright.runtime.places import alone_in, is_local, is_local_address, local_path, replace_text


def test_a_path_is_a_local_place():
    assert is_local(Path("x"))
    assert not is_local(object())


def test_a_file_url_and_a_path_name_the_same_local_place(tmp_path):
    folder = tmp_path / "ä b"
    assert local_path(folder.as_uri()) == local_path(str(folder)) == folder


def test_an_address_is_local_unless_it_has_another_scheme():
    assert [is_local_address(text) for text in ("C", "a:b", "file:/x", "s3a://x")] == [
        True,
        True,
        True,
        False,
    ]


def test_a_remote_address_is_no_local_path():
    with pytest.raises(DatasetError, match="not on this machine"):
        local_path("s3a://bucket/x")


def test_a_second_writer_is_refused_on_a_disk(tmp_path):
    with (
        alone_in(tmp_path / "a", "busy"),
        pytest.raises(DatasetError, match="busy"),
        alone_in(tmp_path / "a", "busy"),
    ):
        pass


def test_replacing_a_text_leaves_nothing_else(tmp_path):
    replace_text(tmp_path / "t", "old")
    replace_text(tmp_path / "t", "ä")
    assert (tmp_path / "t").read_text("utf-8") == "ä"
    assert [entry.name for entry in tmp_path.iterdir()] == ["t"]
