"""A Zenoh router as a process, by the library: python zenoh_router.py -c FILE. It runs until it is ended."""

import signal
import sys

import zenoh


def main() -> None:
    """Open a router with the configuration of the file, and wait."""
    zenoh.init_log_from_env_or("warn")
    with zenoh.open(zenoh.Config.from_file(sys.argv[-1])):
        signal.pause()


if __name__ == "__main__":
    main()
