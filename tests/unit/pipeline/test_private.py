"""The folder for Spark's scratch files: this user's alone, or none."""

import os
import stat
from pathlib import Path

import pytest

from meshwright.pipeline.spark import settings as private
from meshwright.pipeline.spark.settings import is_safe, private_folder
from meshwright.runtime.errors import SparkError


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Where the folder would be; temporary files go elsewhere than to the machine's own place."""
    monkeypatch.setattr(private.tempfile, "gettempdir", lambda: str(tmp_path))
    return tmp_path / f"meshwright-{os.getuid()}"


@pytest.fixture
def open_umask():
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_the_folder_is_this_users_alone_whatever_the_umask(place, open_umask):
    assert private_folder() == place
    assert mode(place) == 0o700


def test_a_folder_of_this_user_that_all_could_read_is_closed(place):
    place.mkdir()
    place.chmod(0o777)
    assert private_folder() == place
    assert mode(place) == 0o700


def test_a_link_is_refused_and_what_it_leads_to_is_left_alone(place, tmp_path):
    (tmp_path / "theirs").mkdir(mode=0o755)
    place.symlink_to(tmp_path / "theirs")
    with pytest.raises(SparkError, match=f"{place}, where .* is a link, .*; remove it, or set TMPDIR"):
        private_folder()
    assert mode(tmp_path / "theirs") == 0o755


def test_a_file_is_refused(place):
    place.touch()
    with pytest.raises(SparkError, match="is not a folder"):
        private_folder()


def test_a_folder_of_another_user_is_refused(place, monkeypatch):
    place.mkdir(mode=0o755)
    found = os.stat_result((0o40755, 0, 0, 0, os.getuid() + 1, 0, 0, 0, 0, 0))
    monkeypatch.setattr(private.os, "fstat", lambda opened: found)
    with pytest.raises(SparkError, match="belongs to another user"):
        private_folder()
    assert mode(place) == 0o755


def test_what_others_can_change_or_lead_astray_is_not_safe(tmp_path):
    (tmp_path / "a").mkdir(mode=0o755)
    (tmp_path / "link").symlink_to("a")
    assert is_safe(tmp_path / "a")
    assert not is_safe(tmp_path / "a", tmp_path / "link")
    (tmp_path / "a").chmod(0o775)
    assert not is_safe(tmp_path / "a")
