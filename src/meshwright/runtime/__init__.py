"""What every package stands on: arrays, errors, threads, memory, seeds, progress, and safe files."""
