"""Checks of options: an error says what was given, what is legal, and the way out."""

from collections.abc import Callable, Mapping
from dataclasses import field, fields
from functools import partial
from numbers import Integral, Real
from typing import Any, TypeGuard, TypeVar

from meshwright.runtime.errors import OptionError
from meshwright.runtime.wording import choose

Options = TypeVar("Options")


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number, NumPy's included; True and False are none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a real number, NumPy's included; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse a value that is none of the choices."""
    if value not in choices:
        raise OptionError(f"the option {name} is {value!r}; {choose(value, choices)}", option=name)


def check_whole(
    name: str, value: object, least: int, most: int = 2**62 - 1, *, required: bool = False
) -> None:
    """Refuse what is no whole number in range; None is one that was not given, unless required."""
    if value is None and not required:
        return
    if not is_whole(value) or not least <= value <= most:
        legal = f"from {least} to {most:,}" if most < 2**62 - 1 else f"of at least {least}, under 2^62"
        raise OptionError(f"the option {name} is {value!r}; give a whole number {legal}", option=name)


def check_flag(name: str, value: object) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, bool):
        raise OptionError(f"the option {name} is {value!r}; give True or False", option=name)


def check_fraction(name: str, value: object, *, below_one: bool = False) -> None:
    """Refuse what is no number from 0 to 1."""
    if not is_number(value) or not 0 <= value <= 1 or (below_one and value == 1):
        legal = "of at least 0 and under 1" if below_one else "from 0 to 1"
        raise OptionError(f"the option {name} is {value!r}; give a fraction {legal}", option=name)


class Checked:
    """A base of dataclasses of options: each field that was made by a function below is checked."""

    def __post_init__(self) -> None:
        for each in fields(self):  # type: ignore[arg-type]
            if "check" in each.metadata:
                each.metadata["check"](each.name, getattr(self, each.name))


def make_options(kind: type[Options], values: Mapping[str, Any]) -> Options:
    """Options of a kind, checked; an unknown name is refused with those that exist."""
    known = sorted(each.name for each in fields(kind))  # type: ignore[arg-type]
    for name in values:
        if name not in known:
            raise OptionError(f"there is no option {name!r}; {choose(name, known)}", option=name)
    return kind(**values)


def checked(default: object, check: Callable[[str, object], None]) -> Any:
    """A field with a check of its own, of its name and value."""
    return field(default=default, metadata={"check": check})


def choice(default: str, choices: tuple[str, ...]) -> Any:
    """A field that is one of the choices."""
    return checked(default, partial(check_choice, choices=choices))


def flag(default: bool) -> Any:
    """A field that is True or False."""
    return checked(default, check_flag)


def whole_number(default: int | None, least: int, most: int = 2**62 - 1) -> Any:
    """A field that is a whole number in range, or None where that is the default."""
    required = default is not None
    return checked(default, partial(check_whole, least=least, most=most, required=required))


def fraction(default: float, *, below_one: bool = False) -> Any:
    """A field that is a number from 0 to 1."""
    return checked(default, partial(check_fraction, below_one=below_one))


# Ten characters a name times this many names stay inside the 2 GiB of one Arrow string array.
MOST_NAMES = 100_000_000
# exp(-1000) is 0 in double precision: what is steeper draws the same topics and sizes.
STEEPEST = 1_000.0


def whole(name: str, value: object, low: int, high: int, way_out: str = "") -> int:
    """`value` as an int, if it is a whole number from `low` to `high`."""
    if not is_whole(value) or not low <= value <= high:
        raise OptionError(
            f"the option {name} is {value!r}; give a whole number from {low} to {high}{way_out}", option=name
        )
    return int(value)


def number(name: str, value: object, low: float, high: float, way_out: str = "") -> float:
    """`value` as a float, if it is a number from `low` to `high`."""
    if not is_number(value) or not low <= value <= high:
        raise OptionError(
            f"the option {name} is {value!r}; give a number from {low:g} to {high:g}{way_out}", option=name
        )
    return float(value)


def positive(name: str, value: object, high: float, way_out: str = "") -> float:
    """`value` as a float, if it is a number above 0 and at most `high`."""
    if not is_number(value) or not 0 < value <= high:
        raise OptionError(
            f"the option {name} is {value!r}; give a number above 0, at most {high:g}{way_out}", option=name
        )
    return float(value)
