import numpy as np
import pytest

import meshwright as mw
from meshwright.construct.parts import dcbc_direct
from meshwright.kernels.core.topic_components import start_components
from meshwright.kernels.dual.unit_prices import unit_prices
from tests.helpers import interests_of

PARTS = {
    "dc": {"partitions": 3},
    "dcbc": {"partitions": 3, "bulk_limit": 20},
    "dcbc-direct": {"bulk_size": 30, "crowd": 60},
}


@pytest.fixture(scope="module")
def interests() -> mw.Interests:
    return mw.workloads.expo(300, 80, min_subscriptions=4, max_subscriptions=30, seed=2)


def test_the_topics_that_an_edge_connects_share_its_cost():
    interests = interests_of([{0, 1}, {0, 1, 2}, {0, 2}, {3}])
    ones = np.ones(4, np.int32)
    state = start_components(interests.indptr.copy(), interests.topic_ids.copy(), 4, ones, 0)
    edges = np.array([(0, 1), (1, 2), (0, 2)], np.int32)
    # Topic 0 pays two halves for two unions, the others half for one; the last edge connects nothing.
    assert unit_prices(state, edges).tolist() == [0.5, 0.5, 0.5, 1.0]
    state = start_components(interests.indptr.copy(), interests.topic_ids.copy(), 4, ones, 0)
    assert unit_prices(state, np.array([(0, 2), (0, 1), (1, 2)], np.int32)).tolist() == [0.75, 0.5, 1.0, 1.0]


@pytest.mark.parametrize("algorithm", PARTS)
def test_guided_overlays_have_fewer_links_where_popularity_is_unequal(interests, monkeypatch, algorithm):
    monkeypatch.setattr(dcbc_direct, "NODES_A_PART", 64)
    plain, guided = (
        [mw.build(interests, algorithm, seed=seed, guide=guide, **PARTS[algorithm]) for seed in range(2)]
        for guide in ("none", "dual")
    )
    assert all(mw.evaluate(overlay, diameters=False).topic_connected for overlay in guided)
    assert sum(map(len, guided)) < sum(map(len, plain))


@pytest.mark.parametrize("algorithm", PARTS)
def test_guided_overlays_do_not_depend_on_the_number_of_threads(interests, monkeypatch, algorithm):
    several = mw.build(interests, algorithm, guide="dual", **PARTS[algorithm])
    for module in ("runtime.parallel", "construct.parts.conquer", "construct.parts.dcbc"):
        monkeypatch.setattr(f"meshwright.{module}.cores", lambda: 1)
    assert mw.build(interests, algorithm, guide="dual", **PARTS[algorithm]) == several


def test_an_unknown_guide_is_refused_with_the_choices(interests):
    with pytest.raises(mw.OptionError, match=r"guide is 'lp'.*none.*dual"):
        mw.build(interests, "dc", guide="lp")
