"""`meshwright route`, and every way to ask it for what can't be."""

import json

import pytest

import meshwright as mw


@pytest.fixture(scope="module")
def overlays(tmp_path_factory):
    """Where a topic-connected overlay and a small world of the same interests are."""
    interests = mw.workloads.unif(60, 60, subscriptions=4, seed=1)
    folder = tmp_path_factory.mktemp("overlays")
    for name in ("gm", "gr-swico"):
        mw.build(interests, name).write(folder / name)
    return folder


@pytest.mark.parametrize(("name", "protocol"), [("gm", "flood"), ("gm", "tree"), ("gr-swico", "nsmf")])
def test_route_prints_what_the_library_counts(run, overlays, name, protocol):
    words = ("route", overlays / name, "--protocol", protocol, "--publications", 200, "--seed", 4, "--json")
    code, out, err = run(*words, "--loss", 0.05)
    assert (code, err) == (0, "")
    overlay = mw.Overlay.read(overlays / name)
    assert json.loads(out) == mw.route(overlay, protocol, 200, seed=4, loss=0.05).to_json()
    assert json.loads(run(*words, "--loss", 0.05, "--simulate")[1]) == json.loads(out)
    keys = (
        "publications delivered_fraction duplicates pure_forwards messages average_path_length maximum_load"
    )
    assert set(keys.split()) < json.loads(out).keys()


def test_route_prints_a_table_for_people(run, overlays):
    code, out, _ = run("route", overlays / "gr-swico", "--protocol", "nsmf", "--both-ways", "--failed", 0.1)
    assert code == 0
    assert "average path length" in out
    assert "1,000" in out


def test_route_takes_publications_from_a_file(run, overlays, tmp_path):
    interests = mw.Interests.read(overlays / "gm")
    topic = interests.topics_of("n07")[0]
    (tmp_path / "log.csv").write_text(f"topic,publisher\n{topic},n07\n")
    words = (
        "route",
        overlays / "gm",
        "--protocol",
        "flood",
        "--json",
        "--publications",
        tmp_path / "log.csv",
    )
    found = json.loads(run(*words)[1])
    assert found["publications"] == 1
    assert found["deliveries"] == len(interests.nodes_of(topic)) - 1


@pytest.mark.parametrize(
    ("name", "words", "message"),
    [
        (
            "gm",
            ["--protocol", "nsmf"],
            "the overlay of gm has no fingers; build one with chord, random-sw or",
        ),
        ("gr-swico", ["--protocol", "flood"], "the overlay is not topic-connected: "),
        ("gr-swico", ["--protocol", "tree"], "use nsmf if the overlay has fingers, or build an overlay"),
        ("gm", ["--protocol", "pigeon"], "--protocol is 'pigeon'; choose among flood, tree, nsmf"),
        ("gm", ["--protocol", "flood", "--publications", "-3"], "publications is -3"),
        (
            "gm",
            ["--protocol", "flood", "--publications", "some"],
            "give a whole number or a file that exists",
        ),
        ("gm", ["--protocol", "flood", "--loss", "2"], "loss is 2.0; give a fraction from 0 to 1"),
        ("gm", ["--protocol", "flood", "--both-ways"], "--both-ways applies only to the protocol nsmf"),
        ("gm", ["--protocol", "tree", "--tree", "cheapest"], "the overlay has none; use --tree shortest"),
    ],
)
def test_what_can_not_be_routed_is_refused_in_one_line(run, overlays, name, words, message):
    code, out, err = run("route", overlays / name, *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("lonely,n1", "row 1: topic 'lonely' has no subscribers"),
        ("x,n2", "row 1: 'n2' publishes on 'x', to which it does not subscribe"),
        ("zzz,n1", "row 1: there is no topic 'zzz' among the 2 topics"),
    ],
)
def test_publications_that_can_not_be_are_refused_with_file_and_row(run, tmp_path, row, message):
    interests = mw.Interests.from_pairs([("n0", "x"), ("n1", "x")], nodes=["n2"], topics=["lonely"])
    mw.build(interests, "gm").write(tmp_path / "o")
    (tmp_path / "log.csv").write_text(f"topic,publisher\n{row}\n")
    code, _, err = run("route", tmp_path / "o", "--protocol", "flood", "--publications", tmp_path / "log.csv")
    assert code == 2
    assert f"log.csv, {message}" in err


def test_a_small_world_is_built_evaluated_and_routed_by_the_command_line(run, overlays, tmp_path):
    words = ("build", overlays / "gm", "--algorithm", "gr-swico", "--out", tmp_path / "ring")
    code, out, _ = run(*words, "--set", "bits=20", "--set", "ties=farthest", "--seed", 3)
    assert code == 0
    assert "60 nodes" in out
    overlay = mw.Overlay.read(tmp_path / "ring")
    assert overlay == mw.build(
        mw.Interests.read(overlays / "gm"), "gr-swico", bits=20, ties="farthest", seed=3
    )
    assert mw.Fingers.of(overlay).space == 2**20
    code, out, _ = run("evaluate", tmp_path / "ring", "--json")
    assert code == 1  # not topic-connected
    assert 0 < json.loads(out)["tco_support_ratio"] < 1
    code, out, _ = run("route", tmp_path / "ring", "--protocol", "nsmf", "--json")
    assert (code, json.loads(out)["delivered_fraction"]) == (0, 1.0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["chord", "--set", "bits=5"], "bits is 5, which makes 32 identifiers for 60 nodes; give at least 6"),
        (["random-sw", "--set", "ties=random"], "choose among bits, placement, whole_phases"),
        (["gr-swico", "--set", "ties=x"], "ties is 'x'; choose among nearest, random, farthest"),
        (["gr-swico", "--reverse-delete"], "needs for routing; leave it out"),
    ],
)
def test_a_small_world_that_can_not_be_is_refused_in_one_line(run, overlays, tmp_path, words, message):
    code, out, err = run("build", overlays / "gm", "--out", tmp_path / "ring", "--algorithm", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_where_all_nodes_have_failed_nobody_publishes(run, overlays):
    code, _, err = run("route", overlays / "gm", "--protocol", "flood", "--failed", 1)
    assert code == 2
    assert (
        "no topic has a subscriber that could publish; give interests with subscribers, or let fewer" in err
    )
