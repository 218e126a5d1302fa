"""The protocols in the simulator, with loss, delay, churn and awkward universes."""

import numpy as np
import pytest

import meshwright as mw
from meshwright.metrics.views import count_links, measure_fitness
from meshwright.net import Simulator, What
from meshwright.stan.api import first_views
from meshwright.stan.local_views import Weights, node_keys, snapshot
from meshwright.stan.messages import TrafficCounter
from meshwright.stan.options import SimulationOptions, StanOptions
from meshwright.stan.peer import Settings, make_peers
from meshwright.stan.simulation import Scene, carry_rounds, run_simulation, scamp_views


@pytest.fixture(scope="module")
def interests():
    return mw.workloads.grid(50, 8, seed=5)


def course(interests, options=None, conditions=None, engine="simulator", seed=0):
    return mw.gossip(
        interests,
        StanOptions(**options or {}),
        SimulationOptions(**conditions or {}),
        engine=engine,
        seed=seed,
    )


def test_the_same_seed_gives_the_same_run_and_another_seed_another(interests):
    once, again, other = (
        course(interests, {"loss": 0.1, "rounds": 3}, {"churn": 0.1}, seed=seed) for seed in (1, 1, 2)
    )
    assert once == again
    assert once.by_round == again.by_round
    assert once != other


def test_logical_views_keep_their_size_and_physical_ones_shrink(interests):
    found = course(interests)
    assert {at.logical_view_size for at in found.by_round} == {found.logical_view_size}
    assert [at.round for at in found.by_round] == list(range(9))
    sizes = [at.physical_view_size for at in found.by_round]
    assert sizes[0] == found.initial_physical_view_size > 1.2 * sizes[-1]
    assert np.array_equal(found.counts[0].logical, found.counts[1].logical)


def test_simulator_and_rounds_agree_on_average():
    by_engine = {}
    for engine in ("rounds", "simulator"):
        runs = [
            course(mw.workloads.grid(seed=seed), {"ttl": 3}, engine=engine, seed=seed) for seed in range(3)
        ]
        by_engine[engine] = np.mean([[at.physical_view_size for at in run.by_round] for run in runs], axis=0)
    assert by_engine["rounds"] == pytest.approx(by_engine["simulator"], rel=0.06)
    assert by_engine["rounds"][-1] == pytest.approx(by_engine["simulator"][-1], rel=0.02)


@pytest.mark.parametrize("loss", [0.05, 0.2])
def test_views_converge_under_loss(interests, loss):
    sizes = [at.physical_view_size for at in course(interests, {"loss": loss, "rounds": 12}).by_round]
    assert sizes[-1] < sizes[4] < sizes[0]


def test_under_churn_peers_that_are_gone_are_replaced_and_topics_stay_connected(interests):
    found = course(interests, {"rounds": 10, "learn": True}, {"churn": 0.04})
    assert found.nodes == 48
    assert found.upkeep_messages > 0
    assert found.final_physical_view_size < 0.9 * found.initial_physical_view_size
    assert found.logical_view_size == pytest.approx(found.initial_logical_view_size, rel=0.25)
    assert found.disconnected_topics <= 1
    there = found.view_table().to_pandas().query("topics > 0 or lvs_before == 0")
    assert len(there) == found.nodes
    assert found.logical_view_size == pytest.approx(there["lvs_after"].mean())
    assert found.in_view_deviation == pytest.approx(there["in_views_after"].std(ddof=0))


def test_a_node_that_dies_mid_walk_costs_that_walk_alone(interests):
    views = first_views(interests, StanOptions(), SimulationOptions(), 0)
    walks = []
    simulator = Simulator(
        make_peers(views.by_node(), Weights(node_keys(interests)), Settings(ttl=3)),
        delay=0.1,
        watch=walks.append,
    )
    simulator.run(1.25)
    gone = [happening.target for happening in walks if happening.what is What.SENT][-3:]
    for node in gone:
        simulator.remove(node)
    simulator.run(4.0)
    assert any(happening.what is What.MISSED for happening in walks)
    after = snapshot(interests, simulator.protocols)
    assert not np.isin(after.peers, gone).any()
    late = [happening for happening in walks if happening.what is What.SENT and happening.time > 3]
    assert len({happening.source for happening in late}) > 30


def test_with_keep_alive_messages_some_of_who_is_in_nobodys_view_come_back():
    interests = mw.workloads.unif(120, 1, subscriptions=1)
    options = {"rounds": 20, "ttl": 1, "view_size": 6}
    without, with_them = (course(interests, options, {"keep_alive": flag}) for flag in (False, True))
    assert without.unreached_interests > 10
    assert with_them.unreached_interests < 0.8 * without.unreached_interests
    assert with_them.logical_view_size < 1.5 * without.logical_view_size


AWKWARD = {
    "none": ({}, ()),
    "nobody wants anything": ({"a": "", "b": ""}, ("x",)),
    "a topic of one": ({"a": "xy", "b": "x", "c": "x"}, ()),
    "two nodes": ({"a": "x", "b": "x"}, ()),
    "a view larger than the topic": (dict.fromkeys("abcd", "xy"), ()),
}


