"""What everything stands on: files that last, checksums, locks, and what may be removed."""
