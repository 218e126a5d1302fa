"""Errors of the library in the words of the command line: an option of Python's is a flag here."""

import re
from collections.abc import Mapping

from meshwright.runtime.errors import OptionError


def in_flags(error: OptionError, flags: Mapping[str, str]) -> str:
    """What an error says, with the flags of the command, by parameter, in place of Python's names.

    "the option seeds is 0", "seeds is 0" and "give seeds=N" become "--seeds is 0" and "give --seeds N". An
    option that the error names and that has no flag is one of `--set`, if the command has that.
    """
    words = str(error)
    for name, flag in flags.items():
        if flag not in words:
            words = _replaced(words, name, flag)
    own = error.option or ""
    if words == str(error) and own.isidentifier() and own not in flags and "--set" in flags.values():
        words = re.sub(rf"^(?:the option )?{own} is\b", f"--set {own} is", words)
    return words


def _replaced(words: str, name: str, flag: str) -> str:
    words = re.sub(rf"^{name}(?= is\b)|\bthe option {name}\b", flag, words)
    words = re.sub(rf"\b{name}=(?=\w)", f"{flag} ", words)
    return re.sub(rf"(?<![\w-]){name}(?![\w-])", flag, words) if "_" in name else words
