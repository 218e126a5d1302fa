"""What links cost, said on the command line: every form, and every way to say it wrong."""

import json
import re

import numpy as np
import pyarrow as pa
import pytest

import meshwright as mw

SITES = ("ams", "fra", "nyc")
BETWEEN = np.array([[0, 8, 80], [8, 0, 90], [80, 90, 0]])


@pytest.fixture
def workload(tmp_path):
    """Thirty nodes that know their site and their place."""
    plain = mw.workloads.unif(30, 8, subscriptions=3, seed=1)
    random = np.random.default_rng(0)
    where = [SITES[at % 3] for at in range(30)]
    own = pa.table({"site": where, "lat": random.uniform(-60, 60, 30), "lon": random.uniform(-180, 180, 30)})
    interests = mw.Interests(plain.indptr, plain.topic_ids, plain.nodes, plain.topics, own, None)
    interests.write(tmp_path / "workload")
    return tmp_path / "workload"


def matrix(path, values, names=SITES):
    rows = [",".join([name, *map(str, row)]) for name, row in zip(names, values, strict=True)]
    path.write_text("\n".join([",".join(["", *names]), *rows]))
    return path


@pytest.fixture
def between(tmp_path):
    return matrix(tmp_path / "between.csv", BETWEEN)


@pytest.fixture
def brokers(tmp_path, workload):
    nodes = mw.Interests.read(workload).nodes.to_pylist()
    path = tmp_path / "brokers.csv"
    path.write_text("\n".join(["node,site", *(f"{node},{SITES[at % 3]}" for at, node in enumerate(nodes))]))
    return path


@pytest.fixture
def places(tmp_path):
    path = tmp_path / "places.csv"
    path.write_text("city,Lat,Long,Population\nams,52.4,4.9,1\nfra,50.1,8.7,2\nnyc,40.7,-74,3\n")
    return path


def wrong(result, *words):
    """Exit code 2, nothing on stdout, one line on stderr with these words."""
    code, out, err = result
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "Traceback" not in err
    for word in words:
        assert word in err


def build(run, workload, *words, algorithm="gr-maw"):
    return run("build", workload, "--algorithm", algorithm, "--out", workload.parent / "o", *words)


def expected(workload, costs, algorithm="gr-maw"):
    return mw.build(mw.Interests.read(workload), algorithm, costs=costs)


def test_sites_with_a_local_cost(run, workload, between, brokers, tmp_path):
    assert build(run, workload, "--costs", between, "--sites", brokers, "--local", 0.5)[0] == 0
    costs = mw.Costs.sites(mw.Costs.from_csv(between), brokers, local=0.5)
    assert mw.Overlay.read(tmp_path / "o") == expected(workload, costs)
    manifest = json.loads((tmp_path / "o" / "manifest.json").read_text())
    assert manifest["costs"] == {"costs": str(between), "sites": str(brokers), "local": 0.5}


@pytest.mark.parametrize("algorithm", ["gm", "ring", "dcbc-direct", "tr-maw", "pd-maw", "pdrd-maw", "dc-maw"])
def test_every_algorithm_prices_its_links(run, workload, between, tmp_path, algorithm):
    words = ("--costs", between, "--sites", "nodes", "--local", 1, "--json")
    code, out, err = build(run, workload, *words, algorithm=algorithm)
    assert (code, err) == (0, "")
    assert json.loads(out)["facts"]["costs"]["kind"] == "sites"
    costs = mw.Costs.sites(mw.Costs.from_csv(between), mw.Interests.read(workload), local=1)
    assert mw.Overlay.read(tmp_path / "o") == expected(workload, costs, algorithm)


def test_clusters(run, workload, brokers, tmp_path):
    assert build(run, workload, "--sites", brokers, "--inner", 1, "--outer", 10)[0] == 0
    costs = mw.Costs.clusters(brokers, inner=1, outer=10, cluster="site")
    assert mw.Overlay.read(tmp_path / "o") == expected(workload, costs)


def test_the_distance_between_nodes_that_know_their_place(run, workload, tmp_path):
    assert build(run, workload, "--places", "nodes", "--base", 2, "--factor", 0.02)[0] == 0
    costs = mw.Costs.coordinates(mw.Interests.read(workload), base=2, factor=0.02)
    assert mw.Overlay.read(tmp_path / "o") == expected(workload, costs)


