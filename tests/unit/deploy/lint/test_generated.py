"""Generated meshes: trees must be silent, and loops must not."""

import random
from pathlib import Path

import networkx as nx
import pytest

from meshwright.deploy.lint.linting import lint

_LOOPS = {"loop", "growing-loop", "both-ends"}
_LINES = (
    ["topic # both 0"],
    ["topic # both 1", "topic $SYS/broker/load/# in 0 load/ $SYS/broker/load/"],
    ["topic plant/# out 0", "topic commands/# in 0"],
    ["topic # both 0 here/ there/"],
    ['topic # out 0 "" up/', 'topic # in 0 "" down/'],
    ["topic +/temp both 0", "topic +/speed both 0"],
    ["bridge_protocol_version mqttv50", "topic a/# both 0", "topic b/# both 0"],
)
_SHARED = (
    ["topic # both 0"],
    ["topic a/# both 0"],
    ["topic +/x both 0", "topic b/# both 0"],
    ["topic a/x both 0"],
)


def _write(folder: Path, brokers: int, links: list[tuple[int, int, list[str]]]) -> None:
    for number in range(brokers):
        text = [f"listener {20000 + number} 127.0.0.1", "allow_anonymous true"]
        for at, (one, other, lines) in enumerate(links):
            if one == number:
                text += [f"connection link-{at}", f"address 127.0.0.1:{20000 + other}", *lines]
        (folder / f"b{number}.conf").write_text("\n".join(text) + "\n")


def _tree(chance: random.Random, brokers: int) -> list[tuple[int, int]]:
    tree = nx.random_labeled_tree(brokers, seed=chance.randrange(1 << 30))
    return [(one, other) if chance.random() < 0.5 else (other, one) for one, other in tree.edges]


@pytest.mark.parametrize("seed", range(200))
def test_a_tree_has_no_findings(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    brokers = chance.randrange(2, 30)
    links = [(one, other, chance.choice(_LINES)) for one, other in _tree(chance, brokers)]
    _write(tmp_path, brokers, links)
    assert lint([tmp_path]).findings == []


@pytest.mark.parametrize("seed", range(200))
def test_a_loop_in_a_mesh_is_found_with_a_witness_that_closes(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    brokers = chance.randrange(3, 30)
    links = [(one, other, chance.choice(_LINES)) for one, other in _tree(chance, brokers)]
    ring = chance.sample(range(brokers), chance.randrange(2, min(brokers, 6) + 1))
    for one, other in zip(ring, [*ring[1:], ring[0]], strict=True):
        ends = (one, other) if chance.random() < 0.5 else (other, one)
        links.append((*ends, chance.choice(_SHARED)))
    _write(tmp_path, brokers, links)
    found = [finding for finding in lint([tmp_path]).findings if finding.rule in _LOOPS]
    assert found
    for finding in found:
        assert finding.path[0].broker == finding.path[-1].broker
        assert finding.topic
