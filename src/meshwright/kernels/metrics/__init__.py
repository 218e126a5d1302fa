"""Kernels that measure overlays."""
