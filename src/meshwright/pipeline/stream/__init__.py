"""Events that arrive as files, followed with Spark's Structured Streaming."""
