"""Interests and overlays: frozen, checked when made, in memory and on disk."""

from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.model.storage.manifest import read_manifest

__all__ = ["Interests", "Overlay", "read_manifest"]
