"""Algorithms that build an overlay from interests.

One module per algorithm; `parts/` holds divide and conquer, `weighted/` the algorithms for links that cost.
"""
