"""`meshwright gossip`, and every way to ask it for what can't be."""

import json

import pytest

import meshwright as mw


@pytest.fixture(scope="module")
def workload(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gossip") / "workload"
    mw.workloads.grid(40, 6, seed=1).write(folder)
    return folder


@pytest.mark.parametrize("engine", ["rounds", "simulator"])
def test_gossip_prints_what_the_library_measures(run, workload, engine):
    words = ("gossip", workload, "--rounds", 3, "--ttl", 2, "--loss", 0.1, "--learn", "--engine", engine)
    code, out, err = run(*words, "--seed", 4, "--json")
    assert (code, err) == (0, "")
    options = mw.StanOptions(rounds=3, ttl=2, loss=0.1, learn=True)
    expected = mw.gossip(mw.Interests.read(workload), options, engine=engine, seed=4).to_json()
    assert json.loads(out) == json.loads(json.dumps(expected))
    promised = (
        "rounds logical_view_size initial_physical_view_size final_physical_view_size disconnected_topics "
        "initial_clustering_coefficient clustering_coefficient initial_diameter diameter"
    )
    assert set(promised.split()) < expected.keys()
    assert expected["distributions"]["physical_view_size"]["mean"] == expected["final_physical_view_size"]


def test_gossip_runs_on_sockets_and_prints_the_same_measures_and_what_sockets_took(run, workload):
    words = ("gossip", workload, "--rounds", 2, "--seed", 4, "--no-diameters", "--json")
    code, out, _ = run(*words, "--live", "--round-seconds", 0.3, "--processes", 3)
    assert code == 0
    found, expected = json.loads(out), json.loads(run(*words, "--engine", "simulator")[1])
    assert found["engine"] == "live"
    assert {name for name in found if not name.startswith("live_")} == expected.keys()
    assert found["logical_view_size"] == expected["logical_view_size"]
    assert found["live_connections_opened"] > 0
    code, _, err = run(*words, "--live", "--port", 65_530)
    assert code == 2
    assert "port 65530 leaves no port for node 39; give a smaller one, or none" in err
    code, _, err = run("gossip", workload, "--live", "--links", "random")
    assert code == 2
    assert "--links random sends no messages, so only --engine rounds can run it" in err


def test_gossip_prints_a_table_for_people(run, workload):
    code, out, _ = run("gossip", workload, "--links", "omniscient", "--no-diameters")
    assert code == 0
    assert "final physical view size" in out
    rows = {line.split("  ")[0].strip(): line.split() for line in out.splitlines()}
    assert rows["of a node"][3:] == ["mean", "25%", "50%", "75%", "90%", "99%", "most"]
    found = mw.gossip(
        mw.Interests.read(workload), mw.StanOptions(links="omniscient"), diameters=False
    ).distributions()["improvement_percent"]
    assert [float(word) for word in rows["improvement percent"][2:4]] == [
        pytest.approx(found[key], abs=0.05) for key in ("mean", "p25")
    ]


def test_gossip_writes_an_overlay_with_views(run, workload, tmp_path):
    code, out, _ = run("gossip", workload, "--rounds", 2, "--seed", 3, "--out", tmp_path / "o", "--json")
    assert code == 0
    overlay = mw.Overlay.read(tmp_path / "o")
    built = mw.build(mw.Interests.read(workload), "stan", seed=3, rounds=2)
    assert mw.Views.of(overlay).by_node() == mw.Views.of(built).by_node()
    assert overlay.facts["final_physical_view_size"] == json.loads(out)["final_physical_view_size"]
    assert "histogram" not in overlay.facts["distributions"]["in_views"]
    assert overlay.tables["views_by_node"].equals(built.tables["views_by_node"])
    code, _, err = run("gossip", workload, "--out", tmp_path / "o")
    assert code == 2
    assert "--force" in err or "force" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--engine", "warp"), "engine is 'warp'; choose among rounds, simulator"),
        (("--churn", 0.1), "--engine rounds has neither churn nor keep-alive"),
        (("--loss", 2), "loss is 2.0; give a fraction from 0 to 1"),
        (("--membership", "x"), "membership is 'x'; choose among random, scamp"),
        (("--rounds", -1), "rounds is -1; give a whole number of at least 0"),
        (("--ttl", 10**12), "ttl is 1000000000000; give a whole number from 0 to 1,000,000"),
        (
            ("--live", "--engine", "simulator"),
            "--engine has no effect with --live, which is an engine itself",
        ),
        (("--live", "--engine", "rounds"), "--engine has no effect with --live"),
        (("--round-seconds", 2), "--round-seconds has no effect without --live"),
        (("--processes", 2), "--processes has no effect without --live"),
        (("--port", 9000), "--port has no effect without --live"),
        (
            ("--live", "--round-seconds", 0),
            "a round takes 0.0 seconds (--round-seconds); give a number",
        ),
        (("--live", "--processes", 100_000), "processes is 100000; give a whole number from 1 to"),
        (
            ("--live", "--delay", 0.1),
            "--delay applies only to --engine simulator, since lock step has no delays",
        ),
        (("--delay", 0.1), "--delay applies only to --engine simulator"),
        (
            ("--links", "random", "--rounds", 3),
            "--rounds applies only to --links walks, since others send no walks",
        ),
        (("--links", "omniscient", "--learn"), "--learn applies only to --links walks"),
        (("--links", "random", "--engine", "simulator"), "--links random sends no messages"),
        (
            ("--connected", 0.9, "--view-size", 4),
            "--connected and --view-size both set the size of views",
        ),
        (("--membership", "scamp", "--view-size", 4), "--view-size applies only to --membership random"),
        (("--copies", 2), "--copies has no effect without --membership scamp, --churn or --keep-alive"),
        (
            ("--engine", "simulator", "--patience", 2),
            "--patience has no effect without --churn or --keep-alive",
        ),
    ],
)
def test_what_can_not_be_is_refused_in_one_line(run, workload, words, message):
    code, out, err = run("gossip", workload, *words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_options_that_were_not_given_are_no_obstacle(run, workload):
    words = ("--engine", "simulator", "--rounds", 1, "--no-diameters", "--json")
    trouble = ("--membership", "scamp", "--copies", 2, "--delay", 0.02, "--keep-alive", "--patience", 3)
    assert run("gossip", workload, *words, *trouble)[0] == 0
    assert run("gossip", workload, "--links", "random", "--view-size", 3, "--no-diameters", "--json")[0] == 0


def test_a_walk_may_be_longer_than_its_topic_is_large(run, workload):
    code, out, _ = run("gossip", workload, "--ttl", 1_000, "--rounds", 1, "--no-diameters", "--json")
    assert code == 0
    everybody = mw.gossip(mw.Interests.read(workload), mw.StanOptions(links="omniscient"), diameters=False)
    assert json.loads(out)["final_physical_view_size"] == everybody.final_physical_view_size


def test_gossip_writes_a_page_with_pictures(run, workload, tmp_path):
    page = tmp_path / "gossip.html"
    assert run("gossip", workload, "--rounds", 2, "--no-diameters", "--report", page, "--json")[0] == 0
    text = page.read_text("utf-8")
    assert "Views that share links" in text
    assert text.count("<svg") == 4


def test_gossip_explains_itself(run):
    code, out, _ = run("gossip", "--help")
    assert code == 0
    assert "meshwright gossip" in out
