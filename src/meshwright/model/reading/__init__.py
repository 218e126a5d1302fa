"""Files that come from outside, read within limits."""
