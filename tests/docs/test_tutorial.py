"""The tutorial does what it says."""

import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from itertools import groupby
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from meshwright.cli import main

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLAIN = re.compile(r"meshwright [^|&;<>$`\\]+")
LANGUAGES = {"bash", "python", "text"}


def blocks() -> list[tuple[str, str]]:
    return FENCE.findall((ROOT / "docs" / "tutorial.md").read_text())


def run_bash(script: str, folder: Path) -> str:
    """What a block says; plain calls of the command run in this process, which saves a second each."""
    told = []
    for plain, group in groupby(script.splitlines(), lambda line: bool(PLAIN.fullmatch(line))):
        lines = list(group)
        told += map(run_command, lines) if plain else [run_shell("\n".join(lines), folder)]
    return "".join(told)


def run_command(line: str) -> str:
    # Some commands set the encoding of what they write to, which StringIO has not.
    told = TextIOWrapper(BytesIO(), "utf-8")
    with patch.object(sys, "argv", shlex.split(line)), redirect_stdout(told):
        assert main() == 0, line
    told.flush()
    return told.buffer.getvalue().decode()


def run_shell(script: str, folder: Path) -> str:
    programs = Path(sys.executable).parent
    env = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "TMPDIR": str(folder)}
    start = ROOT if "./meshwright" in script else folder
    done = subprocess.run(
        ["bash", "-euc", script], cwd=start, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
    return done.stdout


def run_python(code: str, names: dict[str, Any]) -> str:
    told = StringIO()
    with redirect_stdout(told):
        exec(compile(code, "docs/tutorial.md", "exec"), names)
    return told.getvalue()


def is_shown(shown: str, output: str) -> bool:
    """Whether `shown` is the whole output; blanks count once, and `…` is anything, alone any lines."""
    patterns = ["(.*\n)*" if line == "…" else f"{_pattern(line)}\n" for line in _lines(shown)]
    return re.fullmatch("".join(patterns), "".join(f"{line}\n" for line in _lines(output))) is not None


def _pattern(line: str) -> str:
    return ".*".join(re.escape(part) for part in line.split("…"))


def _lines(text: str) -> list[str]:
    return [line for line in (" ".join(line.split()) for line in text.splitlines()) if line]


def test_output_is_shown_whole_or_marked_as_cut() -> None:
    assert is_shown("a 1\n…\nd…\n", "a   1\nb\nc\nd 4\n")
    assert not is_shown("a 1\nd 4\n", "a 1\nb\nc\nd 4\n")
    assert not is_shown("a 1\n…\n", "a 2\nb\n")


def test_every_block_of_the_tutorial_has_a_language_that_is_run_or_compared() -> None:
    text = (ROOT / "docs" / "tutorial.md").read_text()
    assert {language for language, _ in blocks()} == LANGUAGES
    assert 2 * len(blocks()) == sum(line.startswith("```") for line in text.splitlines())


def test_every_command_of_the_tutorial_gives_the_output_that_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    output = ""
    for language, text in blocks():
        if language == "bash":
            output = run_bash(text, tmp_path)
        elif language == "python":
            output = run_python(text, {})
        else:
            assert is_shown(text, output), output
