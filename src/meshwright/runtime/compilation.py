"""How far the compilation of kernels is, for whoever shows progress; kernels note it themselves."""


class Compilation:
    """The functions that a kernel still needed when it was called, and those compiled since.

    Both are empty while nothing is compiled. One thread compiles at a time; others may read.
    """

    def __init__(self) -> None:
        self.needed: frozenset[str] = frozenset()
        self.done: frozenset[str] = frozenset()
        self._open: list[str] = []

    def begin(self, function: str, called: frozenset[str]) -> None:
        """A function is going to be compiled, after those that it calls."""
        self._open.append(function)
        self.needed |= called | {function}

    def load(self, function: str) -> None:
        """A function was found in the cache."""
        self.done |= {function} & self.needed

    def end(self, function: str) -> None:
        """A function was compiled; with the first one that was begun, all that it needs are."""
        self.done |= {function}
        while self._open and self._open.pop() != function:
            continue
        if not self._open:
            self.needed = self.done = frozenset()


COMPILATION = Compilation()
