"""Options that together say one thing, which several commands ask for."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

from meshwright.errors import OptionError

Command = Callable[..., None]


def options_for(parameter: str, make: Callable[..., Any]) -> Callable[[Command], Command]:
    """A decorator: in place of a parameter the command line shows those of `make`, which makes its value.

    Groups may ask for the same option; it is shown once, and each gets it.
    """
    asked = inspect.signature(make, eval_str=True).parameters

    def decorate(command: Command) -> Command:
        @wraps(command)
        def run(**values: Any) -> None:
            made = make(**{name: values[name] for name in asked})
            others = {name: value for name, value in values.items() if name in own and name != parameter}
            command(**{parameter: made}, **others)

        own = inspect.signature(command).parameters
        every = [one for name in own for one in (asked.values() if name == parameter else [own[name]])]
        shown = {one.name: one for one in every}.values()
        named = [one.replace(kind=one.KEYWORD_ONLY) for one in shown]
        run.__signature__ = inspect.Signature(named)  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in named}
        return run

    return decorate


def given(group: Any) -> dict[str, object]:
    """The options of a group, a named tuple, that were given: flags and values."""
    return {
        "--" + name.replace("_", "-"): value
        for name, value in group._asdict().items()
        if value != group._field_defaults[name]
    }


def refuse_given(options: Mapping[str, object], way: str) -> None:
    """Refuse options that say nothing to the way that was chosen."""
    for flag, value in options.items():
        if value is not False and value not in (None, []):
            raise OptionError(f"{flag} does not go with {way}; leave it out")
