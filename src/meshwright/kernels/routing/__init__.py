"""Kernels that count what carrying publications takes."""
