"""Settings of the whole suite."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

# The first example of a property may compile a kernel, which no deadline and no health check should count.
settings.register_profile("local", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("local"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")

# A shell lets what it runs in the background ignore Ctrl-C, which tests send to themselves and to others.
signal.signal(signal.SIGINT, signal.default_int_handler)


_COMPILERS = ("contract/test_registry.py", "maintain/test_maintainer.py")
_KERNELS_ON_SPARK = ("test_evaluate.py", "test_build.py", "test_demo.py")


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep together what shares something costly, where tests run in several processes.

    Tests on a Spark session come first, since together they take longest: all but those of whole runs in one
    process, first those that need few kernels. Beside them go tests that compile most kernels, which the
    others then find on disk; then those of whole runs, and those that start a Spark of their own. Of the
    rest, those of a file go together, which share its fixtures and the kernels that they compile.
    """
    items.sort(key=_turn)
    for item in items:
        file = item.nodeid.partition("::")[0]
        item.add_marker(pytest.mark.xdist_group("spark" if _on_shared_spark(item) else file))


def _turn(item: pytest.Item) -> tuple[int, bool]:
    if _on_shared_spark(item):
        return 0, item.path.name in _KERNELS_ON_SPARK
    if item.path.as_posix().endswith(_COMPILERS):
        return 1, False
    return (2 if "spark" in item.path.parts else 3), item.path.name != "test_run.py"


def _on_shared_spark(item: pytest.Item) -> bool:
    return "spark" in getattr(item, "fixturenames", ()) and item.path.name != "test_run.py"
