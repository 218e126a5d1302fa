"""Bring together what the stages of a run have found."""
