"""Small-world overlays: nodes on a ring, each with one finger into every phase of it."""
