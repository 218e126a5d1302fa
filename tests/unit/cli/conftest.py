import sys

import pytest

from meshwright.cli import main


@pytest.fixture
def run(monkeypatch, capsys):
    """Call the command line in this process; returns (exit code, stdout, stderr)."""

    def call(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["meshwright", *map(str, words)])
        code = main()
        return code, *capsys.readouterr()

    return call
