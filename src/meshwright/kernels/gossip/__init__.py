"""Kernels for views of all nodes at once."""
