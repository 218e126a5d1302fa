"""Files that come from outside: which they are, and their readers' errors as ours."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from meshwright.model.reading.contents import check_regular, not_parquet
from meshwright.model.reading.limits import ReadLimits
from meshwright.runtime.errors import DamagedFileError, DatasetError, InputError, MeshwrightError, one_line
from meshwright.runtime.places import Place
from meshwright.runtime.wording import count

_BYTES_A_ROW = 8


@contextmanager
def reading(path: Place | str, error: type[InputError] | type[DatasetError] = InputError) -> Iterator[None]:
    """Turn what Arrow or the operating system says about `path` into `error`, on one line.

    Errors of ours that name no file are about `path`.
    """
    try:
        yield
    except MeshwrightError as ours:
        ours.at(path)
        raise
    except FileNotFoundError:
        raise error(f"{path}: there is no such file; check the path", path=path) from None
    except (pa.ArrowException, OSError, UnicodeError) as foreign:
        if isinstance(path, Path) and _is_about_a_folder(foreign):
            raise error(_a_folder(path), path=path) from None
        if error is InputError and _is_damage(foreign):
            error = DamagedFileError
        if _is_about_parquet(foreign) and isinstance(path, str | Path) and Path(path).is_file():
            raise error(not_parquet(path), path=path) from None
        raise error(f"{path} can't be read: {one_line(foreign)}", path=path) from foreign


def _is_damage(error: Exception) -> bool:
    """Whether a reader says that the content is wrong; the operating system gives its errors a number."""
    return isinstance(error, pa.ArrowInvalid) or (isinstance(error, OSError) and error.errno is None)


def _is_about_a_folder(error: Exception) -> bool:
    return isinstance(error, IsADirectoryError) or "Expected file path, but" in str(error)


def _is_about_parquet(error: Exception) -> bool:
    """Whether a file has no footer of Parquet's."""
    return any(words in str(error) for words in ("Parquet magic bytes not found", "Parquet file size is"))


def part_files(path: Path) -> list[Path]:
    """The Parquet files that `path` stands for: itself, or all `*.parquet` of a folder by name."""
    if not path.is_dir():
        check_regular(path)
        return [path]
    parts = sorted(part for part in path.glob("*.parquet") if not part.name.startswith((".", "_")))
    if not parts:
        refuse_dataset(path)
    return parts


def refuse_dataset(path: Path) -> None:
    """Refuse a dataset where a file of rows, or a folder of such files, is expected."""
    if is_dataset(path):
        raise InputError(_a_folder(path), path=path)


def is_dataset(path: Path) -> bool:
    """Whether a folder is a dataset, or what else has a manifest."""
    from meshwright.model.storage.manifest import MANIFEST

    return (path / MANIFEST).is_file()


def _a_folder(path: Path) -> str:
    """What to say of a folder where a file of rows is expected."""
    if not is_dataset(path):
        return f"{path} is a folder; give a file"
    tables = ", ".join(sorted(entry.name for entry in path.iterdir() if entry.is_dir()))
    return f"{path} is a dataset; give a file of rows, or the folder of one of its tables: {tables}"


def check_rows(metadata: Any, name: str, rows: int) -> None:
    """Refuse a Parquet file that has given another number of rows than its footer states."""
    if rows != metadata.num_rows:
        raise DamagedFileError(
            f"{name} is damaged: its footer counts {count(metadata.num_rows, 'row')}, but it holds {rows:,}"
        )


def parquet_parts(path: Path, limits: ReadLimits) -> list[Path]:
    """A Parquet file, or those of a folder, of which there must be one; each within the limits."""
    import pyarrow.parquet as pq

    with reading(path):
        parts = part_files(path)
        if not parts:
            raise InputError(
                f"{path} holds no *.parquet file; give a Parquet file or a folder of them", path=path
            )
    for part in parts:
        with reading(part):
            check_declared(pq.read_metadata(part), str(part), part.stat().st_size, limits)
    return parts


def parquet_table(path: Path, limits: ReadLimits) -> pa.Table:
    """All rows of a Parquet file, or of those of a folder, within the limits."""
    import pyarrow.parquet as pq

    return pa.concat_tables([pq.read_table(part) for part in parquet_parts(path, limits)])


def check_declared(metadata: Any, name: str, packed: int, limits: ReadLimits) -> None:
    """Refuse a Parquet file that says that it unpacks to more than the limits allow; reads its footer alone.

    Rows count beside bytes: a column of one value repeated takes next to nothing until it is in memory.
    """
    declared = sum(metadata.row_group(at).total_byte_size for at in range(metadata.num_row_groups))
    limits.check_unpacked(name, packed, max(declared, _BYTES_A_ROW * metadata.num_rows))
