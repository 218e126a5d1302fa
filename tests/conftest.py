"""Settings of the whole suite."""

import os

from hypothesis import HealthCheck, settings

# The first example of a property may compile a kernel, which no deadline and no health check should count.
settings.register_profile("local", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("local"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")
