"""Subscriptions with wildcards: what they match, and the classes of names that a set of them tells apart."""
