"""Repairs within caps that differ from node to node."""

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pytest

import meshwright as mw
from meshwright.maintain import robust


def test_repairs_keep_to_the_caps_of_the_column_and_a_snapshot_remembers_them():
    interests = mw.workloads.unif(40, 8, subscriptions=3, seed=1)
    limits = pa.table({"max_links": pa.array([5] * 20 + [None] * 20, pa.int32())})
    overlay = mw.build(replace(interests, node_attributes=limits), "gm", resilience=2)
    live = mw.Maintainer(overlay, resilience=2, max_links="column")
    limited = set(interests.nodes.to_pylist()[:20])
    for at, node in enumerate(interests.nodes.to_pylist()[14:26]):
        repair = live.leave(node) if at % 2 else live.subscribe(node, ["t1", "t2", "t3", "t4"])
        now = live.overlay
        degrees = dict(zip(now.interests.nodes.to_pylist(), now.degrees().tolist(), strict=True))
        over = tuple(sorted(name for name in limited & degrees.keys() if degrees[name] > 5))
        assert (repair.over_max_links, over) == ((), ())
        assert mw.evaluate(now).cut_nodes_topics == len(repair.unprotected) == 0
    assert max(degrees[name] for name in degrees.keys() - limited) > 5
    assert mw.Maintainer.restore(live.snapshot()).options == live.options
    with pytest.raises(mw.OptionError, match="there is no node 'nobody' to limit by max_links"):
        mw.Maintainer(overlay, max_links={"nobody": 3})


@pytest.mark.parametrize(
    ("max_links", "plain"),
    [
        (np.int64(3), 3),
        ({"a": None, "b": np.int64(3)}, {"b": 3}),
        (MappingProxyType({"b": 3}), {"b": 3}),
        ({"a": None}, {}),
    ],
)
def test_caps_of_any_kind_are_kept_and_saved_as_plain_numbers(max_links, plain, tmp_path):
    overlay = mw.build(mw.Interests.from_pairs([(node, "t") for node in "abcde"]), "gm")
    options = {"max_links": max_links, "resilience": np.int64(2)}
    live = mw.Maintainer(overlay, **options)
    live.leave("c")
    assert mw.Maintainer.restore(live.snapshot()).options.max_links == plain
    for _ in range(2):
        with mw.Journal(tmp_path / "j", overlay, **options) as journal:
            assert journal.live.options.max_links == plain


def test_a_journal_continues_with_the_caps_of_the_column_and_refuses_others(tmp_path):
    interests = mw.Interests.from_pairs([(node, "t") for node in "abcde"])
    star = [("a", other) for other in "bcde"]

    def limited(cap):
        column = pa.table({"max_links": pa.array([cap, None, 3, None, None], pa.int32())})
        return mw.Overlay.from_edges(replace(interests, node_attributes=column), star)

    how = {"resilience": 2, "max_links": "column"}
    with mw.Journal(tmp_path / "j", limited(4), **how) as journal:
        journal.live.leave("a")  # the node of the column leaves, and keeps its cap
    for overlay in (limited(4), None):
        with mw.Journal(tmp_path / "j", overlay, **how) as journal:
            assert journal.live.options.max_links == {"a": 4, "c": 3}
    with mw.Journal(tmp_path / "j", max_links="column") as journal:  # what is not given is as it was
        assert journal.live.options.resilience == 2
    said = "with max_links=4 for node 'a', but max_links=2 for node 'a' was given"
    with pytest.raises(mw.DatasetError, match=said):
        mw.Journal(tmp_path / "j", limited(2), **how)
    with pytest.raises(mw.DatasetError, match="with max_links by node, but max_links=9 was given"):
        mw.Journal(tmp_path / "j", limited(4), resilience=2, max_links=9)


def test_a_resilience_that_is_not_kept_is_refused_as_by_build():
    overlay = mw.build(mw.Interests.from_pairs([(node, "t") for node in "abc"]), "gm")
    with pytest.raises(mw.OptionError, match=r"resilience is 4; .* failure of two nodes at once are not"):
        mw.Maintainer(overlay, resilience=4)


def test_what_would_drop_spares_or_exceed_caps_is_refused():
    interests = mw.Interests.from_pairs([(node, "t") for node in "abcd"])
    overlay = mw.build(interests, "gm", resilience=2)
    for options in ({"resilience": 2}, {"max_links": 3}):
        with pytest.raises(mw.OptionError, match="rebuild knows neither"):
            mw.Maintainer(overlay, "rebuild", **options)
        with pytest.raises(mw.OptionError, match="reoptimise needs a target if"):
            mw.Maintainer(overlay, **options).reoptimise()
        with pytest.raises(mw.OptionError, match="reoptimise knows neither"):
            mw.Maintainer(overlay, reoptimise=2, **options)


def test_a_relink_keeps_to_caps_and_spares():
    interests = mw.Interests.from_pairs([(node, "t") for node in "abcd"])
    ring = mw.Overlay.from_edges(interests, [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")])
    live = mw.Maintainer(ring, resilience=2, max_links={"a": 2, "c": 3})
    before = live.snapshot()
    with pytest.raises(mw.InputError, match="'a' may have 2 links, and has 2 before any of the new ones"):
        live.relink(add=[("a", "c")], remove=[("a", "b")])
    assert live.snapshot() == before
    assert live.relink(add=[("b", "d")], remove=[("a", "b"), ("b", "c")]).removed == ()
    assert (live.max_links_of("a"), live.max_links_of("b")) == (2, None)


def test_links_of_full_nodes_are_chosen_anew_where_that_brings_spares_back(monkeypatch):
    def lacking(seed):
        wants = np.random.default_rng(seed).random((16, 6)) < 0.4
        overlay = mw.build(mw.Interests.from_scipy(wants.astype(np.int32)), "gm")
        live = mw.Maintainer(overlay, max_links=4, resilience=2)
        assert mw.evaluate(live.overlay).cut_nodes_topics == len(live.unprotected)
        assert mw.evaluate(live.overlay).topic_connected
        return len(live.unprotected) + len(live.over_max_links)

    searched = [lacking(seed) for seed in range(12)]
    monkeypatch.setattr(robust, "_SEARCHES", 0)
    assert sum(searched) < sum(lacking(seed) for seed in range(12))
