"""What a journal has lost: steps that were acknowledged and are not there any more."""

from pathlib import Path
from typing import Any, NamedTuple

from meshwright.errors import DatasetError


class Loss(NamedTuple):
    """Steps that are missing from a journal.

    Attributes:
        file: where it shows.
        what: what is wrong with that file.
        steps: how many steps are missing; None where that can't be told.
        left: the last revision that is left; -1 where nothing is.
        last: the last revision that was acknowledged; None where that can't be told.
        by_power: whether a loss of power explains it, under the `sync` policy that was chosen.
    """

    file: Path
    what: str
    steps: int | None
    left: int
    last: int | None
    by_power: bool = False

    def __str__(self) -> str:
        return f"{self.file} {self.told}"

    @property
    def told(self) -> str:
        """What is wrong and what is missing, without the file."""
        return f"{self.what}; {self._missing()}"

    def _missing(self) -> str:
        if self.last is None:
            return f"what came after revision {self.left:,} is missing"
        if self.last <= self.left:
            return f"whether it is all there up to revision {self.left:,} can't be told"
        many = "" if self.steps is None else f" ({self.steps:,} {'step' if self.steps == 1 else 'steps'})"
        return f"what was acknowledged from revision {self.left + 1:,} to {self.last:,}{many} is missing"

    def as_row(self) -> dict[str, Any]:
        """In JSON's types."""
        return {**self._asdict(), "file": str(self.file)}


class LostStepsError(DatasetError):
    """A journal has lost steps that were acknowledged; `loss` tells which."""

    def __init__(self, loss: Loss) -> None:
        left = f"go on from revision {loss.left:,}" if loss.left >= 0 else "begin anew from the overlay"
        super().__init__(
            f"{loss}; restore the files from a copy, or give that up with accept_loss=True (--accept-loss) "
            f"and {left}: the files are put aside first"
        )
        self.loss = loss
