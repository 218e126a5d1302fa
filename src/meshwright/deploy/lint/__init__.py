"""What is wrong with a mesh that somebody runs, each with the shortest way of a message as its witness."""
