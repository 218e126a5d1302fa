"""Datasets and files on disk."""
