"""The audit of locked dependencies, against advisories made up here."""

import importlib.util
import json
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("audit", ROOT / "scripts" / "audit.py")
audit = importlib.util.module_from_spec(spec)
spec.loader.exec_module(audit)

LOCK = """
version = 1
[[package]]
name = "some-package"
version = "2.0.0"
source = { registry = "https://pypi.org/simple" }
[[package]]
name = "other"
version = "1.0rc1"
source = { registry = "https://pypi.org/simple" }
[[package]]
name = "ours"
version = "0.1"
source = { editable = "." }
"""
NPM, PYPI = ({"ecosystem": ecosystem, "name": "some-package"} for ecosystem in ("npm", "PyPI"))
EVER = [{"introduced": "0"}]


@pytest.fixture(autouse=True)
def no_database(monkeypatch):
    monkeypatch.delenv(audit.VARIABLE, raising=False)


@pytest.fixture
def lock(tmp_path):
    path = tmp_path / "uv.lock"
    path.write_text(LOCK)
    return path


def advisory(name="some-package", *, id="PYSEC-1", events=(), versions=(), **more):
    part = {"package": {"ecosystem": "PyPI", "name": name}, "versions": list(versions)}
    if events:
        part["ranges"] = [{"type": "ECOSYSTEM", "events": list(events)}]
    return {"id": id, "modified": "2026-01-02T03:04:05Z", "affected": [part]} | more


def database(folder, *advisories):
    (folder / "database").mkdir()
    for number, found in enumerate(advisories):
        (folder / "database" / f"{number}.json").write_text(json.dumps(found))
    return folder / "database"


def run(lock, place, capsys):
    code = audit.main(["--database", str(place)], lock)
    return code, capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("events", "affected"),
    [
        ([{"introduced": "0"}], True),
        ([{"introduced": "0"}, {"fixed": "2.0.0"}], False),
        ([{"introduced": "0"}, {"fixed": "2.0"}], False),
        ([{"introduced": "0"}, {"fixed": "2.0.1"}], True),
        ([{"introduced": "0"}, {"last_affected": "2.0"}], True),
        ([{"introduced": "0"}, {"last_affected": "1.10"}], False),
        ([{"introduced": "2"}, {"fixed": "3"}], True),
        ([{"introduced": "2.0.post1"}], False),
        ([{"introduced": "2.0rc1"}, {"fixed": "10"}], True),
        ([{"fixed": "1.5"}, {"introduced": "0"}, {"introduced": "1.9"}, {"fixed": "2.1"}], True),
        ([{"introduced": "0"}, {"fixed": "1.5"}, {"introduced": "2.1"}], False),
        ([{"introduced": "0"}, {"limit": "2.0"}], False),
        ([{"introduced": "0"}, {"limit": "2.1"}], True),
        ([{"introduced": "0"}, {"limit": "*"}], True),
        ([{"introduced": "not a version"}], True),
    ],
)
def test_a_version_is_affected_by_the_events_up_to_it(events, affected):
    packages = [audit.Locked("some-package", "2.0.0")]
    assert bool(audit.audit(packages, [advisory(events=events)])) == affected


@pytest.mark.parametrize(
    ("found", "affected"),
    [
        (advisory(versions=["1.9", "2.0"]), True),
        (advisory(versions=["1.9", "2.0.dev1", "what is this"]), False),
        (advisory("Some_Package", versions=["2.0.0"]), True),
        (advisory("some-package-2", versions=["2.0.0"]), False),
        (advisory(versions=["2.0.0"], withdrawn="2026-01-01T00:00:00Z"), False),
        (advisory(affected=[{"package": NPM, "versions": ["2.0.0"]}]), False),
        (advisory(affected=[{"package": PYPI, "ranges": [{"type": "GIT", "events": EVER}]}]), False),
        (advisory(affected=[{"package": PYPI, "ranges": [{"type": "ECOSYSTEM", "events": EVER}]}]), True),
    ],
)
def test_a_package_is_affected_where_it_is_named_by_an_advisory_that_holds(found, affected):
    packages = [audit.Locked("some-package", "2.0.0")]
    assert bool(audit.audit(packages, [found])) == affected


def test_what_is_found_is_told_with_all_of_its_names(lock, tmp_path, capsys):
    place = database(
        tmp_path,
        advisory(id="B", aliases=["CVE-1"], summary="it leaks\nall", events=[{"introduced": "0"}]),
        advisory("other", id="A", versions=["1.0rc1"]),
        advisory("ours", id="C", events=[{"introduced": "0"}]),
    )
    code, lines = run(lock, place, capsys)
    assert code == 1
    assert lines == [
        "other 1.0rc1: A: no summary",
        "some-package 2.0.0: B CVE-1: it leaks all",
        "2 locked packages, 3 advisories up to 2026-01-02: 2 known against them",
    ]


def test_nothing_known_is_said_with_the_age_of_the_database(lock, tmp_path, capsys):
    code, lines = run(lock, database(tmp_path, advisory("unused", events=[{"introduced": "0"}])), capsys)
    assert (code, lines) == (
        0,
        ["2 locked packages, 1 advisories up to 2026-01-02: nothing known against them"],
    )


def test_a_zip_file_is_read_as_a_folder_is_and_may_be_named_by_the_environment(
    lock, tmp_path, capsys, monkeypatch
):
    with ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("PYSEC-1.json", json.dumps(advisory(versions=["2.0.0"])))
    monkeypatch.setenv(audit.VARIABLE, str(tmp_path / "all.zip"))
    assert audit.main([], lock) == 1
    assert "some-package 2.0.0: PYSEC-1" in capsys.readouterr().out


def refusal(arguments, lock, capsys):
    with pytest.raises(SystemExit) as ended:
        audit.main(arguments, lock)
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    return said.err


def test_without_a_database_it_says_so_and_that_nothing_was_checked(lock, capsys):
    assert "there is no database of advisories, so nothing was checked; fetch https://" in refusal(
        [], lock, capsys
    )


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"affected": []}', '{"id": 3}', '{"id": "A", "affected": [3]}', "[" * 100_000]
)
def test_a_damaged_advisory_ends_the_check_with_its_name(lock, tmp_path, capsys, text):
    place = database(tmp_path, advisory(versions=["2.0.0"]))
    (place / "z.json").write_text(text)
    assert f"{place / 'z.json'} is no advisory" in refusal(["--database", str(place)], lock, capsys)


def test_a_database_without_advisories_on_pypi_or_none_at_all_is_refused(lock, tmp_path, capsys):
    empty = database(tmp_path)
    assert "holds no advisory on a package of PyPI" in refusal(["--database", str(empty)], lock, capsys)
    for place in (tmp_path / "nowhere", lock):
        assert f"{place} can't be read" in refusal(["--database", str(place)], lock, capsys)


def test_a_lock_that_is_none_is_refused(tmp_path, capsys):
    place = database(tmp_path, advisory(versions=["2.0.0"]))
    (tmp_path / "uv.lock").write_text("[[package]]\nname = 3\n")
    assert "is no lock file of uv" in refusal(["--database", str(place)], tmp_path / "uv.lock", capsys)


def test_the_lock_of_this_project_is_read(tmp_path, capsys):
    place = database(tmp_path, advisory("numpy", events=[{"introduced": "0"}]))
    code, lines = run(audit.LOCK, place, capsys)
    assert code == 1
    assert lines[0].startswith("numpy ")
    assert "meshwright" not in {package.name for package in audit.locked_packages(audit.LOCK)}
