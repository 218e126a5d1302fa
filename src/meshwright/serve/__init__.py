"""The control plane: one process that owns a journaled overlay, takes events over HTTP and repairs it."""
