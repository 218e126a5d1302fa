"""Settings of the whole suite."""

import gc
import os
import signal
import threading

# Threads of OpenBLAS spin until they get work, in every process that a test starts; NumPy reads this once.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
from hypothesis import HealthCheck, settings

from meshwright.runtime import progress
from tests.compile_once import compile_once

# Collecting tests makes many objects and hardly any garbage.
gc.disable()

# Which test has to compile a kernel depends on those before it, and how long a stage takes on the machine;
# what commands say must not.
progress._SHOWN_AFTER_SECONDS = float("inf")
progress.FIRST_LINE_SECONDS = threading.TIMEOUT_MAX

# The first example of a property may compile a kernel, which no deadline and no health check should count.
settings.register_profile(
    "local", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=40
)
settings.register_profile("thorough", settings.get_profile("local"), max_examples=1_000)
settings.register_profile("ci", settings.get_profile("local"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

# A shell lets what it runs in the background ignore Ctrl-C, which tests send to themselves and to others.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        compile_once(config.cache.mkdir("kernels"))


def pytest_collection_finish() -> None:
    # The tests themselves, some 8,500, are never garbage: whoever collects that need not look at them.
    gc.collect()
    gc.freeze()
    gc.enable()
    # As commands have it, which tests call in this process.
    gc.set_threshold(10_000)


_COMPILERS = ("contract/test_registry.py", "maintain/test_maintainer.py")
_KERNELS_ON_SPARK = tuple(
    f"test_{name}.py" for name in ("build", "compare", "demo", "evaluate", "recorded", "run")
)


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep together what shares something costly, where tests run in several processes.

    Tests on a Spark session take longest. They are two groups, so that no process is left with them at the
    end; a third Java would take 25 s of processor time to get up to speed. First go those that need few
    kernels. Beside them go tests that compile most kernels, which the others then find on disk. Of the rest,
    those of a file go together, which share its fixtures.
    """
    items.sort(key=lambda item: _turn_and_group(item)[0])
    for item in items:
        item.add_marker(pytest.mark.xdist_group(_turn_and_group(item)[1]))


def _turn_and_group(item: pytest.Item) -> tuple[int, str]:
    file = item.nodeid.partition("::")[0]
    if item.path.as_posix().endswith(_COMPILERS):
        return 1, file
    if "spark" in getattr(item, "fixturenames", ()):
        kernels = item.path.name in _KERNELS_ON_SPARK
        return (2, "kernels on Spark") if kernels else (0, "Spark")
    return (3 if "spark" in item.path.parts else 4), file
