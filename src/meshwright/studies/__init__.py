"""The papers' own numbers and orders, measured again: one file a paper."""
