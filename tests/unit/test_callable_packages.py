"""Functions and packages of one name, in every form of import."""

import importlib
import inspect
import pickle
import subprocess
import sys

import pytest

import meshwright as mw

NAMES = {"evaluate": "evaluation", "gossip": "running", "route": "routing"}


@pytest.mark.parametrize(("name", "module"), NAMES.items())
def test_a_package_is_its_function_and_its_modules_at_once(name, module):
    face = getattr(mw, name)
    inside = importlib.import_module(f"meshwright.{name}.{module}")
    function = getattr(inside, name)
    assert getattr(face, module) is inside
    assert inspect.signature(face) == inspect.signature(function)
    assert pickle.loads(pickle.dumps(face)) is face


def test_calling_a_package_calls_its_function():
    interests = mw.workloads.grid(20, 4, seed=1)
    overlay = mw.build(interests, "ring")
    assert mw.evaluate(overlay, diameters=False) == mw.evaluate.evaluation.evaluate(overlay, diameters=False)
    with pytest.raises(mw.InputError, match="gossip got a str; give Interests"):
        mw.gossip("interests")


@pytest.mark.parametrize(
    "statement",
    [
        "import meshwright.gossip.carrying as c",
        "from meshwright.gossip import carrying as c",
        "import meshwright, meshwright.gossip.carrying; c = meshwright.gossip.carrying",
        "from meshwright.gossip.carrying import carry_rounds; import meshwright.gossip.carrying as c",
    ],
)
def test_every_form_of_import_finds_the_module(statement):
    program = f"{statement}; import meshwright as mw; print(c.__name__, callable(mw.gossip))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["meshwright.gossip.carrying", "True"]
