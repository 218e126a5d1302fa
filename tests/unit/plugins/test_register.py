from dataclasses import dataclass

import numpy as np
import pytest
from typer.testing import CliRunner

import meshwright as mw
from meshwright.cli import app

INTERESTS = mw.workloads.unif(20, 5, subscriptions=2, seed=1)


@dataclass(frozen=True, kw_only=True)
class Unwritable:
    where: object = len


def algorithm(edges, **about):
    """One that returns these edges, or what a function makes of the interests."""

    def work(interests, costs, options, seed, progress):
        return edges(interests) if callable(edges) else mw.Built(edges=edges)

    return mw.Algorithm(summary="for tests", load=work, **{"topic_connected": False} | about)


@pytest.fixture
def register():
    """Register an algorithm as "toy" for one test."""

    def add(*given, **about):
        mw.register("toy", algorithm(*given, **about))

    yield add
    if "toy" in mw.algorithms():
        mw.unregister("toy")


def test_a_registered_function_builds_an_overlay_that_names_where_it_comes_from(register):
    register([[0, 1], [3, 2]])
    overlay = mw.build(INTERESTS, "toy", seed=3)
    assert overlay.edges.tolist() == [[0, 1], [2, 3]]
    assert overlay.facts["package"] == __name__
    assert mw.algorithms()["toy"].summary == "for tests"


def test_options_of_a_registered_algorithm_are_checked_and_handed_over(register):
    @dataclass(frozen=True, kw_only=True)
    class Options:
        count: int = 1

    def work(interests, costs, options, seed, progress):
        return mw.Built(edges=[[0, at + 1] for at in range(options.count)])

    mw.register("toy", mw.Algorithm(summary="x", load=work, options=Options, topic_connected=False))
    assert len(mw.build(INTERESTS, "toy", count=4)) == 4
    with pytest.raises(mw.OptionError, match="there is no option 'size'; choose among count"):
        mw.build(INTERESTS, "toy", size=4)


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ([[0, 20]], r"edge \[0, 20\] names an id outside 0 to 19"),
        ([[-1, 2]], r"edge \[-1, 2\] names an id outside 0 to 19"),
        ([[1, 1]], "an edge joins .* to itself"),
        ([[0, 1, 2]], r"edges has shape \(1, 3\); give \(m, 2\)"),
        ([0, 1], r"edges has shape \(2,\); give \(m, 2\)"),
        (np.array([[0.0, 1.5]]), "edges is of type float64; give int32"),
        (np.array([[0, 2**40]]), "edges has values beyond 2147483647"),
        ([["a", "b"]], "edges is of type <U1; give int32"),
        ([[0, 1], [0]], "inhomogeneous"),
        ([[0, 1], [1, 2], [1, 0]], "returned 1 of its edges twice; it has to return each edge once"),
    ],
)
def test_edges_that_no_overlay_can_have_are_an_error_that_names_the_plugin(register, edges, words):
    register(edges)
    with pytest.raises(mw.PluginError, match=rf"toy \('toy', registered by a call, of {__name__}\).*{words}"):
        mw.build(INTERESTS, "toy")


def test_a_broken_promise_to_connect_topics_names_the_plugin_and_a_topic(register):
    register([[0, 1]], topic_connected=True)
    with pytest.raises(mw.PluginError, match=r"toy \(.*\) promises to connect .* topic '.*' is in"):
        mw.build(INTERESTS, "toy")


def test_who_promises_nothing_may_leave_topics_apart(register):
    register([])
    assert len(mw.build(INTERESTS, "toy")) == 0


def test_what_is_no_built_is_refused(register):
    register(lambda interests: [[0, 1]])
    with pytest.raises(mw.PluginError, match=r"returned a list; it has to return meshwright\.Built"):
        mw.build(INTERESTS, "toy")


def test_facts_that_are_not_json_are_refused(register):
    register(lambda interests: mw.Built(edges=[], facts={"x": object()}))
    with pytest.raises(mw.PluginError, match="returned an invalid overlay: facts"):
        mw.build(INTERESTS, "toy")


def test_an_exception_of_the_algorithm_names_the_plugin_and_keeps_its_cause(register):
    register(lambda interests: 1 / 0)
    with pytest.raises(mw.PluginError, match="failed: ZeroDivisionError: division by zero") as seen:
        mw.build(INTERESTS, "toy")
    assert isinstance(seen.value.__cause__, ZeroDivisionError)


def test_an_error_of_meshwright_that_the_algorithm_raises_passes(register):
    def refuse(interests):
        raise mw.CapacityError("too large; take another")

    register(refuse)
    with pytest.raises(mw.CapacityError, match="too large"):
        mw.build(INTERESTS, "toy")


@pytest.mark.parametrize("seed", [-1, 1.5, True, "0"])
def test_a_seed_that_is_no_whole_number_is_refused_for_every_algorithm(register, seed):
    register([])
    with pytest.raises(mw.OptionError, match="seed is"):
        mw.build(INTERESTS, "toy", seed=seed)


def test_a_name_that_is_taken_is_refused_with_its_owner(register):
    with pytest.raises(mw.PluginError, match="'gm' is already taken by a built-in algorithm of meshwright"):
        mw.register("gm", algorithm([]))
    register([])
    with pytest.raises(
        mw.PluginError, match=rf"'toy' is already taken by 'toy', registered by .* {__name__}"
    ):
        register([])