def test_the_distance_between_sites(run, workload, brokers, places, tmp_path):
    words = ("--places", places, "--place-columns", "city,Lat,Long", "--base", 2, "--sites", brokers)
    assert build(run, workload, *words, "--local", 1)[0] == 0
    between = mw.Costs.coordinates(places, base=2, node="city", columns=("Lat", "Long"))
    assert mw.Overlay.read(tmp_path / "o") == expected(workload, mw.Costs.sites(between, brokers, local=1))


def test_reverse_delete_after_any_algorithm(run, workload, tmp_path):
    assert build(run, workload, "--reverse-delete", algorithm="ring")[0] == 0
    found = mw.Overlay.read(tmp_path / "o")
    assert found == mw.build(mw.Interests.read(workload), "ring", reverse_delete=True)
    assert found.facts["edges_deleted"] > 0


def test_evaluate_prices_an_overlay_that_was_built_without_costs(run, workload, between, tmp_path):
    build(run, workload, algorithm="gm")
    words = ("--costs", between, "--sites", "nodes", "--local", 1)
    code, out, err = run("evaluate", tmp_path / "o", *words, "--json")
    assert (code, err) == (0, "")
    costs = mw.Costs.sites(mw.Costs.from_csv(between), mw.Interests.read(workload), local=1)
    found = mw.evaluate(mw.Overlay.read(tmp_path / "o"), costs=costs).to_json()
    assert {key: json.loads(out)[key] for key in found} == found
    assert found["lower_bound_weighted_average_degree"] <= found["weighted_average_degree"]
    _, text, _ = run("evaluate", tmp_path / "o", *words)
    assert "None costs less than" in text


def test_the_list_of_algorithms_says_which_need_costs(run):
    code, out, _ = run("algorithms", "--json")
    assert code == 0
    needy = {entry["name"] for entry in json.loads(out) if entry["needs_costs"]}
    assert needy == {"tr-maw", "gr-maw", "pd-maw", "pdrd-maw", "dc-maw", "dg-maw"}


def with_cell(value):
    cells = BETWEEN.astype(object)
    cells[0, 2] = cells[1, 2] = value
    return cells


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("nan", ("no cost from 'ams' to 'nyc' (and 1 more)", "--missing")),
        ("", ("no cost from 'ams' to 'nyc' (and 1 more)", "--missing")),
        (-3, ("from 'ams' to 'nyc' is -3 (and 1 more)", "positive finite")),
        ("inf", ("from 'ams' to 'nyc' is inf (and 1 more)", "positive finite")),
        (0, ("from 'ams' to 'nyc' is 0 (and 1 more)", "positive finite")),
    ],
)
@pytest.mark.parametrize("command", ["build", "evaluate"])
def test_costs_that_are_none_are_refused(run, workload, tmp_path, command, value, words):
    path = matrix(tmp_path / "bad.csv", with_cell(value))
    given = ("--costs", path, "--sites", "nodes", "--local", 1)
    if command == "build":
        wrong(build(run, workload, *given), str(path), *words)
        assert not (tmp_path / "o").exists()
    else:
        build(run, workload, algorithm="gm")
        wrong(run("evaluate", tmp_path / "o", *given), str(path), *words)


def test_missing_costs_are_filled_by_the_rule_that_is_given(run, workload, tmp_path):
    path = matrix(tmp_path / "gaps.csv", with_cell(""))
    words = ("--costs", path, "--sites", "nodes", "--local", 1, "--missing", "other-direction")
    assert build(run, workload, *words)[0] == 0


def test_an_asymmetric_matrix_is_symmetrised_by_the_rule_or_refused(run, workload, tmp_path):
    path = matrix(tmp_path / "there.csv", with_cell(60))
    words = ("--costs", path, "--sites", "nodes", "--local", 1, "--symmetrise")
    wrong(
        build(run, workload, *words, "refuse"),
        "'fra' to 'nyc' costs 60, but 'nyc' to 'fra' costs 90",
        "1 more pair differ",
    )
    assert build(run, workload, *words, "max")[0] == 0
    wrong(build(run, workload, *words, "median"), "Otherwise choose among mean, max")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (",a,b\na,0,1\n", ("'b' has a column but no row",)),
        ("0,1\n2,0\n3,4\n", ("shape (3, 2)", "give a square")),
        ("", ("is empty",)),
    ],
)
def test_a_matrix_of_the_wrong_shape_is_refused(run, workload, tmp_path, text, words):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    wrong(build(run, workload, "--costs", path), str(path), *words)


