"""Pages that people read, each one file: runs, profiles, churn, gossip, and algorithms side by side."""
