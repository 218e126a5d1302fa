"""Workloads from social graphs, sampled as [1], VIII-A, does."""

from pathlib import Path

from meshwright import Interests
from meshwright.studies.divide_and_conquer import social


def follows_sample(path: Path, nodes: int, seed: int) -> Interests:
    """A breadth-first sample of `nodes` users of a file of `follower followee` lines."""
    return social.sample(social.follows(path), nodes, seed)


def friendships(path: Path) -> Interests:
    """All users of a file of `u v` lines: friends subscribe to each other, and nobody to the own topic."""
    found = social.friendships(path)
    return social.sample(found, len(found.names), 0)
