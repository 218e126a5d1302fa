"""Carrying publications over an overlay: protocols without I/O, and kernels that count the same faster."""
