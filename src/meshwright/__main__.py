"""`python -m meshwright`, and the command `meshwright`."""

import sys


def main() -> int:
    """Run the command line; Ctrl-C gives one line also while it is still being imported."""
    try:
        from meshwright.cli import main as run

        return run()
    except KeyboardInterrupt:
        print("meshwright: interrupted; nothing unfinished was kept", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
