"""Files of all names that exist, one on each line: what filters may match."""

from pathlib import Path

import pyarrow as pa

from meshwright.model.reading.files import reading
from meshwright.model.reading.limits import ReadLimits
from meshwright.model.reading.text import decoded_lines
from meshwright.runtime.errors import InputError


def read_names(path: Path | None, limits: ReadLimits) -> pa.StringArray | None:
    """The names in a file; blank lines are passed over. None where there is no file."""
    if path is None:
        return None
    with reading(path):
        lines = (line.rstrip("\r\n") for line in decoded_lines(path, limits))
        try:
            return pa.array([line for line in lines if line], pa.string())
        except UnicodeDecodeError:
            raise InputError(f"{path} is not in UTF-8; save it as UTF-8") from None


def names_given(path: Path | None) -> dict[str, str]:
    """What a manifest says of the file; nothing where there is none."""
    return {} if path is None else {"names": str(path)}
