"""Algorithms that make an overlay out of interests: one family a file."""
