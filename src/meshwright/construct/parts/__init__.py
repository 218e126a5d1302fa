"""Divide and conquer: overlays built in parts."""
