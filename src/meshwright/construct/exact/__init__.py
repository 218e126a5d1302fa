"""The least overlay there is, for small interests: cuts, a linear program, and a search that proves it."""
