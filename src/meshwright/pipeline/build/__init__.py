"""Building overlays on Spark: the functions of `construct`, spread over tasks."""
