"""A maintainer whose steps are on disk before they are taken."""
