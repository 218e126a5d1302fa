"""Claims of the paper on churn."""
