"""What one failure would cut: the topics, and the nodes that are worst to lose."""

from collections.abc import Iterator, Mapping
from typing import Any

from meshwright.report.contents import Contents, Target
from meshwright.report.markup import Html, count, name, percent, section, table, tag


def failures(contents: Contents) -> Html:
    """The section on single failures, today's and with each target; nothing where they were not measured."""
    if "dangerous_nodes" not in contents.evaluation:
        return Html("")
    targets = (part for target in contents.targets for part in _of_target(target))
    return section(
        "failures", "If a node fails", *_failures(contents.evaluation, "Nodes worst to lose"), *targets
    )


def _of_target(target: Target) -> Iterator[Html]:
    yield tag("h3", "With ", name(target.name))
    yield from _failures(target.evaluation, f"Nodes worst to lose with {target.name}")


def _failures(found: Mapping[str, Any], label: str) -> Iterator[Html]:
    yield tag("p", *_in_words(found))
    worst = found.get("dangerous_nodes") or []
    if worst:
        rows = [(name(node["name"]), count(node["topics"]), count(node["cut_off"])) for node in worst]
        yield table(label, ("node", "topics it would cut", "subscriptions it would cut off"), rows, {1, 2})


def _in_words(found: Mapping[str, Any]) -> Iterator[str]:
    topics, cut, bridges = found["topics"], found["cut_nodes_topics"], found["bridge_topics"]
    if cut:
        yield tag("strong", f"{count(cut, 'topic')} ({percent(cut / topics)})", class_="bad-words")
        yield " would be cut by the failure of some one node; "
        yield f"{count(found['cut_nodes'], 'node')} of {count(found['nodes'])} would cut some topic. "
    else:
        yield tag("strong", "No failure of one node cuts a topic.", class_="good-words")
        yield " "
    if bridges:
        yield f"The failure of some one link would cut {count(bridges, 'topic')}"
        yield ". A topic of two subscribers has only one link that could carry it." if not cut else "."
