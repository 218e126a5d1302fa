"""Manifests that are whole and wrong: one line that says what is legal, never a traceback."""

import json

import pytest

import meshwright as mw
from meshwright.runtime.checksums import sealed


@pytest.fixture(scope="module")
def overlay():
    return mw.build(mw.workloads.unif(12, 6, min_subscriptions=2, max_subscriptions=4, seed=1), "low-oda")


@pytest.fixture
def change(overlay, tmp_path):
    """Writes the overlay, with another value in a part of its manifest; gives the folder."""

    def changed(part, key, value):
        overlay.write(tmp_path / "o")
        path = tmp_path / "o" / "manifest.json"
        manifest = json.loads(path.read_text())
        manifest[part][key] = value
        path.write_text(json.dumps(sealed(manifest)))
        return tmp_path / "o"

    return changed


@pytest.mark.parametrize("value", [None, "12", [], {}, 1.5, True, -1, 10**30])
@pytest.mark.parametrize(("command", "key"), [("evaluate", "edges"), ("build", "interests")])
def test_counts_that_are_no_counts_are_refused(change, run, tmp_path, command, key, value):
    more = ("--algorithm", "ring", "--out", tmp_path / "x") if command == "build" else ()
    code, out, err = run(command, change("counts", key, value), *more)
    assert (code, out) == (2, "")
    assert len(err.splitlines()) == 1
    assert key in err


@pytest.mark.parametrize("value", [None, "rho", [1]])
def test_options_that_are_no_object_are_refused(change, run, tmp_path, value):
    code, out, err = run("churn", change("facts", "options", value), "--rounds", 2, "--out", tmp_path / "x")
    assert (code, out) == (2, "")
    assert "states 'options' as" in err


def test_half_a_character_is_refused(change, run):
    code, out, err = run("export", change("facts", "note", "\ud800"), "--to", "json")
    assert (code, out) == (2, "")
    assert "facts can't be written as JSON" in err
