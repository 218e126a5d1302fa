"""What kernels of several kinds share: arrays, component state, costs, heaps, hashes."""
