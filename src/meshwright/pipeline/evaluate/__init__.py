"""Measuring overlays on Spark, without holding one in one place."""