def test_a_matrix_without_names_takes_them_from_a_file_or_from_the_nodes(run, workload, brokers, tmp_path):
    np.save(tmp_path / "sites.npy", BETWEEN)
    np.save(tmp_path / "nodes.npy", np.ones((30, 30)))
    (tmp_path / "names.txt").write_text("\n".join(SITES))
    names, on_sites = ("--cost-names", tmp_path / "names.txt"), ("--sites", brokers, "--local", 1)
    assert build(run, workload, "--costs", tmp_path / "sites.npy", *names, *on_sites)[0] == 0
    assert build(run, workload, "--costs", tmp_path / "nodes.npy", "--cost-names", "nodes", "--force")[0] == 0
    wrong(
        build(run, workload, "--costs", tmp_path / "sites.npy", *names[:1], "nodes", *on_sites),
        "a file of site names",
    )
    wrong(
        build(run, workload, "--costs", tmp_path / "nodes.npy", *names, "--force"),
        "the matrix has 30 rows, but there are 3 names",
    )


def test_a_cost_file_for_other_nodes_is_refused(run, workload, between, tmp_path):
    wrong(
        build(run, workload, "--costs", between),
        "between.csv: 'n00' (and 29 more) has no costs; the costs are for 3 nodes, such as 'ams'",
    )
    wrong(build(run, workload, "--costs", tmp_path / "none.csv"), "none.csv", "no such file")


def test_nodes_without_a_site_are_refused(run, workload, between, brokers):
    brokers.write_text("\n".join(brokers.read_text().splitlines()[:-2]))
    words = ("--costs", between, "--sites", brokers, "--local", 1)
    wrong(
        build(run, workload, *words),
        "brokers.csv: 'n28' (and 1 more) has no site; the costs are for 28 nodes",
    )
    brokers.write_text(brokers.read_text() + "\nn00,nyc\n")
    wrong(build(run, workload, *words), "'n00' has the site", "give each node one")


def test_a_site_of_several_nodes_without_a_local_cost_is_refused(run, workload, between, brokers):
    words = ("--costs", between, "--sites", brokers)
    wrong(build(run, workload, *words), "on site 'ams' (and 2 more)", "--local")
    for local in (0, -1, "nan", "inf"):
        wrong(build(run, workload, *words, "--local", local), "local is", "positive finite")


def test_sites_without_coordinates_are_refused(run, workload, brokers, places):
    places.write_text("\n".join(line for line in places.read_text().splitlines() if "nyc" not in line))
    words = ("--places", places, "--place-columns", "city,Lat,Long", "--base", 2, "--sites", brokers)
    wrong(
        build(run, workload, *words, "--local", 1),
        "places.csv: 'nyc' is the site of some nodes, but has no coordinates; the costs are for 2 sites",
    )
    wrong(build(run, workload, *words[:2], "--base", 2), "no column 'node'")
    places.write_text("city,Lat,Long\nams,52,\nfra,50,8\nnyc,91,0\n")
    wrong(build(run, workload, *words, "--local", 1), "the Long of 'ams' is missing")
    places.write_text("city,Lat,Long\nams,52,4\nfra,50,8\nnyc,91,0\n")
    wrong(build(run, workload, *words, "--local", 1), "latitude of 'nyc' is 91")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "gr-maw needs the costs of links"),
        (("--sites", "x"), "--sites says where nodes are"),
        (("--local", 1), "--local has no effect without --sites"),
        (("--outer", 1), "--outer has no effect without --inner"),
        (("--sites", "x", "--inner", 1), "give all three"),
        (("--costs", "x", "--inner", 1, "--outer", 2), "--costs and --inner both say what links cost"),
        (("--places", "x"), "give --base"),
        (("--base", 1), "--base has no effect without --places"),
        (("--sites", "x", "--places", "nodes", "--base", 1), "leave --sites out"),
        (("--missing", "path"), "--missing has no effect without --costs"),
        (("--costs", "x", "--missing", "guess"), "missing is 'guess'; choose among refuse"),
        (("--costs", "x", "--sites", "y", "--site-columns", "a"), "give 2 columns, such as node,site"),
        (("--costs", "x", "--local", "much"), "--local"),
    ],
)
def test_options_that_do_not_go_together_are_refused(run, workload, words, said):
    wrong(build(run, workload, *words), said)


