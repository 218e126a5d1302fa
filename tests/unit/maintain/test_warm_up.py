import subprocess
import sys

import pytest

from tests.patience import PATIENCE

SCRIPT = """
import importlib, pkgutil, sys
import meshwright as mw
from meshwright import kernels
from meshwright.maintain.maintainer import Maintainer
from meshwright.maintain.warm_up import rehearse

names = [found.name for found in pkgutil.walk_packages(kernels.__path__, "meshwright.kernels.")]
modules = [importlib.import_module(name) for name in names]

def compiled():
    found = {f"{module.__name__}.{name}": value for module in modules for name, value in vars(module).items()}
    return {name: len(value.signatures) for name, value in found.items() if hasattr(value, "signatures")}

interests = mw.workloads.unif(40, 9, min_subscriptions=2, max_subscriptions=5, seed=1)
overlay, before = mw.build(interests, "gm"), compiled()
costs = None
if sys.argv[2] == "with costs":
    names = [*interests.nodes.to_pylist(), *(f"j{at:06d}" for at in range(60))]
    costs = mw.Costs.clusters({name: name[-1] for name in names}, inner=1, outer=3)
rehearse({"policy": sys.argv[1]}, with_costs=costs is not None)
live, rehearsed = Maintainer(overlay, policy=sys.argv[1], costs=costs), compiled()
assert rehearsed != before
for event in mw.workloads.churn(interests, 60, seed=2):
    live.apply([event])
assert compiled() == rehearsed, {name for name, count in compiled().items() if count != rehearsed[name]}
"""


@pytest.mark.parametrize("costs", ["with costs", "without"])
@pytest.mark.parametrize("policy", ["shadow", "naive"])
def test_after_a_rehearsal_no_repair_compiles_anything(policy, costs):
    command = [sys.executable, "-c", SCRIPT, policy, costs]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
