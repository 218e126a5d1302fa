"""What a node has seen before."""

REMEMBERED = 65_536
"""Numbers that a node recognises again; older ones are forgotten, or memory would grow for ever."""


class Seen:
    """The numbers seen last, up to `REMEMBERED` of them."""

    def __init__(self) -> None:
        self._numbers: dict[int, None] = {}

    def __contains__(self, number: int) -> bool:
        return number in self._numbers

    def add(self, number: int) -> None:
        """Recognise a number from now on."""
        self._numbers[number] = None
        if len(self._numbers) > REMEMBERED:
            del self._numbers[next(iter(self._numbers))]
