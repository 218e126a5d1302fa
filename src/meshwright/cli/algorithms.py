"""`meshwright algorithms`: what there is to build with."""

from dataclasses import fields
from typing import Any

from meshwright import registry
from meshwright.cli.common import Json, print_json, print_table, shown


def algorithms(as_json: Json = False) -> None:
    """List the algorithms, what they promise, and their options with the defaults."""
    known, broken = registry.every_algorithm()
    if as_json:
        listed = [_described(name, algorithm) for name, algorithm in known.items()]
        print_json([*listed, *map(_described_as_broken, broken)])
        return
    rows = [(name, algorithm.kind, _about(name, algorithm)) for name, algorithm in known.items()]
    rows += [(one.name, "broken", one.reason) for one in broken]
    print_table(("name", "kind", "what it is, and its options"), rows)


def _options(algorithm: registry.Algorithm) -> dict[str, Any]:
    defaults = algorithm.options()
    return {field.name: getattr(defaults, field.name) for field in fields(algorithm.options)}


def _about(name: str, algorithm: registry.Algorithm) -> str:
    """What it is, from which package, what it promises and needs where that is unusual, and its options."""
    origin = registry.outside_origin(name)
    parts = [algorithm.summary if origin is None else f"{algorithm.summary} (from {origin.package})"]
    parts += ["needs costs"] if algorithm.needs_costs else []
    parts += [] if algorithm.topic_connected else ["may leave topics unconnected"]
    options = ", ".join(f"{option}={_default(value)}" for option, value in _options(algorithm).items())
    return "; ".join(parts) + (f". Options: {options}" if options else "")


def _default(value: object) -> str:
    return "none" if value is None else shown(value)


def _described_as_broken(one: registry.Broken) -> dict[str, Any]:
    return {"name": one.name, "kind": "broken", "package": one.origin.package, "error": one.reason}


def _described(name: str, algorithm: registry.Algorithm) -> dict[str, Any]:
    origin = registry.outside_origin(name)
    return {
        "name": name,
        "kind": algorithm.kind,
        "summary": algorithm.summary,
        "topic_connected": algorithm.topic_connected,
        "needs_costs": algorithm.needs_costs,
        "options": _options(algorithm),
        **({} if origin is None else {"package": origin.package}),
    }
