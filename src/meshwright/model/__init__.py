"""Interests and overlays: frozen, checked when made, in memory and on disk."""
