"""Prices that topics pay for edges: what bounds the edges of every topic-connected overlay from below."""
