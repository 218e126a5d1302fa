"""What filters match, by definition: recursion over the words of one filter and one name, nothing shared."""

from itertools import product

SEPARATOR = {"mqtt": "/", "nats": ".", "amqp": ".", "zenoh": "/"}


def matches(dialect: str, filter_: str, name: str) -> bool:
    """Whether a filter matches a name, as the manual of the broker says."""
    return {"mqtt": _mqtt, "nats": _nats, "amqp": _amqp, "zenoh": _zenoh}[dialect](filter_, name)


def _mqtt(filter_: str, name: str) -> bool:
    if name.startswith("$") and filter_[0] in "+#":
        return False

    def rest(levels: list[str], words: list[str]) -> bool:
        if levels == ["#"]:
            return True
        if not levels or not words:
            return not levels and not words
        return levels[0] in ("+", words[0]) and rest(levels[1:], words[1:])

    return rest(filter_.split("/"), name.split("/"))


def _nats(filter_: str, name: str) -> bool:
    def rest(tokens: list[str], words: list[str]) -> bool:
        if tokens == [">"]:
            return bool(words)
        if not tokens or not words:
            return not tokens and not words
        return tokens[0] in ("*", words[0]) and rest(tokens[1:], words[1:])

    return rest(filter_.split("."), name.split("."))


def _amqp(filter_: str, name: str) -> bool:
    def rest(keys: list[str], words: list[str]) -> bool:
        if not keys:
            return not words
        if keys[0] == "#":
            return any(rest(keys[1:], words[taken:]) for taken in range(len(words) + 1))
        return bool(words) and keys[0] in ("*", words[0]) and rest(keys[1:], words[1:])

    return rest(filter_.split("."), name.split(".") if name else [])


def _zenoh(filter_: str, name: str) -> bool:
    def part(pattern: str, word: str) -> bool:
        if not pattern:
            return not word
        if pattern.startswith("$*"):
            return any(part(pattern[2:], word[taken:]) for taken in range(len(word) + 1))
        return bool(word) and pattern[0] == word[0] and part(pattern[1:], word[1:])

    def chunk(pattern: str, word: str) -> bool:
        if word.startswith("@"):
            return pattern == word
        return pattern == "*" or part(pattern, word)

    def rest(chunks: list[str], words: list[str]) -> bool:
        if not chunks:
            return not words
        if chunks[0] == "**":
            seen = next((at for at, word in enumerate(words) if word.startswith("@")), len(words))
            return any(rest(chunks[1:], words[taken:]) for taken in range(seen + 1))
        return bool(words) and chunk(chunks[0], words[0]) and rest(chunks[1:], words[1:])

    return rest(filter_.split("/"), name.split("/"))


WORDS = {
    "mqtt": ["a", "b", "", "$a", "z"],
    "nats": ["a", "b", "$a", "z"],
    "amqp": ["a", "b", "", "z"],
    "zenoh": ["a", "b", "ab", "ba", "@a", "z", "az", "azb", "bab"],
}
"""Words of names: those of the filters, and others; in zenoh, with or without an a in front and inside, and
with or without a b at the end."""

LONGEST = {"mqtt": 4, "nats": 4, "amqp": 5, "zenoh": 3}


def all_names(dialect: str) -> list[str]:
    """All names of a few words: enough to tell filters of at most three words apart (zenoh: two)."""
    found = [] if dialect != "amqp" else [""]
    for length in range(1, LONGEST[dialect] + 1):
        names = map(SEPARATOR[dialect].join, product(WORDS[dialect], repeat=length))
        found += [name for name in names if name]
    return found