@pytest.mark.parametrize("engine", ["rounds", "simulator"])
@pytest.mark.parametrize("membership", ["random", "scamp"])
@pytest.mark.parametrize("shelf", AWKWARD)
def test_awkward_universes_do_no_harm(shelf, membership, engine):
    topics_of, topics = AWKWARD[shelf]
    pairs = [(node, topic) for node, own in topics_of.items() for topic in own]
    interests = mw.Interests.from_pairs(pairs, nodes=list(topics_of), topics=topics)
    found = course(interests, {"view_size": 50}, {"membership": membership}, engine)
    assert found.disconnected_topics == 0
    assert found.logical_view_size == found.initial_logical_view_size
    assert all(len(view) < len(topics_of) for own in found.after.by_node() for view in own.values())


@pytest.mark.parametrize("copies", [0, 3])
def test_scamp_views_grow_with_the_copies_and_the_logarithm_of_the_topic(copies):
    interests = mw.workloads.unif(150, 1, subscriptions=1)
    views = [scamp_views(interests, SimulationOptions(copies=copies), seed) for seed in range(3)]
    sizes = np.mean([count_links(own).logical.mean() for own in views])
    assert sizes == pytest.approx((copies + 1) * np.log(150), rel=0.35)
    if copies:
        assert all(measure_fitness(own, diameters=False).components[0] <= 3 for own in views)


def test_churn_is_refused_in_lock_step_and_unknown_engines_everywhere(interests):
    with pytest.raises(mw.OptionError, match="--engine rounds has neither churn nor keep-alive"):
        course(interests, {}, {"churn": 0.1}, "rounds")
    with pytest.raises(mw.OptionError, match="engine is 'warp'; choose among rounds, simulator"):
        course(interests, engine="warp")
    with pytest.raises(mw.InputError, match="gossip got a str; give Interests"):
        mw.gossip("workload")


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (StanOptions, {"rounds": -1}),
        (StanOptions, {"ttl": 1.5}),
        (StanOptions, {"connected": 1}),
        (StanOptions, {"connected": 0}),
        (StanOptions, {"view_size": 0}),
        (StanOptions, {"learn": "yes"}),
        (StanOptions, {"slowest": 0}),
        (StanOptions, {"loss": 1.1}),
        (StanOptions, {"links": "best"}),
        (SimulationOptions, {"membership": "none"}),
        (SimulationOptions, {"copies": -1}),
        (SimulationOptions, {"delay": 1}),
        (SimulationOptions, {"delay": "1"}),
        (SimulationOptions, {"churn": 1}),
        (SimulationOptions, {"patience": 0}),
        (SimulationOptions, {"keep_alive": 1}),
    ],
)
def test_options_out_of_range_are_refused_by_name(kind, options):
    with pytest.raises(mw.OptionError, match=next(iter(options))):
        kind(**options)


def test_delay_within_a_round_hardly_matters(interests):
    near, far = (course(interests, {"rounds": 6}, {"delay": delay}) for delay in (0.0, 0.1))
    assert far.final_physical_view_size == pytest.approx(near.final_physical_view_size, rel=0.05)


def test_run_simulation_tells_of_every_round(interests):
    told = []
    options, conditions = StanOptions(rounds=3), SimulationOptions()
    views = first_views(interests, options, conditions, 0)
    after, traffic = run_simulation(views, options, conditions, 0, lambda *given: told.append(given))
    assert [at for at, _, _ in told] == [0, 1, 2, 3]
    assert told[0][1] is views
    assert told[-1][1].by_node() == after.by_node()
    assert sum(each.messages for _, _, each in told) == traffic.messages
    assert (
        sum(each.walks for _, _, each in told) == traffic.walks == 3 * np.count_nonzero(np.diff(views.indptr))
    )


class Overrunning(Simulator):
    """Runs on for a while after the time it was given, as sockets do before anybody stops them."""

    def run(self, until=np.inf):
        super().run(until + 0.4)


@pytest.mark.parametrize("loss", [0.0, 0.1])
def test_a_carrier_that_runs_on_after_a_round_counts_as_one_that_stops_in_time(interests, loss):
    told, options, conditions = {}, StanOptions(rounds=3, loss=loss), SimulationOptions()
    for kind in (Simulator, Overrunning):
        scene = Scene(first_views(interests, options, conditions, 0), options, conditions, 0)
        counter, by_round = TrafficCounter(), []
        carrier = kind(scene.peers(), delay=0.01, loss=loss, watch=counter.note)
        _, total = carry_rounds(carrier, counter, scene, lambda *given, out=by_round: out.append(given[2]))
        told[kind] = [*by_round, total]
    assert told[Simulator] == told[Overrunning]
    assert told[Simulator][-1].walks == sum(told[Simulator][at].walks for at in (1, 2, 3))
