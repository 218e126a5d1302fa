"""What is wrong with a file."""

from pathlib import Path
from typing import NamedTuple

from meshwright.errors import DatasetError


class Problem(NamedTuple):
    """A file, and what is wrong with it, as the end of a sentence: `is missing`."""

    file: Path
    what: str

    def error(self) -> DatasetError:
        """The problem as an error."""
        return DatasetError(f"{self.file} {self.what}; restore it from a copy")
