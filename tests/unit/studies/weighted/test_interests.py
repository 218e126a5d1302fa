"""What the study of costs says over interests."""

import pytest

from meshwright.studies.weighted import interests


@pytest.mark.parametrize(
    ("costs", "least"),
    [
        ({"gr-maw": 1.0, "pd-maw": 2.0, "tr-maw": 8.0}, 2.0),
        ({"gr-maw": 1.0, "pd-maw": 8.0, "tr-maw": 2.0}, 0.25),
        ({"gr-maw": 4.0, "pd-maw": 2.0, "tr-maw": 8.0}, 0.5),
    ],
)
def test_the_order_of_costs_is_that_of_all_three_algorithms(costs, least, monkeypatch):
    monkeypatch.setattr(interests, "cost", lambda case, name: costs[name])
    assert interests._least_ratio(["a case", "another"]) == least
