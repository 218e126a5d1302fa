"""From raw files to an interests dataset."""
