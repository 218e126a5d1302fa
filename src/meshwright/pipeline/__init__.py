"""The data pipeline on Spark: from raw tables to an overlay and its report, on a laptop or a cluster."""
