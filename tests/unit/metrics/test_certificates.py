"""Certificates on disk, and the checker that shares no code with what writes them."""

import ast
import copy
import json
from pathlib import Path

import numpy as np
import pytest

import meshwright as mw
from meshwright.construct.dual.bound import find_certificate
from meshwright.construct.dual.bound_by_cost import find_cost_certificate
from meshwright.metrics import certificate_checker
from meshwright.metrics.certificate_checker import (
    NoCertificateError,
    RefutedError,
    check,
    check_cost,
    check_files,
)
from meshwright.metrics.certificates import as_file, write_certificate
from tests import oracles_dual
from tests.helpers import topics_by_node

SPOILED = 120


@pytest.fixture(scope="module")
def interests():
    return mw.workloads.unif(60, 20, min_subscriptions=4, max_subscriptions=14, seed=1)


@pytest.fixture(scope="module")
def overlay(interests):
    return mw.build(interests, "gm")


@pytest.fixture(scope="module")
def evaluation(overlay):
    return mw.evaluate(overlay, bound="tight")


@pytest.fixture
def dataset(overlay, tmp_path):
    overlay.write(tmp_path / "overlay")
    return tmp_path / "overlay"


@pytest.fixture
def file(evaluation, interests, tmp_path):
    write_certificate(tmp_path / "bound.json", evaluation.certificate, interests)
    return tmp_path / "bound.json"


@pytest.fixture
def certificate(file):
    return json.loads(file.read_text("utf-8"))


@pytest.fixture(scope="module")
def topics(interests):
    return [sorted(own) for own in topics_by_node(interests).values()]


def test_the_checker_proves_the_bound_that_evaluate_states(dataset, file, evaluation):
    edges, _ = check_files(dataset, file)
    assert evaluation.lower_bound_method == "lagrangian"
    assert evaluation.lower_bound_average_degree == 2 * edges / evaluation.nodes


def test_the_checker_imports_nothing_of_this_project():
    tree = ast.parse(Path(certificate_checker.__file__).read_text("utf-8"))
    modules = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names]
    assert modules
    assert not [module for module in modules if module is None or module.startswith("meshwright")]


