"""Awkward interests; every algorithm is tried on each."""

from meshwright.testing import AWKWARD

__all__ = ["AWKWARD"]
