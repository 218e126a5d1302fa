"""What a mesh has to carry over which link: pure, and the same for all drivers."""
