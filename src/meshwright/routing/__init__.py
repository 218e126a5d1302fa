"""Carrying publications over an overlay: protocols without I/O, and kernels that count the same faster."""

from meshwright.routing.api import route
from meshwright.routing.measures import Routing

__all__ = ["Routing", "route"]
