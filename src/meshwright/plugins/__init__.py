"""Algorithms of other packages: how they are found, and how what they return is checked."""
