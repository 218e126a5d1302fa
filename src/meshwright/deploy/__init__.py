"""What runs on real brokers: reading their configuration and saying what is wrong with it."""
