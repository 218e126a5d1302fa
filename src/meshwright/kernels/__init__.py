"""Numba kernels: arrays in, arrays out; no I/O, no errors, no Python objects."""