def test_merge_keeps_its_cost_of_a_new_link(run, workload, between, tmp_path):
    build(run, workload, "--costs", between, "--sites", "nodes", "--local", 1)
    other = mw.Overlay.from_edges(
        mw.Interests.from_pairs([("x", "t0"), ("y", "t0"), ("y", "t1")]), [("x", "y")], [3.0]
    )
    other.write(tmp_path / "other")
    words = ("merge", tmp_path / "o", tmp_path / "other", "--algorithm", "sm", "--out", tmp_path / "both")
    wrong(run(*words), "set --link-cost")
    assert run(*words, "--link-cost", 7)[0] == 0
    assert 7 in mw.Overlay.read(tmp_path / "both").costs.tolist()


@pytest.fixture
def grid(tmp_path, workload):
    """A table of x and y without a header, in which two nodes are at one place."""
    nodes = mw.Interests.read(workload).nodes.to_pylist()
    path = tmp_path / "grid.csv"
    path.write_text("\n".join(f"{at % 2},{node},{at % 2}" for at, node in enumerate(["none", *nodes])))
    return path


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_the_distance_in_a_plane_with_a_least_cost(run, workload, grid, tmp_path, metric):
    words = ("--places", grid, "--place-columns", "2,1,3", "--metric", metric, "--least-cost", 0.5)
    assert build(run, workload, *words)[0] == 0
    costs = mw.Costs.coordinates(grid, least_cost=0.5, metric=metric, node=2, columns=(1, 3))
    found = mw.Overlay.read(tmp_path / "o")
    assert found == expected(workload, costs)
    assert found.costs.min() == 0.5
    assert found.facts["costs"]["kind"] == metric


def test_a_list_of_costs_with_other_columns_and_zeros(run, workload, brokers, tmp_path):
    (tmp_path / "rtt.csv").write_text('ms,"from, city",to\n0,ams,fra\n80,ams,nyc\n90,fra,nyc\n')
    words = ("--costs", tmp_path / "rtt.csv", "--sites", brokers, "--local", 0.25)
    named = ("--cost-columns", '"from, city",to,ms')
    wrong(build(run, workload, *words, *named), "'ams' to 'fra' is 0")
    assert build(run, workload, *words, *named, "--least-cost", 0.5)[0] == 0
    facts = mw.Overlay.read(tmp_path / "o").facts["costs"]["facts"]
    assert (facts["least_cost"], facts["raised_to_least_cost"]) == (0.5, 1)
    miss = build(run, workload, *words, "--cost-columns", "From city,to,ms", "--force")
    wrong(miss, "did you mean 'from, city'?")


def test_the_unit_is_kept_and_printed_behind_costs(run, workload, between, tmp_path):
    words = ("--costs", between, "--sites", "nodes", "--local", 1, "--unit", "ms")
    code, out, _ = build(run, workload, *words)
    assert code == 0
    overlay = mw.Overlay.read(tmp_path / "o")
    assert f"The links cost {overlay.costs.sum():,.2f} ms together." in out
    assert overlay.facts["costs"]["unit"] == "ms"
    code, out, _ = run("evaluate", tmp_path / "o")
    found = mw.evaluate(overlay)
    assert found.cost_unit == "ms"
    least = found.lower_bound_weighted_average_degree
    assert f"None costs less than {least:,.4g} ms per node" in out
    costs = [line.strip() for line in out.splitlines() if re.search("cost per node|costliest path", line)]
    costs = [line for line in costs if "None costs" not in line]
    assert len(costs) >= 3
    assert all(line.endswith(" ms") for line in costs)
    assert "cost unit" not in out
    assert json.loads(run("evaluate", tmp_path / "o", "--json")[1])["cost_unit"] == "ms"
    out = run("compare", workload, "--algorithms", "gr-maw", *words, "--out", tmp_path / "c")[1]
    assert "cost (ms)" in out
    assert json.loads((tmp_path / "c" / "comparison.json").read_text())["runs"][0]["cost_unit"] == "ms"
    out = run("run", workload, "--algorithm", "gr-maw", *words, "--out", tmp_path / "r")[1]
    paid = found.weighted_average_degree
    assert f"The links of a node cost {paid:,.2f} ms on average; " in out
    assert f"no topic-connected overlay costs less than {least:,.2f} ms per node." in out


