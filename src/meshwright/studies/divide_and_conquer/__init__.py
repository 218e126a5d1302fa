"""Claims of the paper on divide and conquer."""
