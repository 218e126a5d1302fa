"""Kernels that choose fingers on a ring."""
