"""The reason that the study gives where the ratio of diameters differs."""

from meshwright.studies.divide_and_conquer.bulk import figure_10a


def test_the_diameter_of_dc_grows_away_from_that_of_dcbc_with_the_nodes():
    ratios = [found["dc"][1] / found["dcbc"][1] for found in (figure_10a(n, seed=1) for n in (1_000, 10_000))]
    assert 1 < ratios[0] < ratios[1] < 3
