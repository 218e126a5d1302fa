"""Smaller datasets out of large ones."""
