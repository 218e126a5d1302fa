"""An overlay as a file that other programs read: GraphML, GML, DOT, CSV, JSON.

Every name survives, or is refused where a format can't hold it; `docs/formats.md` has the table. All but GML
are written as they go; GML goes through networkx, which holds the whole graph.
"""

import csv
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO
from xml.sax.saxutils import escape, quoteattr

import pyarrow as pa

from meshwright.model.overlay import Overlay, edges_with_cost, nodes_with_attributes
from meshwright.model.storage.single_file import new_file
from meshwright.runtime.errors import InputError, OptionError

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_GRAPHML_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
)


def export(overlay: Overlay, path: str | Path, to: str | None = None, *, force: bool = False) -> None:
    """Write `overlay` to a file in the format `to`, or in the one that the file's suffix names.

    The file appears when it is complete. One that is there already is overwritten only with `force`.

    Example:
        >>> import meshwright as mw
        >>> pairs = [("b1", "news"), ("b2", "news"), ("b2", "sport"), ("b3", "sport")]
        >>> interests = mw.Interests.from_pairs(pairs)
        >>> overlay = mw.build(interests, "gm")
        >>> mw.export(overlay, "overlay.csv")
        >>> mw.Overlay.from_csv(interests, "overlay.csv")
        Overlay(3 nodes, 2 edges)
    """
    path = Path(path)
    to = path.suffix.removeprefix(".") if to is None else to
    check_format(to)
    with new_file(path, force) as partial, partial.open("w", encoding="utf-8", newline="") as stream:
        write_export(overlay, to, stream)


def write_export(overlay: Overlay, to: str, stream: TextIO) -> None:
    """Write `overlay` to a text stream (UTF-8, no translation of newlines) in the format `to`."""
    check_format(to)
    EXPORTS[to](overlay, stream)


def check_format(to: str) -> None:
    """Refuse a format that does not exist."""
    if to not in EXPORTS:
        raise OptionError(f"there is no export format {to!r}; use one of {', '.join(EXPORTS)}")


def _write_graphml(overlay: Overlay, stream: TextIO) -> None:
    node_keys, edge_keys = _graphml_keys(overlay)
    stream.write(_GRAPHML_HEAD)
    for owner, keys in (("node", node_keys), ("edge", edge_keys)):
        for name, (key, kind) in keys.items():
            stream.write(
                f'  <key id="{key}" for="{owner}" attr.name={_attribute(name)} attr.type="{kind}"/>\n'
            )
    stream.write('  <graph edgedefault="undirected">\n')
    for node, values in nodes_with_attributes(overlay):
        stream.write(f"    <node id={_attribute(node)}>{_graphml_data(node_keys, values)}</node>\n")
    for u, v, values in edges_with_cost(overlay):
        ends = f"source={_attribute(u)} target={_attribute(v)}"
        stream.write(f"    <edge {ends}>{_graphml_data(edge_keys, values)}</edge>\n")
    stream.write("  </graph>\n</graphml>\n")


def _graphml_keys(overlay: Overlay) -> tuple[dict[str, tuple[str, str]], dict[str, tuple[str, str]]]:
    """For each attribute of nodes, and for the cost of edges: its key and its GraphML type."""
    attributes = overlay.interests.node_attributes
    columns = [] if attributes is None else list(attributes.schema)
    node_keys = {column.name: (f"n{at}", _graphml_type(column.type)) for at, column in enumerate(columns)}
    return node_keys, {} if overlay.costs is None else {"cost": ("cost", "double")}


def _graphml_type(kind: pa.DataType) -> str:
    tests = {"boolean": pa.types.is_boolean, "long": pa.types.is_integer, "double": pa.types.is_floating}
    return next((name for name, holds in tests.items() if holds(kind)), "string")


def _graphml_data(keys: Mapping[str, tuple[str, str]], values: Mapping[str, Any]) -> str:
    return "".join(
        f'<data key="{keys[name][0]}">{_text(str(value))}</data>' for name, value in values.items()
    )


def _attribute(text: str) -> str:
    return quoteattr(_xml(text))


def _text(text: str) -> str:
    return escape(_xml(text), {"\r": "&#13;"})


def _xml(text: str) -> str:
    if found := _NOT_XML.search(text):
        raise InputError(
            f"{text!r} has the character {found[0]!r}, which XML can't hold; export to json or csv"
        )
    return text


def _write_gml(overlay: Overlay, stream: TextIO) -> None:
    import networkx as nx

    try:
        stream.writelines(f"{line}\n" for line in nx.generate_gml(overlay.to_networkx()))
    except nx.NetworkXError as error:
        raise InputError(
            f"GML can't hold this overlay: {error}; rename the attribute or export to json"
        ) from None


def _write_dot(overlay: Overlay, stream: TextIO) -> None:
    stream.write("graph {\n")
    for node, values in nodes_with_attributes(overlay):
        stream.write(f"  {_dot(node)}{_dot_attributes(values)};\n")
    for u, v, values in edges_with_cost(overlay):
        stream.write(f"  {_dot(u)} -- {_dot(v)}{_dot_attributes(values)};\n")
    stream.write("}\n")


def _dot(text: str) -> str:
    """A quoted DOT id. Graphviz shows a doubled backslash as one, and reads a single one as an escape."""
    if "\0" in text:
        raise InputError(f"{text!r} has a NUL, which Graphviz can't hold; export to json or csv")
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _dot_attributes(values: Mapping[str, Any]) -> str:
    listed = ", ".join(f"{_dot(name)}={_dot(str(value))}" for name, value in values.items())
    return f" [{listed}]" if listed else ""


def _write_csv(overlay: Overlay, stream: TextIO) -> None:
    """The edges alone; names always in quotes, so that any newline in them is one."""
    writer = csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(["source", "target", *(["cost"] if overlay.costs is not None else [])])
    writer.writerows([u, v, *values.values()] for u, v, values in edges_with_cost(overlay))


def _write_json(overlay: Overlay, stream: TextIO) -> None:
    """The node-link form of networkx, with the facts as the graph's attributes."""
    facts = json.dumps(overlay.facts, ensure_ascii=False)
    stream.write(f'{{"directed": false, "multigraph": false, "graph": {facts},\n"nodes": [')
    _write_json_list(stream, ({"id": node} | values for node, values in nodes_with_attributes(overlay)))
    stream.write('],\n"edges": [')
    _write_json_list(
        stream, ({"source": u, "target": v} | values for u, v, values in edges_with_cost(overlay))
    )
    stream.write("]}\n")


def _write_json_list(stream: TextIO, rows: Iterable[Mapping[str, Any]]) -> None:
    separator = "\n"
    for row in rows:
        stream.write(separator + json.dumps(row, ensure_ascii=False, default=str))
        separator = ",\n"


EXPORTS: Mapping[str, Callable[[Overlay, TextIO], None]] = {
    "graphml": _write_graphml,
    "gml": _write_gml,
    "dot": _write_dot,
    "csv": _write_csv,
    "json": _write_json,
}
