"""The laws of popularity that the papers draw topics by."""

from collections.abc import Callable, Mapping

from meshwright import workloads
from meshwright.model.interests import Interests

LAWS: Mapping[str, Callable[..., Interests]] = {
    "unif": workloads.unif,
    "zipf": workloads.zipf,
    "expo": workloads.expo,
}
