"""`evaluate --bound tight --certificate` and `check-certificate`."""

import json

import pytest

import meshwright as mw


@pytest.fixture(scope="module")
def overlay(tmp_path_factory):
    path = tmp_path_factory.mktemp("certificates") / "overlay"
    mw.build(mw.workloads.unif(40, 8, subscriptions=3, seed=1), "gm").write(path)
    return path


@pytest.fixture
def certificate(run, overlay, tmp_path):
    path = tmp_path / "bound.json"
    assert run("evaluate", overlay, "--bound", "tight", "--certificate", path)[0] == 0
    return path


def test_what_evaluate_writes_check_certificate_proves(run, overlay, certificate):
    code, said, _ = run("evaluate", overlay, "--bound", "tight", "--json")
    found = json.loads(said)
    assert (code, found["lower_bound_method"]) == (0, "lagrangian")
    edges = round(found["lower_bound_average_degree"] * 40 / 2)
    code, said, _ = run("check-certificate", overlay, certificate)
    assert (code, f"has at least {edges} links" in said) == (0, True)
    code, said, _ = run("check-certificate", overlay, certificate, "--json")
    assert (code, json.loads(said)) == (0, {"valid": True, "edges": edges, "reason": None})


def test_a_certificate_of_an_overlay_whose_links_cost_proves_the_cost_too(run, tmp_path):
    interests = mw.workloads.unif(40, 8, subscriptions=3, seed=1)
    where = {name: f"c{i % 3}" for i, name in enumerate(interests.nodes.to_pylist())}
    costs = mw.Costs.clusters(where, inner=1, outer=5)
    overlay, file = tmp_path / "overlay", tmp_path / "bound.json"
    mw.build(interests, "gr-maw", costs=costs).write(overlay)
    said = run("evaluate", overlay, "--bound", "tight", "--certificate", file, "--json")[1]
    least = json.loads(said)["lower_bound_weighted_average_degree"] * 40 / 2
    assert f"cost at least {least:,.6g} together" in run("check-certificate", overlay, file)[1]
    assert json.loads(run("check-certificate", overlay, file, "--json")[1])["cost"] == pytest.approx(least)


@pytest.mark.parametrize("as_json", [False, True])
def test_a_certificate_that_says_too_much_is_answered_with_no(run, overlay, certificate, as_json):
    found = json.loads(certificate.read_text("utf-8"))
    certificate.write_text(json.dumps(found | {"edges": found["edges"] + 1}), "utf-8")
    code, said, _ = run("check-certificate", overlay, certificate, *["--json"] * as_json)
    assert code == 1
    assert "is not enough" in (json.loads(said)["reason"] if as_json else said)


@pytest.mark.parametrize(
    ("change", "words"), [({"version": 7}, "its version is 7"), ({"lines": []}, "it has 0 topics")]
)
def test_a_certificate_of_another_version_or_other_interests_is_a_wrong_call(
    run, overlay, certificate, change, words
):
    found = json.loads(certificate.read_text("utf-8"))
    certificate.write_text(json.dumps(found | change), "utf-8")
    code, _, said = run("check-certificate", overlay, certificate)
    assert code == 2
    assert words in said
    assert "write one with evaluate --certificate" in said


def test_a_folder_or_file_that_is_not_there_is_a_wrong_call(run, overlay, certificate, tmp_path):
    assert run("check-certificate", tmp_path / "none", certificate)[0] == 2
    code, _, said = run("check-certificate", overlay, tmp_path / "none.json")
    assert (code, "can't be read" in said) == (2, True)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--bound", "tigth"), "did you mean"),
        (("--certificate", "x.json"), "only the tight bound has a certificate"),
        (("--bound", "tight", "--no-bound", "--certificate", "x.json"), "only the tight bound"),
        (("--bound", "tight", "--engine", "spark"), "Spark computes only the quick bound"),
    ],
)
def test_wrong_bounds_are_refused(run, overlay, words, said):
    code, _, error = run("evaluate", overlay, *words)
    assert (code, said in error) == (2, True)


def test_without_a_bound_none_is_shown(run, overlay):
    found = json.loads(run("evaluate", overlay, "--no-bound", "--json")[1])
    assert found["lower_bound_average_degree"] is None


def test_a_run_with_the_tight_bound_writes_a_certificate_that_holds_and_owns_it(run, tmp_path):
    table, out = tmp_path / "pairs.csv", tmp_path / "out"
    rows = [f"n{node},t{topic}" for node in range(12) for topic in {node % 3, node % 5, 7}]
    table.write_text("\n".join(["node,topic", *rows]), "utf-8")
    words = ("run", table, "--as", "pairs", "--algorithm", "gm", "--bound", "tight", "--out", out)
    code, said, _ = run(*words)
    assert code == 0
    assert "more links than the least possible" in said
    assert run("check-certificate", out / "overlay", out / "certificate.json")[0] == 0
    assert run(*words, "--force")[0] == 0
    page = tmp_path / "page.html"
    assert run("report", out / "overlay", "--bound", "tight", "--out", page)[0] == 0
    assert "lagrangian" in page.read_text("utf-8")


def test_spark_refuses_the_tight_bound_before_it_does_anything(run, tmp_path):
    (tmp_path / "pairs.csv").write_text("node,topic\na,t\n", "utf-8")
    words = ("run", tmp_path / "pairs.csv", "--as", "pairs", "--bound", "tight", "--spark-only")
    code, _, said = run(*words, "--out", tmp_path / "out")
    assert (code, "Spark computes only the quick bound" in said) == (2, True)
    assert not (tmp_path / "out").exists()
