"""Interests and overlays: frozen, checked when made, in memory and on disk."""

from meshwright.model.interests import Interests
from meshwright.model.manifest import read_manifest
from meshwright.model.overlay import Overlay

__all__ = ["Interests", "Overlay", "read_manifest"]
