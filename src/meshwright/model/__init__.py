"""Interests and overlays: frozen, checked when made, in memory and on disk."""

from meshwright.model.dataset import read_manifest
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay

__all__ = ["Interests", "Overlay", "read_manifest"]
