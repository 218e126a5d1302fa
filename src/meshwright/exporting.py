"""An overlay as a file that other programs read: GraphML, GML, DOT, CSV, JSON.

Every name survives, or is refused where a format can't hold it; `docs/formats.md` has the table. All but GML
are written as they go; GML goes through networkx, which holds the whole graph. With a tree for every topic,
each link comes with the topics that cross it.
"""

import csv
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TextIO
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pyarrow as pa

from meshwright.model.overlay import Overlay, edges_with_cost, nodes_with_attributes
from meshwright.model.storage.single_file import new_file
from meshwright.runtime.arrays import Ids, Offsets
from meshwright.runtime.columns import arrow_of
from meshwright.runtime.errors import InputError, OptionError
from meshwright.runtime.packing import first_of, pack, second_of
from meshwright.runtime.progress import Progress
from meshwright.runtime.wording import choose, type_of

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_GRAPHML_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
)


class Crossings(NamedTuple):
    """By edge, the topics that cross it: `topic_ids[indptr[e] : indptr[e + 1]]`, rising."""

    indptr: Offsets
    topic_ids: Ids

    @property
    def unused(self) -> int:
        """How many edges no topic crosses."""
        return int(np.count_nonzero(np.diff(self.indptr) == 0))


def crossings(overlay: Overlay, tree: str, progress: Progress | None = None) -> Crossings:
    """Which topics cross which link, if every topic uses the tree that `routing.trees` grows for it.

    So each topic crosses as many links as it has subscribers, less one. The overlay must connect every topic.
    """
    from meshwright.routing.trees import FOR_TREES, topic_trees

    links = topic_trees(overlay, tree, progress, FOR_TREES).links
    slots = np.repeat(np.arange(len(links.indptr) - 1), np.diff(links.indptr))
    once = slots < links.others
    topics = np.searchsorted(links.topic_indptr, slots[once], side="right") - 1
    keys = np.sort(pack(links.edge_ids[once], topics))
    counts = np.bincount(first_of(keys), minlength=len(overlay))
    return Crossings(np.concatenate([[0], np.cumsum(counts)]), second_of(keys).astype(np.int32))


