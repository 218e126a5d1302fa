"""Interests made up by a law: topics by popularity, or nodes and topics by place; and churn among them."""

from meshwright.workloads.laws import Sizes
from meshwright.workloads.spatial import grid
from meshwright.workloads.synthetic import expo, unif, zipf
from meshwright.workloads.traces import churn, session_churn

__all__ = ["Sizes", "churn", "expo", "grid", "session_churn", "unif", "zipf"]
