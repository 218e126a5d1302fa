from dataclasses import replace

import numpy as np
import pytest

import meshwright as mw
from meshwright.studies.shadows.degrees import excess
from meshwright.studies.shadows.runs import Way, base, rebuilds, run, start
from meshwright.studies.shadows.study import SETTINGS

SMALL = SETTINGS["smoke"]


def test_low_oda_is_run_in_the_last_rounds_of_every_span_and_builds_what_it_builds_alone():
    found = rebuilds(SMALL, 1)
    last = SMALL.span - SMALL.rebuilt
    assert found.rounds.tolist() == [at + 1 for at in range(SMALL.rounds) if at % SMALL.span >= last]
    events = mw.workloads.churn(base(SMALL, 1).interests, SMALL.rounds, seed=1)
    live = mw.Maintainer(base(SMALL, 1), "rebuild", seed=1)
    live.apply(events)
    assert (live.maximum_degree, live.average_degree) == (found.maximum[-1], found.average[-1])


def test_degrees_of_low_oda_are_interpolated_from_the_beginning_on():
    once = replace(SMALL, span=SMALL.rounds, rebuilt=1)
    begin = np.bincount(base(once, 1).edges.ravel()).max()
    (end,) = rebuilds(once, 1).maximum
    low = [begin + (end - begin) * at / once.rounds for at in range(1, once.rounds + 1)]
    assert excess(once, Way(), "maximum")(1) == pytest.approx(np.mean(run(once, Way(), 1).maximum - low))


def test_a_run_leaves_the_beginning_as_it_was():
    before = start(SMALL, Way(), 1).snapshot()
    run(SMALL, Way(), 1)
    assert start(SMALL, Way(), 1).snapshot() == before


def test_a_shadow_set_is_no_smaller_than_the_backup_set():
    """The reason of shadows-figure-3-primal-dual-backups: so the mean of the former can't be less."""
    live = mw.Maintainer.restore(start(SMALL, Way(), 1).snapshot())
    for node in base(SMALL, 1).interests.nodes.to_pylist()[:50]:
        backups = len(live.backups_of(node))
        assert live.leave(node).shadows >= backups
