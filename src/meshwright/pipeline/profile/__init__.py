"""What a dataset is like: sizes, distributions, correlation."""
