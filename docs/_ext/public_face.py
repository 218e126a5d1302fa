"""Docstrings of the public face as Sphinx reads them: one name for each object, papers by number."""

import re
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

import meshwright

_CODE = re.compile(r"(`[^`]*`)")


def adapt(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Turn "[1]" to "[5]" into links to the bibliography, and let "|V|" and "*" stand for themselves."""
    lines[:] = [line if line.lstrip().startswith((">>>", "...")) else _adapted(line) for line in lines]


def _adapted(line: str) -> str:
    parts = _CODE.split(line)
    parts[::2] = [re.sub(r"(?<![*\\])([*|])(?!\*)", r"\\\1", part) for part in parts[::2]]
    parts[::2] = [re.sub(r"\[([1-5])\]", r":ref:`[\1] <paper-\1>`", part) for part in parts[::2]]
    return "".join(parts)


def by_public_name(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: nodes.TextElement
) -> nodes.reference | None:
    """Find what a signature calls `meshwright.model.interests.Interests` as `meshwright.Interests`."""
    name = node.get("reftarget", "").rpartition(".")[2]
    if node.get("refdomain") != "py" or name not in meshwright.__all__:
        return None
    python = env.domains["py"]
    return python.resolve_xref(
        env, node["refdoc"], app.builder, node["reftype"], f"meshwright.{name}", node, shown
    )


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen to what autodoc reads and to references that are not found."""
    app.connect("autodoc-process-docstring", adapt, priority=400)  # before napoleon adds markup
    app.connect("missing-reference", by_public_name)
    return {"parallel_read_safe": True}
