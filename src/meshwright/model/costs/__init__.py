"""What links cost."""
