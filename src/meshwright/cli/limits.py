"""The options that raise, or lower, what is read of a file at most."""

from typing import Annotated

import typer

from meshwright.model.read_limits import READ_LIMITS, ReadLimits

MaxLine = Annotated[
    int, typer.Option("--max-line", metavar="BYTES", help="Of files: the longest line that is read.")
]
MaxRatio = Annotated[
    int,
    typer.Option(
        "--max-ratio", metavar="N", help="Of files: how many times its size a compressed one may grow."
    ),
]


def read_limits(max_line: MaxLine = READ_LIMITS.line, max_ratio: MaxRatio = READ_LIMITS.ratio) -> ReadLimits:
    """The limits, checked."""
    return ReadLimits(line=max_line, ratio=max_ratio)
