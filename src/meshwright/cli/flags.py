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


_WITH_FLAG = re.compile(r"(?<![\w-])(?<!the )(?P<name>[a-z_]+)(?:=(?P<value>[^ ]*))? \((?P<flag>--[a-z-]+)\)")


def without_python(words: str) -> str:
    """What an error says, with a flag alone where it stands behind the same option of Python's.

    "give force=True (--force)" becomes "give --force", "missing='path' (--missing)" "--missing path", and
    what stands "in Python" in brackets is left out.
    """
    words = _FLAG_OR_PYTHON.sub(r"(\1)", _PYTHON_BESIDE.sub("", words))
    return _WITH_FLAG.sub(_flag_alone, words)


_FLAG_OR_PYTHON = re.compile(r"\((--[^(),]+), or \w+=[^()]*\)")
_PYTHON_BESIDE = re.compile(r" \((?!--)(?:[^()]|\([^()]*\))* in Python\)")


def _flag_alone(found: re.Match[str]) -> str:
    if found["flag"].removeprefix("--").replace("-", "_") not in (found["name"], _RENAMED.get(found["name"])):
        return found[0]
    value = (found["value"] or "").strip("'\"")
    return found["flag"] if value in ("", "True") else f"{found['flag']} {value}"


_RENAMED = {"names": "cost_names"}
"""Options that Python has under another name."""


def _replaced(words: str, name: str, flag: str) -> str:
    words = re.sub(rf"^{name}(?= is\b)|\bthe option {name}\b", flag, words)
    words = re.sub(rf"\b{name}=(?=\w)", f"{flag} ", words)
    return re.sub(rf"(?<![\w-]){name}(?![\w-])", flag, words) if "_" in name else words