def spoil(certificate, chance):
    """The certificate with one to three numbers changed: gaps, nodes, demands, the scale or the links."""
    spoiled = copy.deepcopy(certificate)
    lines = [line for line in spoiled["lines"] if len(line["nodes"]) > 2]
    for _ in range(chance.integers(1, 4)):
        line = lines[chance.integers(len(lines))]
        i, j = chance.choice(len(line["nodes"]), 2, replace=False)
        demand = spoiled["demands"][chance.integers(len(spoiled["demands"]))]
        kind = chance.integers(8)
        if kind == 0:
            line["gaps"][i] += int(chance.integers(1, spoiled["scale"]))
        elif kind == 1:
            line["gaps"][i], line["gaps"][j] = line["gaps"][j], line["gaps"][i]
        elif kind == 2:
            line["nodes"][i], line["nodes"][j] = line["nodes"][j], line["nodes"][i]
        elif kind == 3:
            demand["price"] += int(chance.integers(1, spoiled["scale"] // 4))
        elif kind == 4:
            demand["topics"] = demand["topics"][:1]
        elif kind == 5:
            demand["nearest"] = int(chance.integers(60))
        elif kind == 6:
            spoiled["scale"] -= int(chance.integers(1, spoiled["scale"] // 4))
        else:
            spoiled["edges"] += int(chance.integers(1, 4))
    return spoiled


def test_every_one_of_many_spoiled_certificates_is_found(topics, interests, certificate):
    chance, found, drawn = np.random.default_rng(1), 0, 0
    while found < SPOILED:
        spoiled, drawn = spoil(certificate, chance), drawn + 1
        if oracles_dual.proves(topics_by_node(interests), spoiled):
            assert check(topics, spoiled) == spoiled["edges"]
            continue
        found += 1
        with pytest.raises(RefutedError):
            check(topics, spoiled)
    assert drawn < 3 * SPOILED


def test_a_pair_is_found_that_is_one_too_far_apart():
    topics = [[0, 1], [0, 1], [0], [1]]
    lines = [{"nodes": [0, 1, 2], "gaps": [0, 6, 10]}, {"nodes": [3, 1, 0], "gaps": [0, 10, 4]}]
    tight = {"format": certificate_checker.FORMAT, "version": 3, "scale": 10, "edges": 3, "lines": lines}
    tight["demands"] = []
    assert check(topics, tight) == 3
    lines[0]["gaps"][1] = 7
    with pytest.raises(RefutedError, match="nodes 0 and 1 are 11 apart, at most 10 is allowed"):
        check(topics, tight)


def test_a_demand_of_a_topic_that_no_other_has_forces_nothing():
    lines = [{"nodes": [0, 1], "gaps": [0, 0]}, {"nodes": [0], "gaps": [0]}]
    demand = {"node": 0, "topics": [0, 1], "price": 5, "nearest": 1, "nearest_price": 5}
    file = {"format": certificate_checker.FORMAT, "version": 3, "scale": 10, "edges": 1}
    with pytest.raises(RefutedError, match="a topic that no other node has"):
        check([[0, 1], [0]], file | {"lines": lines, "demands": [demand]})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c.update(format="another"), "format"),
        (lambda c: c.update(version=1), "version is 1, but only 3 is known"),
        (lambda c: c.update(demands=None), "demands are missing"),
        (lambda c: c["demands"].append({"node": 0}), "a demand has no node"),
        (lambda c: c["demands"][0].update(node=60), "a demand has no node"),
        (lambda c: c["demands"][0].update(price=1.5), "whole numbers"),
        (lambda c: c["demands"][0].update(topics=[]), "not its own"),
        (lambda c: c["demands"][0].update(topics=[-1]), "not its own"),
        (lambda c: c.update(version=None), "version is None"),
        (lambda c: c.update(scale=0), "scale"),
        (lambda c: c.update(scale=1.5), "scale"),
        (lambda c: c.update(edges=True), "edges"),
        (lambda c: c.update(edges=-1), "edges"),
        (lambda c: c.update(lines={}), "lines"),
        (lambda c: c["lines"].pop(), "19 topics, but the interests have more"),
        (lambda c: c["lines"].append({"nodes": [0], "gaps": [0]}), "other interests"),
        (lambda c: c["lines"][0]["nodes"].pop(), "not a gap for each"),
        (lambda c: c["lines"][0].pop("gaps"), "not a gap for each"),
        (lambda c: c["lines"].__setitem__(0, None), "not a gap for each"),
        (lambda c: c["lines"][0]["gaps"].__setitem__(1, -5), "no whole number"),
        (lambda c: c["lines"][0]["gaps"].__setitem__(1, 0.5), "no whole number"),
        (lambda c: c["lines"][0]["nodes"].__setitem__(1, c["lines"][0]["nodes"][0]), "other interests"),
        (lambda c: c["lines"][0]["nodes"].__setitem__(1, "n1"), "no whole number"),
    ],
)
def test_what_is_no_certificate_of_these_interests_is_refused(topics, certificate, change, words):
    change(certificate)
    with pytest.raises(NoCertificateError, match=words):
        check(topics, certificate)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c["lines"][0]["gaps"].__setitem__(0, 5), "begins with a gap"),
        (lambda c: c["lines"][0]["gaps"].__setitem__(1, 2**70), "more than the scale"),
        (lambda c: c.update(scale=2**62, edges=0), "too great"),
        (lambda c: c.update(edges=c["edges"] + 1), "not enough"),
        (lambda c: c["demands"].append(c["demands"][0]), "two demands"),
        (lambda c: c["demands"][0].update(nearest_price=c["demands"][0]["price"] + 1), "pays more"),
        (lambda c: c["demands"][0].update(topics=c["demands"][0]["topics"][:1]), "another node has all"),
    ],
)
def test_numbers_that_prove_nothing_are_refuted(topics, certificate, change, words):
    change(certificate)
    with pytest.raises(RefutedError, match=words):
        check(topics, certificate)


def test_certificates_of_other_interests_are_refused(certificate):
    other = mw.workloads.unif(60, 20, min_subscriptions=4, max_subscriptions=14, seed=2)
    with pytest.raises(NoCertificateError, match="other interests"):
        check([sorted(own) for own in topics_by_node(other).values()], certificate)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": NaN}', "\udcff"])
def test_files_that_hold_no_certificate_are_refused(dataset, tmp_path, text):
    path = tmp_path / "wrong.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(NoCertificateError):
        check_files(dataset, path)


@pytest.mark.parametrize("bound", ["tigth", 1, None])
def test_an_unknown_bound_is_refused(overlay, bound):
    with pytest.raises(mw.OptionError, match="the bound is"):
        mw.evaluate(overlay, bound=bound)


def test_interests_with_too_many_pairs_are_refused_with_the_way_out(overlay, monkeypatch):
    monkeypatch.setattr("meshwright.metrics.bounds._MOST_TIGHT_PAIRS", 10)
    with pytest.raises(mw.OptionError, match="use the quick one"):
        mw.evaluate(overlay, bound="tight")


def test_without_the_tight_bound_there_is_no_certificate(overlay):
    assert mw.evaluate(overlay).certificate is None
    assert mw.evaluate(overlay, bound=True) == mw.evaluate(overlay, bound="quick")


def test_a_certificate_is_given_where_another_method_proves_more(overlay, monkeypatch):
    monkeypatch.setattr("meshwright.metrics.bounds._MORE_TIGHT_STEPS", 0)
    found = mw.evaluate(overlay, bound="tight")
    quick = mw.evaluate(overlay)
    assert found.certificate is not None
    assert found.lower_bound_average_degree >= quick.lower_bound_average_degree


