"""`meshwright algorithms`: what there is to build with."""

from dataclasses import MISSING, fields
from typing import Any

import typer

from meshwright import registry
from meshwright.cli.common import Json, print_json, print_table, shown


def register(app: typer.Typer) -> None:
    """Add the command to the command line."""
    app.command()(algorithms)


def algorithms(as_json: Json = False) -> None:
    """List the algorithms, what they promise, and their options with the defaults."""
    known = registry.algorithms()
    if as_json:
        print_json([_described(name, algorithm) for name, algorithm in known.items()])
        return
    rows = [
        (
            name,
            algorithm.kind,
            algorithm.topic_connected,
            algorithm.needs_costs,
            _listed(algorithm),
            algorithm.summary,
        )
        for name, algorithm in known.items()
    ]
    print_table(("name", "kind", "connected", "costs", "options", "what it is"), rows)


def _options(algorithm: registry.Algorithm) -> dict[str, Any]:
    return {
        field.name: None if field.default is MISSING else field.default for field in fields(algorithm.options)
    }


def _listed(algorithm: registry.Algorithm) -> str:
    return "\n".join(f"{name}={shown(value)}" for name, value in _options(algorithm).items()) or "-"


def _described(name: str, algorithm: registry.Algorithm) -> dict[str, Any]:
    return {
        "name": name,
        "kind": algorithm.kind,
        "summary": algorithm.summary,
        "topic_connected": algorithm.topic_connected,
        "needs_costs": algorithm.needs_costs,
        "options": _options(algorithm),
    }
