"""Options that several commands share: limits on reading, groups that say one thing together, the engine."""

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from meshwright.cli.common import parse_conf
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.runtime.errors import OptionError
from meshwright.runtime.memory import fits
from meshwright.runtime.places import is_local_address, local_path
from meshwright.runtime.wording import choose

MaxLine = Annotated[
    int, typer.Option("--max-line", metavar="BYTES", help="The longest line to accept in a text file.")
]
MaxRatio = Annotated[
    int,
    typer.Option(
        "--max-ratio",
        metavar="N",
        help="Refuse a compressed file that expands to more than N times its size.",
    ),
]


def read_limits(max_line: MaxLine = READ_LIMITS.line, max_ratio: MaxRatio = READ_LIMITS.ratio) -> ReadLimits:
    """The limits, checked."""
    return ReadLimits(line=max_line, ratio=max_ratio)


Command = Callable[..., None]


def fields_as_options(kind: type[Any], options: Mapping[str, Any]) -> Callable[..., Any]:
    """What makes a dataclass of its fields, each shown as an option, in the order of `options`."""
    hints, fields = get_type_hints(kind), inspect.signature(kind).parameters

    def make(**values: Any) -> Any:
        return kind(**values)

    shown = [fields[name].replace(annotation=Annotated[hints[name], own]) for name, own in options.items()]
    make.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    return make


def options_for(
    parameter: str, make: Callable[..., Any], then: Callable[[Any], Any] = lambda made: made
) -> Callable[[Command], Command]:
    """A decorator: in place of a parameter the command line shows those of `make`, which makes its value.

    What is made goes through `then`.
    Groups may ask for the same option; it is shown once, and each gets it.
    """
    asked = inspect.signature(make, eval_str=True).parameters

    def decorate(command: Command) -> Command:
        @wraps(command)
        def run(**values: Any) -> None:
            made = then(make(**{name: values[name] for name in asked}))
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
            raise OptionError(f"{flag} can't be used with {way}; leave it out", option=flag)


def datasets_among(inputs: list[str]) -> list[str]:
    """Those of the inputs that are datasets on this machine."""
    from meshwright.model.reading.files import is_dataset

    return [text for text in inputs if is_local_address(text) and is_dataset(local_path(text))]


def fits_here(work: str, dataset: str) -> bool:
    """Whether a dataset is on this machine, and its interests and the work on them fit into memory.

    What is on this machine and no dataset with interests is refused.
    """
    from meshwright.model.storage.manifest import counted, read_manifest

    if not is_local_address(dataset):
        return False
    manifest = read_manifest(local_path(dataset), "interests", "overlay")
    return fits(work, counted(manifest, ("nodes", "topics", "interests"), dataset))


ENGINES = ("auto", "local", "spark")
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="|".join(ENGINES),
        help="Where to run: in this process (local) or on Spark (spark). With auto, Spark is used only if "
        "the data is remote or does not fit into memory.",
    ),
]


def chosen_engine(
    engine: str,
    places: list[str],
    master: str | None,
    conf: list[str] | None,
    fits_here: bool,
) -> str:
    """`local` or `spark`; what `auto` chooses does not change the result.

    Auto stays in this process while all `places` are local, neither `master` nor `conf` is given and the
    data is known to fit into this machine's memory.
    """
    if engine not in ENGINES:
        raise OptionError(f"--engine is {engine!r}; {choose(engine, ENGINES)}", option="--engine")
    remote = [place for place in places if not is_local_address(place)]
    if engine == "local" and remote:
        raise OptionError(f"{remote[0]} is not on this machine; use --engine spark")
    for_spark = [f"--master {master}"] if master else [f"--conf {name}" for name in parse_conf(conf)]
    if engine == "local" and for_spark:
        raise OptionError(f"{for_spark[0]} needs Spark; use --engine spark, or leave it out")
    if engine != "auto":
        return engine
    return "local" if fits_here and not remote and not for_spark else "spark"
