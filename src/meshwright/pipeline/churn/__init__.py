"""Churn in this process: events applied to an overlay, and what came of it as a dataset and a page."""