@pytest.mark.parametrize(
    ("name", "given", "words"),
    [
        ("Toy", algorithm([]), "has a name with characters other than lower-case letters"),
        ("a.b", algorithm([]), "has a name with characters other than lower-case letters"),
        ("toy", len, "is a builtin_function_or_method, not a meshwright.Algorithm"),
        ("toy", algorithm([], kind="magic"), "is of kind 'magic', not 'build' or 'merge'"),
        ("toy", mw.Algorithm(summary="x", load="nowhere"), "has load='nowhere', not a function or"),
        (
            "toy",
            algorithm([], options=Unwritable),
            "has options that are not a dataclass in which every field has a default",
        ),
        (
            "toy",
            algorithm([], options=dict),
            "has options that are not a dataclass in which every field has a default",
        ),
    ],
)
def test_what_is_no_proper_algorithm_is_refused_when_it_is_registered(name, given, words):
    with pytest.raises(mw.PluginError, match=words):
        mw.register(name, given)
    assert name not in mw.algorithms()


def test_a_module_that_is_not_there_is_an_error_that_names_the_plugin(register):
    mw.register("toy", mw.Algorithm(summary="x", load="no_such_module:work"))
    with pytest.raises(mw.PluginError, match=r"toy .* failed: ModuleNotFoundError: .*no_such_module"):
        mw.build(INTERESTS, "toy")


def test_only_registered_algorithms_can_be_unregistered():
    with pytest.raises(mw.OptionError, match="'gm' was not added by register"):
        mw.unregister("gm")


def test_an_unknown_algorithm_is_refused_with_near_misses():
    with pytest.raises(mw.OptionError, match=r"no algorithm 'low-od' to build with; did you mean low-oda\?"):
        mw.build(INTERESTS, "low-od")


def halves():
    names = INTERESTS.nodes.to_pylist()
    pairs = list(INTERESTS.to_pairs())
    return [
        mw.build(mw.Interests.from_pairs([pair for pair in pairs if pair[0] in part], nodes=part), "ring")
        for part in (names[::2], names[1::2])
    ]


def test_a_registered_merge_keeps_what_it_was_given(register):
    def work(union, costs, options, seed, progress):
        return mw.Built(edges=union.edges)

    mw.register("toy", mw.Algorithm(summary="x", kind="merge", load=work, topic_connected=False))
    assert len(mw.merge(halves(), "toy")) == sum(map(len, halves()))


def test_a_merge_that_drops_edges_is_an_error_that_names_the_plugin(register):
    def work(union, costs, options, seed, progress):
        return mw.Built(edges=union.edges[1:])

    mw.register("toy", mw.Algorithm(summary="x", kind="merge", load=work))
    with pytest.raises(mw.PluginError, match=r"toy .* did not keep the edges that it was given"):
        mw.merge(halves(), "toy")


def test_a_merge_that_leaves_a_topic_in_parts_is_an_error_that_names_the_plugin(register):
    def work(union, costs, options, seed, progress):
        return mw.Built(edges=union.edges)

    mw.register("toy", mw.Algorithm(summary="x", kind="merge", load=work))
    with pytest.raises(
        mw.PluginError, match=r"toy .* promises to connect every topic, but topic .* is in 2 parts"
    ):
        mw.merge(halves(), "toy")


def test_a_merge_need_not_connect_what_its_overlays_leave_apart(register):
    def work(union, costs, options, seed, progress):
        return mw.Built(edges=union.edges)

    mw.register("toy", mw.Algorithm(summary="x", kind="merge", load=work))
    apart = mw.Interests.from_pairs([("a", "news"), ("b", "news")])
    other = mw.Interests.from_pairs([("c", "art"), ("d", "art")])
    overlays = [mw.Overlay.from_arrays(apart, np.empty((0, 2), np.int32)), mw.build(other, "gm")]
    assert len(mw.merge(overlays, "toy")) == 1


def test_an_algorithm_that_ends_the_program_is_an_error_that_names_the_plugin(register):
    def leave(interests):
        raise SystemExit(0)

    register(leave)
    with pytest.raises(mw.PluginError, match=r"toy .* failed: SystemExit: 0"):
        mw.build(INTERESTS, "toy")


def test_what_an_algorithm_prints_goes_to_stderr(register, capsys):
    def talk(interests):
        print("hello")
        return mw.Built(edges=[[0, 1]])

    register(talk)
    mw.build(INTERESTS, "toy")
    assert capsys.readouterr() == ("", "hello\n")


def test_a_link_whose_ends_share_no_topic_is_an_error_where_topics_are_promised(register):
    apart = mw.Interests.from_pairs([("a", "news"), ("b", "art"), ("c", "art")])
    register([[0, 1], [1, 2]], topic_connected=True)
    with pytest.raises(mw.PluginError, match=r"toy .* links 'a' and 'b', which share no topic; leave such"):
        mw.build(apart, "toy")
    mw.unregister("toy")
    register([[0, 1], [1, 2]])
    assert len(mw.build(apart, "toy")) == 2


def test_registering_a_name_again_says_how_to_remove_it(register):
    register([[0, 1]])
    with pytest.raises(mw.PluginError, match=r"choose another name, or call unregister\('toy'\) first"):
        register([[0, 1]])


def test_the_command_merges_by_an_algorithm_that_counts_nothing(register, tmp_path):
    def work(union, costs, options, seed, progress):
        return mw.Built(edges=union.edges)

    mw.register("toy", mw.Algorithm(summary="x", kind="merge", load=work, topic_connected=False))
    for at, overlay in enumerate(halves()):
        overlay.write(tmp_path / f"{at}")
    folders = [str(tmp_path / name) for name in ("0", "1", "merged")]
    done = CliRunner().invoke(app, ["merge", *folders[:2], "--algorithm", "toy", "--out", folders[2]])
    assert done.exit_code == 0, done.output
    assert "0 new links" in done.output