class _Content(NamedTuple):
    """What is exported: an overlay, and the topics that cross its links where these are wanted."""

    overlay: Overlay
    crossings: Crossings | None

    def edges(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Every edge by names with its cost and its list of topics, each where there is one."""
        found = edges_with_cost(self.overlay)
        if self.crossings is None:
            return found
        both = zip(found, self._topics(self.crossings), strict=True)
        return ((u, v, {**values, "topics": own}) for (u, v, values), own in both)

    def _topics(self, crossings: Crossings) -> Iterator[list[str]]:
        topics = self.overlay.interests.topics
        for start, end in pairwise(crossings.indptr.tolist()):
            yield topics.take(arrow_of(crossings.topic_ids[start:end])).to_pylist()

    def edges_in_words(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """The same, with the topics as a JSON list in a string, for formats that have no lists."""
        for u, v, values in self.edges():
            if "topics" in values:
                values["topics"] = json.dumps(values["topics"], ensure_ascii=False)
            yield u, v, values


def export(
    overlay: Overlay,
    path: str | Path,
    to: str | None = None,
    *,
    tree: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Crossings | None:
    """Write `overlay` to a file in the format `to`, or in the one that the file's suffix names.

    With `tree`, `shortest` or `cheapest`, every link comes with the topics that cross it: those in whose tree
    it is. In CSV a link then has a row for each of its topics, and one that no topic crosses has none. What
    crosses which link is returned as well.

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
    if not isinstance(overlay, Overlay):
        raise InputError(f"export got {type_of(overlay)}; give an Overlay")
    path = Path(path)
    to = path.suffix.removeprefix(".") if to is None else to
    check_format(to)
    crossed = None if tree is None else crossings(overlay, tree, progress)
    with new_file(path, force) as partial, partial.open("w", encoding="utf-8", newline="") as stream:
        write_export(overlay, to, stream, crossed)
    return crossed


def write_export(overlay: Overlay, to: str, stream: TextIO, crossed: Crossings | None = None) -> None:
    """Write `overlay` to a text stream (UTF-8, no translation of newlines) in the format `to`."""
    check_format(to)
    EXPORTS[to](_Content(overlay, crossed), stream)


def check_exportable(overlay: Overlay, to: str, crossed: Crossings | None = None) -> None:
    """Refuse an overlay with something that a format can't hold, before any of it is written."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        write_export(overlay, to, nowhere, crossed)


def check_format(to: str) -> None:
    """Refuse a format that does not exist."""
    if to not in EXPORTS:
        raise OptionError(f"there is no export format {to!r} (--to); {choose(to, EXPORTS)}")


def _write_graphml(content: _Content, stream: TextIO) -> None:
    node_keys, edge_keys = _graphml_keys(content)
    stream.write(_GRAPHML_HEAD)
    for owner, keys in (("node", node_keys), ("edge", edge_keys)):
        for name, (key, kind) in keys.items():
            stream.write(
                f'  <key id="{key}" for="{owner}" attr.name={_attribute(name)} attr.type="{kind}"/>\n'
            )
    stream.write('  <graph edgedefault="undirected">\n')
    for node, values in nodes_with_attributes(content.overlay):
        stream.write(f"    <node id={_attribute(node)}>{_graphml_data(node_keys, values)}</node>\n")
    for u, v, values in content.edges_in_words():
        ends = f"source={_attribute(u)} target={_attribute(v)}"
        stream.write(f"    <edge {ends}>{_graphml_data(edge_keys, values)}</edge>\n")
    stream.write("  </graph>\n</graphml>\n")


def _graphml_keys(content: _Content) -> tuple[dict[str, tuple[str, str]], dict[str, tuple[str, str]]]:
    """For each attribute of nodes, and for the cost and the topics of edges: its key and its GraphML type."""
    attributes = content.overlay.interests.node_attributes
    columns = [] if attributes is None else list(attributes.schema)
    node_keys = {column.name: (f"n{at}", _graphml_type(column.type)) for at, column in enumerate(columns)}
    costs = {} if content.overlay.costs is None else {"cost": ("cost", "double")}
    return node_keys, costs | ({} if content.crossings is None else {"topics": ("topics", "string")})


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


def _write_gml(content: _Content, stream: TextIO) -> None:
    import networkx as nx

    graph = content.overlay.to_networkx()
    graph.add_edges_from(content.edges_in_words())
    try:
        stream.writelines(f"{line}\n" for line in nx.generate_gml(graph))
    except nx.NetworkXError as error:
        raise InputError(
            f"GML can't hold this overlay: {error}; rename the attribute or export to json"
        ) from None


def _write_dot(content: _Content, stream: TextIO) -> None:
    stream.write("graph {\n")
    for node, values in nodes_with_attributes(content.overlay):
        stream.write(f"  {_dot(node)}{_dot_attributes(values)};\n")
    for u, v, values in content.edges_in_words():
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


def _write_csv(content: _Content, stream: TextIO) -> None:
    """The edges alone, once for each of their topics; names in quotes, so that any newline in them is one."""
    writer = csv.writer(stream, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    costs = ["cost"] if content.overlay.costs is not None else []
    writer.writerow(["source", "target", *costs, *(["topic"] if content.crossings is not None else [])])
    for u, v, values in content.edges():
        topics = values.pop("topics", None)
        row = [u, v, *values.values()]
        writer.writerows([row] if topics is None else [[*row, topic] for topic in topics])


def _write_json(content: _Content, stream: TextIO) -> None:
    """The node-link form of networkx, with the facts as the graph's attributes."""
    overlay = content.overlay
    facts = json.dumps(overlay.facts, ensure_ascii=False)
    stream.write(f'{{"directed": false, "multigraph": false, "graph": {facts},\n"nodes": [')
    _write_json_list(stream, ({"id": node} | values for node, values in nodes_with_attributes(overlay)))
    stream.write('],\n"edges": [')
    _write_json_list(stream, ({"source": u, "target": v} | values for u, v, values in content.edges()))
    stream.write("]}\n")


def _write_json_list(stream: TextIO, rows: Iterable[Mapping[str, Any]]) -> None:
    separator = "\n"
    for row in rows:
        stream.write(separator + json.dumps(row, ensure_ascii=False, default=str))
        separator = ",\n"


EXPORTS: Mapping[str, Callable[[_Content, TextIO], None]] = {
    "graphml": _write_graphml,
    "gml": _write_gml,
    "dot": _write_dot,
    "csv": _write_csv,
    "json": _write_json,
}
