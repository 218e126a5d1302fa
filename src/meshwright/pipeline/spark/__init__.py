"""The Spark session and what every job needs of it: settings, storage, progress, errors, arrays."""
