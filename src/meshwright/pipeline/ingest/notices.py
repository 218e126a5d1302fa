"""What an ingest passed over or took in a way that may not be meant: the facts that say so, and the words."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from unicodedata import normalize

from meshwright.model.wildcards import Wildcards, words
from meshwright.runtime.wording import count

WIDE = "lines_with_more_columns"
COMMENTS = "comment_lines"
ZEROS = "zero_entries"
EMPTY_TOPICS = "topics_without_nodes"
SKIPPED = "skipped_files"
DAMAGED = "damaged_files"
HEADER = "first_line_like_header"
COMMAS = "first_line_with_commas"
WILDCARDS = "topics_with_wildcards"
LOOK_ALIKES = "look_alikes"
TWO_KINDS = "no_name_in_both_columns"


def notices(facts: Mapping[str, Any]) -> list[str]:
    """A sentence or two for each such fact of an ingest, in a fixed order."""
    return [line for name, tell in _WORDS.items() if facts.get(name) for line in tell(facts[name])]


def _wide(number: int) -> list[str]:
    lines = count(number, "line has", "lines have")
    return [
        f"Warning: {lines} more than two columns, and only the first two were used. If a line is a node with "
        f"all its topics, give --format adjacency; otherwise choose two columns with --columns."
    ]


def _header(line: Mapping[str, str]) -> list[str]:
    return [
        f"Warning: The first line of {line['file']}, {line['text']!r}, looks like names of columns, but was "
        f"taken as a row. If it is none, give --header; if it is one, --no-header."
    ]


def _commas(line: Mapping[str, str]) -> list[str]:
    return [
        f"Warning: The first line of {line['file']}, {line['text']!r}, was cut at its blanks, so that commas "
        f"or semicolons are in the names. If they separate columns, give --format csv and --delimiter."
    ]


def _wildcards(found: Mapping[str, Any]) -> list[str]:
    told = words(Wildcards(**found))
    way = "To read them as filters, give --filters mqtt; to leave such rows out, --wildcards reject."
    return [f"Warning: {told[0].upper()}{told[1:]}. {way}"]


def _two_kinds(_: bool) -> list[str]:
    return [
        "Warning: No name occurs in both columns, though with --as friendship both hold users. Did you mean "
        "--as pairs?"
    ]


def _look_alikes(found: Mapping[str, Any]) -> list[str]:
    return [_alike(what, alike) for what, alike in found.items() if alike["count"]]


def _alike(what: str, alike: Mapping[str, Any]) -> str:
    shown = "; ".join(_both(names) for names in alike["examples"])
    return (
        f"Warning: {alike['count']:,} {what} look like another one: they differ only by case, by blanks at "
        f"the ends or by how an accent is written; they are kept as different names: {shown}"
    )


def _both(names: Sequence[str]) -> str:
    """Two names; where a screen would show the same for both, characters beyond ASCII by their codes."""
    same = len({normalize("NFKC", name) for name in names}) == 1
    return " and ".join(map(ascii if same else repr, names))


def _comments(number: int) -> list[str]:
    lines = count(number, "line that begins", "lines that begin")
    were = "was" if number == 1 else "were"
    return [
        f"Note: {lines} with # or % {were} skipped as {'a comment' if number == 1 else 'comments'}. "
        f"If names begin so, save the file as CSV."
    ]


def _zeros(number: int) -> list[str]:
    if number == 1:
        return ["Note: 1 entry of the matrix is zero, and is no interest."]
    return [f"Note: {number:,} entries of the matrix are zero, and are no interests."]


def _empty_topics(number: int) -> list[str]:
    topics = count(number, "topic has no node, and is", "topics have no node, and are")
    return [f"Note: {topics} left out."]


def _damaged(found: Mapping[str, Any]) -> list[str]:
    files = count(found["count"], "file is", "files are")
    return [
        f"Warning: {files} cut off or damaged, and nothing of them was read, such as {found['files'][0]}. "
        f"Fetch them again; the manifest lists them."
    ]


def _skipped(found: Mapping[str, int]) -> list[str]:
    told = {
        "hidden": ("entry whose name begins", "entries whose names begin", " with . or _"),
        "empty": ("empty file", "empty files", ""),
        "repeated": ("repeated mention of a file", "repeated mentions of files", ""),
    }
    parts = [
        f"{count(found[kind], one, many)}{end}" for kind, (one, many, end) in told.items() if found.get(kind)
    ]
    return [f"Note: Skipped {' and '.join(parts)}."]


_WORDS: Mapping[str, Callable[[Any], list[str]]] = {
    WIDE: _wide,
    HEADER: _header,
    COMMAS: _commas,
    WILDCARDS: _wildcards,
    TWO_KINDS: _two_kinds,
    LOOK_ALIKES: _look_alikes,
    COMMENTS: _comments,
    ZEROS: _zeros,
    EMPTY_TOPICS: _empty_topics,
    SKIPPED: _skipped,
    DAMAGED: _damaged,
}
