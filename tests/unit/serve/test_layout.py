from dataclasses import replace

import numpy as np
import pyarrow as pa

from meshwright.building import build
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.serve.layout import SIDE, drawn, layout_of


def ring(count: int) -> Overlay:
    pairs = [(f"n{node:03d}", f"t{topic % count}") for node in range(count) for topic in (node, node + 1)]
    return build(Interests.from_pairs(pairs), "gm")


def test_nodes_few_links_apart_are_nearer_than_others() -> None:
    overlay = ring(60)
    where = np.array(list(layout_of(overlay).position_of.values()), float)
    assert where.min() >= 0
    assert where.max() <= SIDE
    linked = np.linalg.norm(where[overlay.edges[:, 0]] - where[overlay.edges[:, 1]], axis=1).mean()
    others = np.linalg.norm(where[:, None] - where[None], axis=2).mean()
    assert linked < others / 3


def test_nodes_keep_their_positions_while_others_come_and_go() -> None:
    before = layout_of(ring(60))
    pairs = [(f"n{node:03d}", f"t{topic % 62}") for node in range(5, 62) for topic in (node, node + 1)]
    later = build(Interests.from_pairs(pairs), "gm")
    after = layout_of(later, before)
    kept = before.position_of.keys() & after.position_of.keys()
    assert len(kept) == 55
    assert all(before.position_of[name] == after.position_of[name] for name in kept)
    assert len(set(after.position_of.values())) > 50


def test_known_places_are_on_a_map_of_the_world() -> None:
    overlay = ring(4)
    table = pa.table({"lat": [90.0, -90.0, 0.0, None], "lon": [-180.0, 180.0, 0.0, None]})
    placed = replace(overlay, interests=replace(overlay.interests, node_attributes=table))
    found = layout_of(placed)
    assert found.by_places
    assert [found.position_of[f"n00{node}"] for node in range(3)] == [
        (0, SIDE // 4),
        (SIDE, 3 * SIDE // 4),
        (SIDE // 2, SIDE // 2),
    ]


def test_what_is_drawn_fits_together_for_every_size() -> None:
    for count in (1, 2, 3, 7):
        overlay = ring(count)
        found = drawn(overlay, layout_of(overlay))
        assert len(found["names"]) == len(found["x"]) == len(found["y"]) == len(found["degrees"]) == count
        assert sum(found["degrees"]) == len(found["links"]) == 2 * len(overlay)
