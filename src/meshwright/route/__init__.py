"""Carrying publications over an overlay: protocols without I/O, and kernels that count the same faster."""

from meshwright.route.measures import Routing
from meshwright.route.routing import route

__all__ = ["Routing", "route"]
