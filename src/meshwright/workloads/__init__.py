"""Interests made up by a law: topics by popularity, or nodes and topics by place."""

from meshwright.workloads.sizes import Sizes
from meshwright.workloads.spatial import grid
from meshwright.workloads.synthetic import expo, unif, zipf

__all__ = ["Sizes", "expo", "grid", "unif", "zipf"]
