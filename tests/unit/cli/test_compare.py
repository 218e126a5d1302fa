import json

import pyarrow.parquet as pq
import pytest

import meshwright as mw
from meshwright.model.storage.manifest import read_manifest
from meshwright.testing import some_costs
from tests.unit.plugins.packages import BROKEN, CHAIN, meshwright, package


@pytest.fixture(scope="module")
def workload(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "workload"
    mw.workloads.unif(40, 8, subscriptions=3, seed=1).write(path)
    return path


def test_compare_writes_table_json_page_and_a_manifest_that_lists_them(run, workload, tmp_path):
    out = tmp_path / "compared"
    code, shown, said = run(
        "compare", workload, "--algorithms", "ring,dcbc-direct", "--seeds", 2, "--out", out
    )
    assert (code, said) == (0, "")
    assert "dcbc-direct" in shown
    assert f"{out}/comparison.html" in shown
    table = pq.read_table(out / "comparison.parquet").to_pylist()
    written = json.loads((out / "comparison.json").read_text("utf-8"))
    assert [row["algorithm"] for row in table] == ["ring", "ring", "dcbc-direct", "dcbc-direct"]
    assert written["runs"] == table
    assert written["counts"] == {"nodes": 40, "topics": 8, "interests": 120}
    manifest = read_manifest(out, "comparison")
    assert set(manifest["files"]) == {"comparison.parquet", "comparison.json", "comparison.html"}
    assert run("verify", out)[0] == 0


def test_the_table_has_links_and_words_and_fits_80_columns(run, workload, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    mw.Costs.write(some_costs(mw.Interests.read(workload)), tmp_path / "costs")
    for at, costs in enumerate([(), ("--costs", tmp_path / "costs")]):
        words = ("--algorithms", "dcbc-direct,ring", "--seeds", 2, *costs, "--out", tmp_path / f"o{at}")
        _, shown, _ = run("compare", workload, *words)
        lines = [line for line in shown.splitlines() if "Open the page" not in line]
        assert all(len(line) <= 80 for line in lines)
        heads = " ".join(" ".join(lines).partition("─")[0].split())
        assert all(word in heads for word in ("links of", "a node", "the lower", "bound"))
        runs = json.loads((tmp_path / f"o{at}" / "comparison.json").read_text("utf-8"))["runs"]
        cells = [line.split() for line in lines]
        assert all(
            [row["algorithm"], str(row["seed"]), str(row["links"])] in [own[:3] for own in cells]
            for row in runs
        )


def test_the_page_is_one_file_with_pictures_and_every_run(run, workload, tmp_path):
    run("compare", workload, "--algorithms", "ring,dcbc-direct", "--out", tmp_path / "o")
    page = (tmp_path / "o" / "comparison.html").read_text("utf-8")
    assert page.count("<svg") >= 4
    assert "<script" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "prefers-color-scheme: dark" in page
    assert "Every run" in page


def test_json_is_what_the_file_says_and_the_same_seeds_give_the_same_measures(run, workload, tmp_path):
    words = ("compare", workload, "--algorithms", "ring", "--json", "--force", "--out", tmp_path / "o")
    spent = ("seconds", "processor_seconds", "memory_bytes")
    once, again = (json.loads(run(*words)[1])["runs"] for _ in range(2))
    assert json.loads((tmp_path / "o" / "comparison.json").read_text("utf-8"))["runs"] == again
    for row in (*once, *again):
        for key in spent:
            del row[key]
    assert once == again


def test_options_are_set_for_one_algorithm(run, workload, tmp_path):
    words = ("compare", workload, "--algorithms", "dcbc-direct,ring", "--set", "dcbc-direct.slack=0.5")
    code, shown, _ = run(*words, "--json", "--out", tmp_path / "o")
    assert code == 0
    assert json.loads(shown)["options"] == {"dcbc-direct": {"slack": 0.5}}


def test_costs_are_read_as_by_build(run, workload, tmp_path):
    some_costs(mw.Interests.read(workload)).write(tmp_path / "costs")
    words = ("compare", workload, "--algorithms", "ring", "--costs", tmp_path / "costs", "--json")
    code, shown, said = run(*words, "--out", tmp_path / "o")
    assert code == 0, said
    (row,) = json.loads(shown)["runs"]
    assert row["cost"] >= row["lower_bound_cost"] > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--algorithms", "gm,rin"), "there is no algorithm 'rin' to build with; did you mean ring?"),
        (("--algorithms", "ring,ring"), "'ring' is named twice"),
        (("--algorithms", "nm"), "there is no algorithm 'nm' to build with"),
        (("--algorithms", "ring,gr-maw"), "gr-maw needs the costs of links"),
        (("--algorithms", ","), "algorithms is []; give a list of at least one name"),
        (("--algorithms", "ring", "--seeds", "0"), "seeds is 0; give a whole number of at least 1"),
        (("--algorithms", "ring", "--set", "ties=x"), "--set got 'ties=x'; write --set algorithm.name=value"),
        (("--algorithms", "ring", "--set", "gm.ties=x"), "--set got 'gm.ties=x'; write --set algorithm"),
        (("--algorithms", "gm", "--set", "gm.speed=1"), "there is no option 'speed' to --set"),
    ],
)
def test_a_wrong_call_is_refused_before_any_work(run, workload, tmp_path, words, said):
    code, shown, error = run("compare", workload, *words, "--out", tmp_path / "o")
    assert (code, shown) == (2, "")
    assert said in error
    assert error.count("\n") == 1
    assert not (tmp_path / "o").exists()


def test_what_is_not_a_comparison_is_not_replaced(run, workload, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "comparison.json").write_text("mine")
    code, _, error = run("compare", workload, "--algorithms", "ring", "--force", "--out", tmp_path / "mine")
    assert code == 2
    assert "comparison.json is in the way" in error
    assert (tmp_path / "mine" / "comparison.json").read_text() == "mine"


def test_algorithms_of_installed_packages_are_compared_and_one_that_fails_is_reported(workload, tmp_path):
    site = package(tmp_path / "site", "mesh_toy", CHAIN, ["chain = mesh_toy:CHAIN", "liar = mesh_toy:LIAR"])
    package(site, "mesh_broken", BROKEN, ["broken = mesh_broken:X"])
    words = ("compare", workload, "--json", "--out", tmp_path / "o", "--algorithms")
    done = meshwright(site, *words, "chain,liar,broken,ring")
    assert done.returncode == 1, done.stderr
    chain, liar, broken, ring = json.loads(done.stdout)["runs"]
    assert chain["topic_connected"]
    assert chain["error"] is None
    assert ring["error"] is None
    assert "mesh-toy 1.2) promises to connect every topic" in liar["error"]
    assert liar["links"] is None
    assert "mesh-broken 1.2 can't be loaded" in broken["error"]
    page = (tmp_path / "o" / "comparison.html").read_text()
    assert page.index("Failed runs") < page.index("mesh-broken 1.2 can&#x27;t be loaded")
