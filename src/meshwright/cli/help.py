"""How help is laid out: flags with their values to the left, words to the right, for any width.

typer gives flags, values and words a column each, and squeezes the words to a few letters where a value is
long. Here a flag and its value share a column, and what is too long for it has a line of its own.
"""

import re
from collections.abc import Iterable, Iterator
from textwrap import wrap
from typing import Any, NamedTuple

from typer.core import TyperCommand, TyperGroup

MOST_COLUMNS = 100
_MOST_LEFT = 27
_INDENT = 2
_GAP = 2
_NO_BREAK = "\N{NO-BREAK SPACE}"
_EXAMPLE = re.compile(r"`([^`]+)`")


class Row(NamedTuple):
    """What is named, and what is said about it."""

    name: str
    words: str


def laid_out(rows: Iterable[Row], width: int) -> Iterator[str]:
    """Names to the left and words to the right; no line is longer than `width`, and no word is broken."""
    left = min(_MOST_LEFT, width // 3)
    for name, words in rows:
        lines = _wrapped(words, width - left) or [""]
        if _INDENT + len(name) + _GAP <= left:
            yield f"{'':{_INDENT}}{name:<{left - _INDENT}}{lines.pop(0)}".rstrip()
        else:
            yield f"{'':{_INDENT}}{name}"
        yield from (f"{'':{left}}{line}" for line in lines)


def help_lines(command: Any, context: Any, width: int) -> Iterator[str]:
    """The whole help of a command or of the group of all; examples come before the long lists of options."""
    yield from _usage(command, context, width)
    for part in (command.help or "").replace("`", "").split("\n\n"):
        yield from ("", *_wrapped(part, width))
    for part in filter(None, (command.epilog or "").strip().split("\n\n")):
        yield from _epilog_part(part, width)
    for heading, rows in _sections(command, context):
        yield from ("", f"{heading}:", *laid_out(rows, width))


def _wrapped(text: str, width: int) -> list[str]:
    lines = wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return [line.replace(_NO_BREAK, " ") for line in lines]


def _usage(command: Any, context: Any, width: int) -> Iterator[str]:
    """How the command is called: its arguments, the options that it can't do without, and the others."""
    own = [one for one in command.get_params(context) if one.required or one.param_type_name == "argument"]
    arguments = [
        _argument(one) if one.required else f"[{_argument(one)}]"
        for one in own
        if one.param_type_name == "argument"
    ]
    required = [f"{one.opts[0]} {one.metavar}" for one in own if one.param_type_name == "option"]
    rest = ["COMMAND", "..."] if isinstance(command, TyperGroup) else ["[OPTIONS]"]
    yield from _continued(f"Usage: {context.command_path}", [*arguments, *required, *rest], width)


def _argument(parameter: Any) -> str:
    name = parameter.metavar or parameter.name.upper()
    return f"{name}..." if parameter.type_descriptor.is_list else name


def _sections(command: Any, context: Any) -> Iterator[tuple[str, list[Row]]]:
    """Arguments, options by the panel that they ask for, and commands, each under its heading."""
    sections: dict[str, list[Row]] = {"Arguments": [], "Options": []}
    for one in command.get_params(context):
        if one.param_type_name == "argument":
            sections["Arguments"].append(Row(_argument(one), one.help or ""))
        else:
            panel = getattr(one, "rich_help_panel", None) or "Options"
            sections.setdefault(panel, []).append(Row(_flags(one), _words(one, context)))
    if isinstance(command, TyperGroup):
        known = command.commands.items()
        sections["Commands"] = [Row(name, (own.help or "").partition("\n\n")[0]) for name, own in known]
    yield from ((heading, rows) for heading, rows in sections.items() if rows)


def _flags(option: Any) -> str:
    """The flags of an option, the short ones last, and what it takes."""
    flags = ", ".join([*sorted(option.opts, key=len, reverse=True), *option.secondary_opts])
    return flags if option.is_flag else f"{flags} {option.metavar or _kind(option)}"


def _kind(option: Any) -> str:
    names = {int: "N", float: "NUMBER"}
    return names.get(option.type_descriptor.annotation) or str(option.name).upper()


def _words(option: Any, context: Any) -> str:
    """What is said about an option, and its default or that it is required."""
    if option.required:
        return f"{option.help} [required]"
    default = option.get_default(context, call=False)
    if option.is_flag:
        default = default and option.secondary_opts and option.opts[0]
    if not option.show_default or not (default or default == 0) or default is False:
        return str(option.help)
    return f"{option.help} [default:{_NO_BREAK}{default}]"


def _epilog_part(part: str, width: int) -> Iterator[str]:
    """A paragraph, a heading in bold, or a command in backticks, to be copied as it stands."""
    example = _EXAMPLE.fullmatch(part.strip())
    if example:
        first, *rest = re.findall(r"(?:'[^']*'|\S)+(?: (?!-)(?:'[^']*'|\S)+)*", example[1])
        yield from _continued(f"{'':{_INDENT}}{first}", rest, width, " \\")
    else:
        bold = re.fullmatch(r"\*\*(.+)\*\*", part.strip())
        yield from ("", f"{bold[1]}:") if bold else ("", *_wrapped(part.replace("`", ""), width))


def _continued(first: str, pieces: Iterable[str], width: int, mark: str = "") -> Iterator[str]:
    """Pieces one after the other; a line that goes on ends with `mark`, and what follows is indented."""
    line = first
    for piece in pieces:
        if len(line) + 1 + len(piece) + len(mark) > width:
            yield line + mark
            line = f"{'':{3 * _INDENT}}{piece}"
        else:
            line = f"{line} {piece}"
    yield line


def _printed(command: Any, context: Any) -> str:
    """The help for the width of the terminal, with colours if there is one."""
    from rich.console import Console
    from rich.highlighter import RegexHighlighter
    from rich.theme import Theme

    class Highlighter(RegexHighlighter):
        base_style = "help."
        highlights = (r"(?<![\w-])(?P<flag>--?[a-z][\w-]*)", r"(?m)^(?P<heading>[A-Z][\w ]*:)(?=$| )")

    console = Console(theme=Theme({"help.flag": "bold cyan", "help.heading": "bold"}))
    text = "\n".join(help_lines(command, context, min(console.width, MOST_COLUMNS)))
    with console.capture() as captured:
        console.print(Highlighter()(text), soft_wrap=True)
    return captured.get()


class Command(TyperCommand):
    """A command with our help."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help for the width of the terminal."""
        formatter.write(_printed(self, ctx))


class Group(TyperGroup):
    """All commands, with our help."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help for the width of the terminal."""
        formatter.write(_printed(self, ctx))
