"""Claims of the paper on StaN."""
