import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from meshwright.workloads import expo, grid, unif, zipf

counts = st.integers(0, 40)
seeds = st.integers(0, 2**63)


@st.composite
def size_options(draw, topics):
    kind = draw(st.sampled_from(["default", "fixed", "independent", "power law"]))
    if kind == "default":
        return {}
    if kind == "power law":
        low = draw(st.integers(1, topics))
        return {
            "min_subscriptions": low,
            "max_subscriptions": draw(st.integers(low, topics)),
            "size_exponent": draw(st.floats(0, 1_000)),
        }
    return {"subscriptions": draw(st.integers(0, topics)), "independent": kind == "independent"}


@st.composite
def laws(draw):
    return draw(
        st.sampled_from(
            [
                (unif, {}),
                (zipf, {"alpha": draw(st.floats(0, 20, exclude_min=True))}),
                (expo, {"decay": draw(st.floats(0, 500, exclude_min=True))}),
            ]
        )
    )


def assert_well_formed(interests, nodes, topics):
    assert (interests.node_count, interests.topic_count) == (nodes, topics)
    assert (interests.indptr.dtype, interests.topic_ids.dtype) == (np.int64, np.int32)
    for node in range(nodes):
        row = interests.topic_ids[interests.indptr[node] : interests.indptr[node + 1]]
        assert (np.diff(row) > 0).all()
        assert ((row >= 0) & (row < topics)).all()


@given(st.data(), laws(), counts, st.integers(1, 40), seeds)
@settings(deadline=None)
def test_every_legal_option_gives_sizes_within_the_bounds_and_the_same_again(data, law, nodes, topics, seed):
    make, slope = law
    options = {**slope, **data.draw(size_options(topics)), "seed": seed}
    interests = make(nodes, topics, **options)
    assert_well_formed(interests, nodes, topics)
    sizes = np.diff(interests.indptr)
    low, high = min(10, topics), min(150, topics)
    if not options.get("independent"):
        assert (sizes >= options.get("min_subscriptions", options.get("subscriptions", low))).all()
        assert (sizes <= options.get("max_subscriptions", options.get("subscriptions", high))).all()
    again = make(nodes, topics, **options)
    np.testing.assert_array_equal(interests.indptr, again.indptr)
    np.testing.assert_array_equal(interests.topic_ids, again.topic_ids)


grid_options = st.fixed_dictionaries(
    {},
    optional={
        "max_copies": st.integers(1, 20),
        "copies_exponent": st.floats(0, 1_000),
        "radius_exponent": st.floats(0, 1_000),
        "min_radius": st.floats(1e-3, 1),
        "max_radius": st.floats(1, 1e6),
        "torus": st.booleans(),
        "seed": seeds,
    },
)


@given(counts, st.integers(1, 40), grid_options)
@settings(deadline=None)
def test_every_legal_grid_is_well_formed_and_the_same_again(nodes, topics, options):
    interests, again = grid(nodes, topics, **options), grid(nodes, topics, **options)
    assert_well_formed(interests, nodes, topics)
    np.testing.assert_array_equal(interests.indptr, again.indptr)
    np.testing.assert_array_equal(interests.topic_ids, again.topic_ids)
