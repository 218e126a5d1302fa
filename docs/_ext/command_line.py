"""The directive `command-line`: the reference of all commands, from the commands themselves."""

import re
from collections.abc import Iterator
from typing import Any

import typer
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from meshwright.cli import app as commands


class CommandLine(SphinxDirective):
    """A section for each command: what it does, its usage, arguments, options and examples."""

    def run(self) -> list[nodes.Node]:
        """Write the sections as Markdown, and let the page's own parser read them."""
        group: Any = typer.main.get_command(commands)
        text = "\n".join(line for name, one in _commands(group) for line in _section(name, one))
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def _commands(group: Any) -> Iterator[tuple[str, Any]]:
    """All commands by what is typed, those of a group behind its name."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from ((f"{name} {own}", one) for own, one in command.commands.items())
        else:
            yield name, command


def _section(name: str, command: Any) -> Iterator[str]:
    arguments = [one for one in command.params if one.param_type_name == "argument"]
    options = [one for one in command.params if one.param_type_name == "option"]
    usage = " ".join(["meshwright", name, *(_metavar(one) for one in arguments), "[OPTIONS]"])
    yield f"## {name}\n"
    yield _plain(command.help or "") + "\n"
    yield f"```text\n{usage}\n```\n"
    for one in arguments:
        if one.help:
            yield f"`{_metavar(one)}`\n: {_plain(one.help)}\n"
    for one in options:
        yield f"`{_flags(one)}`{_default(one)}\n: {_plain(one.help or f'The number of {one.name}.')}\n"
    yield _examples(command.epilog or "") + "\n"


def _metavar(parameter: Any) -> str:
    return parameter.metavar or "VALUE"


def _flags(option: Any) -> str:
    flags = ", ".join([*option.opts, *option.secondary_opts])
    return flags if option.is_flag else f"{flags} {_metavar(option)}"


def _default(option: Any) -> str:
    if option.required:
        return " (required)"
    if option.is_flag or option.default in (None, [], ()) or callable(option.default):
        return ""
    return f" (default: `{option.default}`)"


def _plain(text: str) -> str:
    """One paragraph for each of the text's; what Markdown would read as markup is written as it is."""
    paragraphs = [" ".join(part.split()) for part in text.replace("\b", "").split("\n\n")]
    return "\n\n".join(re.sub(r"(?<!\\)([*|<\[\]])", r"\\\1", part) for part in paragraphs)


def _examples(epilog: str) -> str:
    """The epilog, with its commands, each a line of code, gathered into one block."""
    parts = [part.strip() for part in epilog.strip().split("\n\n") if part.strip()]
    lines: list[str] = []
    for part in parts:
        if re.fullmatch(r"`[^`]+`", part):
            lines += [] if _open(lines) else ["```text"]
            lines.append(part.strip("`"))
        else:
            lines += ["```", ""] if _open(lines) else []
            lines += [part, ""]
    return "\n".join([*lines, "```"] if _open(lines) else lines)


def _open(lines: list[str]) -> bool:
    return sum(line.startswith("```") for line in lines) % 2 == 1


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive to Sphinx."""
    app.add_directive("command-line", CommandLine)
    return {"parallel_read_safe": True}
