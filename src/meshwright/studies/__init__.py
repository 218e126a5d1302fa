"""The numbers and rankings that the papers state, measured again; one folder per paper."""