@pytest.fixture(scope="module")
def some_costs(interests):
    """Costs in every form: by name, what gives them."""
    names, random = interests.nodes.to_pylist(), np.random.default_rng(5)
    matrix = random.integers(1, 1000, (60, 60)) / 7
    where = {name: f"c{i % 6}" for i, name in enumerate(names)}
    points = {name: tuple(random.uniform(-80, 80, 2)) for name in names}
    return {
        "sites": mw.Costs.from_matrix(np.maximum(matrix, matrix.T) * (1 - np.eye(60)), names),
        "clusters": mw.Costs.clusters(where, inner=0.1, outer=1.7),
        **{
            metric: mw.Costs.coordinates(points, metric=metric, base=2.0)
            for metric in ("great-circle", "euclidean", "manhattan")
        },
    }


@pytest.mark.parametrize("kind", ["sites", "clusters", "great-circle", "euclidean", "manhattan"])
def test_the_checker_proves_the_cost_that_evaluate_states(interests, some_costs, tmp_path, kind):
    overlay = mw.build(interests, "gr-maw", costs=some_costs[kind])
    overlay.write(tmp_path / "overlay")
    found = mw.evaluate(overlay, bound="tight")
    write_certificate(tmp_path / "bound.json", found.certificate, interests, found.cost_certificate)
    _, cost = check_files(tmp_path / "overlay", tmp_path / "bound.json")
    quick = mw.evaluate(overlay).lower_bound_weighted_average_degree
    assert found.lower_bound_weighted_method == "lagrangian"
    assert found.lower_bound_weighted_average_degree == pytest.approx(2 * float(cost) / 60, rel=1e-12)
    assert quick < found.lower_bound_weighted_average_degree < found.weighted_average_degree


@pytest.fixture(scope="module")
def by_cost(interests, some_costs):
    """A certificate with a part for costs, and the costs as a matrix."""
    links = find_certificate(interests, steps=0)
    found = find_cost_certificate(interests, some_costs["sites"], steps=60)
    return as_file(links, interests, found), some_costs["sites"].to_matrix()


def spoil_cost(certificate, chance):
    """The part for costs with one to three numbers changed."""
    spoiled = copy.deepcopy(certificate)
    part = spoiled["cost"]
    lines = [line for line in part["lines"] if len(line["nodes"]) > 2]
    for _ in range(chance.integers(1, 4)):
        line = lines[chance.integers(len(lines))]
        i, j = chance.choice(len(line["nodes"]), 2, replace=False)
        kind = chance.integers(5)
        if kind == 0:
            line["gaps"][i] += int(chance.integers(1, 2**28))
        elif kind == 1:
            line["gaps"][i], line["gaps"][j] = line["gaps"][j], line["gaps"][i]
        elif kind == 2:
            line["nodes"][i], line["nodes"][j] = line["nodes"][j], line["nodes"][i]
        elif kind == 3:
            part["exponent"] -= 1
        else:
            part["parts"] += int(chance.integers(1, 2**20))
    return spoiled


def test_every_one_of_many_spoiled_certificates_of_cost_is_found(topics, interests, by_cost):
    certificate, costs = by_cost
    chance, found, drawn = np.random.default_rng(2), 0, 0
    while found < SPOILED:
        spoiled, drawn = spoil_cost(certificate, chance), drawn + 1
        if oracles_dual.proves_cost(topics_by_node(interests), spoiled["cost"], costs):
            assert check_cost(topics, spoiled, lambda node: costs[node]) > 0
            continue
        found += 1
        with pytest.raises(RefutedError):
            check_cost(topics, spoiled, lambda node: costs[node])
    assert drawn < 3 * SPOILED


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"parts": None}, NoCertificateError, "parts of cost are missing"),
        ({"exponent": 1.5}, NoCertificateError, "exponent"),
        ({"exponent": 10**6}, NoCertificateError, "exponent"),
        ({"lines": None}, NoCertificateError, "lines are missing"),
        ({"lines": []}, NoCertificateError, "0 topics"),
        ({"parts": 2**80}, RefutedError, "not enough"),
        ({"exponent": -1000}, RefutedError, "at most 0 is allowed"),
    ],
)
def test_parts_for_costs_that_prove_nothing_are_refused(topics, by_cost, change, error, words):
    certificate, costs = by_cost
    with pytest.raises(error, match=words):
        check_cost(topics, certificate | {"cost": certificate["cost"] | change}, lambda node: costs[node])


def test_a_certificate_of_cost_is_refused_where_the_dataset_has_no_costs(dataset, by_cost, tmp_path):
    (tmp_path / "bound.json").write_text(json.dumps(by_cost[0]), "utf-8")
    with pytest.raises(NoCertificateError, match="costs, which the dataset lacks"):
        check_files(dataset, tmp_path / "bound.json")
