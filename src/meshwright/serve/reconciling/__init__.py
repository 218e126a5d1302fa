"""The fleet of a control plane: what its brokers tell becomes events, and the overlay becomes their links."""
