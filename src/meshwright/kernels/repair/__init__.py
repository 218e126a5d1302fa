"""Kernels that keep an overlay topic-connected while it changes."""
