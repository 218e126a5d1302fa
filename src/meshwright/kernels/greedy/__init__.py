"""Kernels that choose edges: the lazy greedy and its relatives."""
