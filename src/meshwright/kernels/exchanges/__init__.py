"""Exchanges of links: local search over the trees of all topics."""
