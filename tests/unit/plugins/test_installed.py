"""Algorithms of packages that are really installed, seen from processes of their own."""

import json

import pytest

import meshwright as mw
from tests.unit.plugins.packages import BROKEN, CHAIN, meshwright, package, python


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """One package that works, one that can't be imported, and names that are taken."""
    site = tmp_path_factory.mktemp("site")
    offers = [
        "chain = mesh_toy:CHAIN",
        "made = mesh_toy:offer",
        "liar = mesh_toy:LIAR",
        "gm = mesh_toy:CHAIN",
    ]
    package(site, "mesh_toy", CHAIN, [*offers, "twice = mesh_toy:CHAIN", "number = mesh_toy:NUMBER"])
    return package(site, "mesh_broken", BROKEN, ["broken = mesh_broken:X", "twice = mesh_broken:X"])


@pytest.fixture(scope="module")
def workload(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "workload"
    mw.workloads.unif(30, 6, subscriptions=3, seed=1).write(path)
    return path


@pytest.fixture(scope="module")
def listed(site):
    done = meshwright(site, "algorithms", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_algorithms_lists_those_of_installed_packages_with_the_package(listed):
    found = {
        one["name"]: one for one in listed if one.get("package") == "mesh-toy 1.2" and "error" not in one
    }
    assert set(found) == {"chain", "made", "liar"}
    assert found["chain"]["summary"] == "a chain a topic"


@pytest.mark.parametrize(
    ("name", "package", "words"),
    [
        ("broken", "mesh-broken 1.2", ["can't be loaded: ModuleNotFoundError: No module named 'no_such"]),
        (
            "gm",
            "mesh-toy 1.2",
            ["a built-in algorithm of meshwright and", "'gm' (mesh_toy:CHAIN)"],
        ),
        ("twice", "mesh-toy 1.2", ["mesh_broken:X", "mesh_toy:CHAIN", "both have the name 'twice'"]),
        ("number", "mesh-toy 1.2", ["is an int, not a meshwright.Algorithm; correct it there"]),
    ],
)
def test_algorithms_lists_a_broken_one_with_its_package_and_the_reason(listed, name, package, words):
    (found,) = [one for one in listed if one["name"] == name and one.get("package") == package]
    assert found["kind"] == "broken"
    for part in words:
        assert part in found["error"]


def test_the_built_in_algorithms_go_on_working_beside_broken_ones(listed):
    built_in = [one["name"] for one in listed if "package" not in one]
    assert {"gm", "ring", "sm"} <= set(built_in)


def test_an_installed_algorithm_builds_from_the_command_line(site, workload, tmp_path):
    done = meshwright(site, "build", workload, "--algorithm", "made", "--out", tmp_path / "overlay")
    assert done.returncode == 0, done.stderr
    overlay = mw.Overlay.read(tmp_path / "overlay")
    assert mw.evaluate(overlay).topic_connected
    assert overlay.facts["package"] == "mesh-toy 1.2"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("broken", "entry point 'broken' (mesh_broken:X) of mesh-broken 1.2 can't be loaded"),
        ("twice", "both have the name 'twice'; uninstall a package"),
        ("liar", "liar (entry point 'liar' (mesh_toy:LIAR) of mesh-toy 1.2) promises to connect every topic"),
    ],
)
def test_building_with_a_broken_one_names_the_plugin_in_one_line(site, workload, tmp_path, name, words):
    done = meshwright(site, "build", workload, "--algorithm", name, "--out", tmp_path / "overlay")
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "overlay").exists()


def test_help_and_building_with_another_import_no_package_that_offers_algorithms(site, tmp_path):
    program = (
        "import sys, meshwright as mw; from meshwright.cli import main\n"
        "sys.argv = ['meshwright', 'build', '--help']; main()\n"
        "mw.build(mw.Interests.from_pairs([('a', 'x'), ('b', 'x')]), 'ring')\n"
        "print('mesh_toy' in sys.modules)"
    )
    done = python(site, "-c", program)
    assert done.stdout.splitlines()[-1] == "False", done.stderr


def test_python_warns_of_broken_ones_and_returns_the_others(site):
    program = (
        "import warnings, meshwright as mw\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always')\n"
        "    print('chain' in mw.algorithms(), 'broken' in mw.algorithms())\n"
        "print(sum('mesh_broken:X' in str(one.message) for one in seen) > 0)"
    )
    done = python(site, "-W", "error", "-c", program)
    assert done.stdout.split() == ["True", "False", "True"], done.stderr
