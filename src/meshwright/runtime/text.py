"""Text from outside, made fit for one line of a terminal."""

_JOINERS = "\u200c\u200d"  # not printable by themselves, and part of words in Persian and of emoji


def visible(text: str) -> str:
    """A text with what can't be seen, steers a terminal or turns text around written as an escape."""
    if text.isprintable():
        return text
    return "".join(
        letter
        if letter.isprintable() or letter in _JOINERS
        else letter.encode("unicode_escape", "surrogatepass").decode("ascii")
        for letter in text
    )


def one_line(error: BaseException) -> str:
    """What a foreign exception says, on one line."""
    return " ".join(str(error).split())
