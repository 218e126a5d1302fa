"""Names and their places: small numbers that are given again when a name is gone."""

from collections.abc import Iterable


class Places:
    """Of each name its place, and of each place its name, or None where it is free.

    The place that became free last is given first, so that places are a function of what happened.
    """

    def __init__(self, names: Iterable[str | None], free: Iterable[int] = ()) -> None:
        self.names: list[str | None] = list(names)
        self.free: list[int] = list(free)
        self.of: dict[str, int] = {name: at for at, name in enumerate(self.names) if name is not None}

    def __len__(self) -> int:
        """How many names there are."""
        return len(self.of)

    def name(self, at: int) -> str:
        """The name of a place that is taken."""
        name = self.names[at]
        assert name is not None
        return name

    def take(self, name: str) -> int:
        """The place of a name; a new one gets one."""
        at = self.of.get(name)
        if at is not None:
            return at
        if self.free:
            at = self.free.pop()
            self.names[at] = name
        else:
            at = len(self.names)
            self.names.append(name)
        self.of[name] = at
        return at

    def release(self, at: int) -> None:
        """Free a place."""
        del self.of[self.name(at)]
        self.names[at] = None
        self.free.append(at)
