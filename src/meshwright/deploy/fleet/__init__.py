"""A plan as real brokers on this machine, and the proof of what they deliver."""
