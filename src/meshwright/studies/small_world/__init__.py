"""Claims of the paper on small worlds."""
