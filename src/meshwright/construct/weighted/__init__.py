"""Algorithms for links that cost."""
