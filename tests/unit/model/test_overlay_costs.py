import numpy as np
import pytest

import meshwright as mw
from meshwright.model.overlay import costs_of, priced


@pytest.fixture
def overlay():
    interests = mw.Interests.from_pairs([(node, "x") for node in "abcd"])
    return mw.Overlay.from_edges(interests, [("a", "b"), ("c", "a"), ("c", "d")], [7, 7, 7])


FORMS = {
    "matrix": mw.Costs.from_matrix(1 + np.arange(25).reshape(5, 5), list("edcba")),
    "sites": mw.Costs.sites(
        mw.Costs.from_matrix([[0, 9], [9, 0]], ["s", "t"]), dict(zip("abcd", "stst", strict=True)), local=2
    ),
    "clusters": mw.Costs.clusters(dict(zip("abcde", "sstts", strict=True)), inner=1, outer=5),
    "distances": mw.Costs.coordinates({node: (10 * at, 7) for at, node in enumerate("abcd")}, base=1),
}


@pytest.mark.parametrize("form", FORMS)
def test_an_overlay_is_priced_by_costs_and_remembers_them(overlay, form):
    own = FORMS[form].of(overlay.interests)
    found = priced(overlay, FORMS[form])
    assert found.edges.tolist() == overlay.edges.tolist()
    assert found.costs.tolist() == own.between(overlay.edges[:, 0], overlay.edges[:, 1]).tolist()
    assert costs_of(found) == own


def test_an_overlay_whose_links_only_have_a_number_knows_no_costs(overlay):
    assert costs_of(overlay) is None


def test_an_overlay_that_lost_the_tables_of_its_costs_is_refused(overlay):
    found = priced(overlay, FORMS["sites"])
    lost = mw.Overlay(found.interests, found.edges, found.costs, found.facts, {})
    with pytest.raises(mw.DatasetError, match="no table 'cost_nodes'"):
        costs_of(lost)


def test_places_on_the_globe_can_be_told_again():
    places = {"north": (90.0, 0.0), "x": (-33.9, 151.2), "y": (40.7, -74.0), "z": (0.0, 180.0)}
    found = mw.Costs.coordinates(places, base=1).degrees()
    assert found.tolist() == [pytest.approx(place, abs=1e-9) for place in places.values()]
    assert FORMS["matrix"].degrees() is None