def test_without_a_unit_nothing_is_printed_behind_costs(run, workload, between, tmp_path):
    words = ("--costs", between, "--sites", "nodes", "--local", 1)
    build(run, workload, *words)
    assert "cost_unit" not in json.loads(run("evaluate", tmp_path / "o", "--json")[1])
    other = run("evaluate", tmp_path / "o", *words, "--unit", "EUR")[1]
    assert " EUR per node" in other
    assert mw.evaluate(mw.Overlay.read(tmp_path / "o")).cost_unit is None


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--places", "x", "--base", 1, "--metric", "euclid"), "did you mean euclidean? Otherwise"),
        (("--costs", "x", "--metric", "euclidean"), "--metric has no effect without --places"),
        (("--places", "x", "--least-cost", 0), "--least-cost is 0.0; a cost is a positive"),
        (("--places", "x", "--least-cost", "nan"), "--least-cost is nan"),
        (("--costs", "x", "--least-cost", -2), "--least-cost is -2.0"),
        (("--least-cost", 1), "--least-cost has no effect without --costs or --places"),
        (("--sites", "x", "--inner", 1, "--outer", 2, "--least-cost", 1), "--least-cost has no effect"),
        (("--costs", "x", "--unit", "milli seconds"), "give one short word, such as ms"),
        (("--unit", "ms"), "--unit has no effect without --costs or --inner or --places"),
        (("--costs", "x", "--cost-columns", "a,b"), "give 3 columns, such as from,to,rtt"),
        (("--costs", "x", "--cost-columns", "1,2,c"), "mix names and positions"),
        (("--places", "x", "--base", 1, "--place-columns", "a,b,"), "put a name with a comma"),
    ],
)
def test_metrics_least_costs_units_and_columns_that_make_no_sense(run, workload, words, said):
    wrong(build(run, workload, *words), said)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("broker,dc\nn0,x\n", "has no column 'node'"),
        ("node,site\nn0,nowhere\n", "'nowhere' is the site of some nodes, but has no cost"),
        ("node,site\n,x\n", "line 2: the node is missing"),
    ],
)
def test_a_run_refuses_files_of_costs_before_its_first_stage(run, workload, tmp_path, text, told):
    (tmp_path / "sites.csv").write_text(text)
    (tmp_path / "m.csv").write_text("source,target,cost\nx,y,3\n")
    files = ("--costs", tmp_path / "m.csv", "--sites", tmp_path / "sites.csv", "--local", 1)
    words = ("run", workload, "--algorithm", "gr-maw", *files, "--out", tmp_path / "r")
    wrong(run(*words), told)
    assert not (tmp_path / "r").exists()


def test_pairs_with_two_costs_or_none_are_told(run, workload, brokers, tmp_path):
    odd = matrix(tmp_path / "odd.csv", [[0, 8, 80], [2, 0, ""], ["", "", 0]])
    words = ("--costs", odd, "--sites", brokers, "--local", 1, "--missing", "path", "--symmetrise", "max")
    code, out, _ = build(run, workload, *words)
    told = " ".join(out.split())
    assert code == 0
    assert (
        "Note: 1 pair costs more in one direction than in the other, by up to 75%; taken is the max" in told
    )
    assert "filled: 1 from the other direction and 1 from the cheapest path (--missing)." in told


def test_nothing_is_told_of_costs_that_are_whole(run, workload, between, brokers):
    assert "Note:" not in build(run, workload, "--costs", between, "--sites", brokers, "--local", 1)[1]
