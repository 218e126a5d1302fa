"""Claims of the paper on links that cost."""
