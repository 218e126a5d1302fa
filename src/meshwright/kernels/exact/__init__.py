"""What the exact optimum needs: partitions of topics that a fractional overlay leaves too far apart."""
