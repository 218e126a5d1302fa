"""Columns as people name them on the command line."""

from meshwright.model.reading.columns import Column, by_position, split
from meshwright.runtime.errors import InputError, OptionError

QUOTING = "Put a name that has a comma, or is a number, in double quotes: '\"last, first\",item'."
"""For help texts."""


def chosen_columns(flag: str, text: str, counts: tuple[int, ...], example: str) -> tuple[Column, ...]:
    """The columns that an option names, if they are as many as it may have, all names or all positions."""
    many = " or ".join(map(str, counts)) + (" column" if counts == (1,) else " columns")
    try:
        columns = tuple(split(text))
        by_position(columns)
    except ValueError:
        raise OptionError(
            f"{flag} is {text!r}; give {many}, such as {example}, and put a name with a comma or a "
            f"quote in double quotes",
            option=flag,
        ) from None
    except InputError as error:
        raise OptionError(f"{flag} is {text!r}; {error}", option=flag) from None
    if len(columns) not in counts:
        raise OptionError(f"{flag} is {text!r}; give {many}, such as {example}", option=flag)
    return columns


def chosen_column(flag: str, text: str) -> Column:
    """The column that an option names."""
    return chosen_columns(flag, text, (1,), "rtt or 3")[0]
