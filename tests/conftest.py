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


@pytest.hookimpl(tryfirst=True)  # before the groups are read
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep together what shares something costly, where tests run in several processes.

    Tests on a Spark session come first, since together they take longest: those of whole runs, a third of
    that time, in one process, all others in another; then those that start a Spark of their own. Of the rest,
    those of a file go together, which share its fixtures and the kernels that they compile.
    """
    items.sort(key=lambda item: (not _on_spark(item), "spark" not in item.path.parts))
    for item in items:
        file = item.nodeid.partition("::")[0]
        shared = _on_spark(item) and not file.endswith("test_run.py")
        item.add_marker(pytest.mark.xdist_group("spark" if shared else file))


def _on_spark(item: pytest.Item) -> bool:
    return "spark" in getattr(item, "fixturenames", ())
