"""A maintainer comes to the same state in every process, whatever the order of its sets of names."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import random
import meshwright as mw
from meshwright.maintain.maintainer import Maintainer
from meshwright.model.events import Event
chance = random.Random(3)
topics = [f"t{at}" for at in range(30)]
pairs = [(f"n{at}", topic) for at in range(12) for topic in chance.sample(topics, 3)]
interests = mw.Interests.from_pairs(pairs)
live = Maintainer(mw.build(interests, "gm"), policy="shadow")
present = {f"n{at}" for at in range(12)}
for at in range(150):
    node = f"n{chance.randrange(24)}"
    if node in present:
        live.apply([Event(at, "leave", node)])
    else:
        live.apply([Event(at, "join", node, tuple(chance.sample(topics, 4)))])
    present ^= {node}
import hashlib
print(hashlib.sha256(live.snapshot()).hexdigest())
"""


@pytest.fixture(scope="module")
def states():
    def state(seed: str) -> str:
        env = os.environ | {"PYTHONHASHSEED": seed}
        return subprocess.run([sys.executable, "-c", SCRIPT], env=env, check=True, capture_output=True).stdout

    return [state(seed) for seed in ("1", "2")]


def test_the_state_does_not_depend_on_the_hash_seed(states):
    assert len(set(states)) == 1
