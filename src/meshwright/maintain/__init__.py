"""Overlays that live: repairs as nodes and interests come and go."""
