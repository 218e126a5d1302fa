"""How each kind of broker writes filters: what separates words, what the wildcards are, what is forbidden.

A dialect is a row of a table. Everything else, from matching to classes, is the same for all of them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from meshwright.runtime.errors import OptionError


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """The rules of one kind of broker.

    Attributes:
        name: by which the dialect is chosen.
        filter_word: what its users call a filter.
        separator: between words.
        single: the word that matches any one word.
        many: the word that matches any number of words.
        many_is_last: whether `many` may only be the last word.
        many_takes_one: whether `many` matches at least one word, instead of none.
        no_words: whether there is a name without any words.
        empty_words: whether a word may be empty.
        hides: words that begin with this are matched literally alone.
        hides_everywhere: whether this holds for all words; otherwise for the first one alone.
        partial: what matches any part of a word; empty where there is nothing of the kind.
        special: a pattern of what needs a look in a word.
        forbidden: a pattern of what no word may have, and what to say of it.
        wild_names: whether a published name may have the words of wildcards, which are plain words there.
        most_bytes: the length of the longest filter and name, in UTF-8.
    """

    name: str
    filter_word: str
    separator: str
    single: str
    many: str
    many_is_last: bool
    many_takes_one: bool = False
    no_words: bool = False
    empty_words: bool = True
    hides: str = ""
    hides_everywhere: bool = False
    partial: str = ""
    special: str
    forbidden: tuple[tuple[str, str], ...] = ()
    wild_names: bool = False
    most_bytes: int

    @property
    def has_wildcard(self) -> str:
        """A pattern of texts with a word that is a wildcard."""
        cut, *words = map(re.escape, (self.separator, self.single, self.many))
        return f"(^|{cut})({'|'.join(words)})({cut}|$)"

    def hides_word(self, word: str) -> bool:
        """Whether a word is one that wildcards pass over."""
        return bool(self.hides) and word.startswith(self.hides)

    def fault_of(self, word: str) -> str | None:
        """What is wrong with a word that is no wildcard; None where nothing is."""
        for pattern, words in self.forbidden:
            if re.search(pattern, word):
                return words
        return None

    def without_group(self, text: str) -> str:
        """The filter alone, of one that a group shares; ValueError with the fault where it has none."""
        return _without_group.get(self.name, str)(text)


def _mqtt_without_group(text: str) -> str:
    if text != "$share" and not text.startswith("$share/"):
        return text
    parts = text.split("/", 2)
    if len(parts) < 3 or not parts[1] or not parts[2] or re.search("[+#]", parts[1]):
        raise ValueError("a shared subscription is $share/GROUP/FILTER, with a group without + and #")
    return parts[2]


def _nats_without_group(text: str) -> str:
    subject, blank, group = text.partition(" ")
    if blank and (not group or re.search(r"[ \t\r\n\f]", group)):
        raise ValueError("after a blank comes the name of one queue group; a subject has no blanks")
    return subject


_without_group = {"mqtt": _mqtt_without_group, "nats": _nats_without_group}

_NUL = ("\0", "it has a NUL character; remove it")

_ENDS_OF_PLANES = "".join(chr(plane << 16 | last) for plane in range(17) for last in (0xFFFE, 0xFFFF))
_NO_CHARACTERS = f"\0-\x1f\x7f-\x9f\ufdd0-\ufdef{_ENDS_OF_PLANES}"
"""The control characters and noncharacters that MQTT advises against, and Mosquitto refuses, as a range."""
_CONTROL = (f"[{_NO_CHARACTERS}]", "it has a control character, or one that Unicode reserves; remove it")

DIALECTS: Mapping[str, Dialect] = {
    "mqtt": Dialect(
        name="mqtt",
        filter_word="topic filter",
        separator="/",
        single="+",
        many="#",
        many_is_last=True,
        hides="$",
        special=f"[+#{_NO_CHARACTERS}]",
        forbidden=(("[+#]", "+ and # must be a whole level, as in a/+/b; write the level in full"), _CONTROL),
        most_bytes=65_535,
    ),
    "nats": Dialect(
        name="nats",
        filter_word="subject",
        separator=".",
        single="*",
        many=">",
        many_is_last=True,
        many_takes_one=True,
        empty_words=False,
        special="[*>\0\\s]",
        forbidden=((r"\s", "a subject has no white space; remove it"), _NUL),
        most_bytes=65_535,
    ),
    "amqp": Dialect(
        name="amqp",
        filter_word="binding key",
        separator=".",
        single="*",
        many="#",
        many_is_last=False,
        no_words=True,
        special="[*#]",
        wild_names=True,
        most_bytes=255,
    ),
    "zenoh": Dialect(
        name="zenoh",
        filter_word="key expression",
        separator="/",
        single="*",
        many="**",
        many_is_last=False,
        empty_words=False,
        hides="@",
        hides_everywhere=True,
        partial="$*",
        special=r"[*$#?@]",
        forbidden=(
            (r"[#?]", "# and ? are reserved; remove them"),
            (r"\$(?!\*)", "$ may only stand in $*; remove it"),
            (r"(?<!\$)\*", "* and ** must be a whole chunk, and $* matches a part of one; use one of these"),
            (r"^@.*\$\*", "a chunk that begins with @ is matched literally alone; name the chunk in full"),
        ),
        most_bytes=65_535,
    ),
}
"""By name, all dialects."""


def dialect_of(name: str) -> Dialect:
    """The dialect of this name."""
    if name not in DIALECTS:
        raise OptionError(
            f"the dialect of filters is {name!r}; choose one of {', '.join(DIALECTS)}", option="dialect"
        )
    return DIALECTS[name]
