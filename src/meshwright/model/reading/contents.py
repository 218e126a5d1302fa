"""What a file holds, told by how it begins, where its name says something else."""

import re
import stat
from pathlib import Path

from meshwright.runtime.errors import InputError

LOOKED_AT = 256
"""So many bytes at the beginning of a file tell what it is."""

_SIGNATURES = {
    "gzip": rb"\x1f\x8b",
    "bzip2": rb"BZh[1-9]1AY&SY",
    "zstd": rb"\x28\xb5\x2f\xfd",
    "lz4": rb"\x04\x22\x4d\x18",
}
"""How compressed files begin, by what compresses them."""

_ENDINGS = {"gzip": "gz", "bzip2": "bz2", "zstd": "zst", "lz4": "lz4"}
_ZIP, _PARQUET = rb"PK\x03\x04", rb"PAR1[\x00-\x08\x0e-\x1f]"
_OLD_EXCEL = rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_EXCEL_NAMES = (".xlsx", ".xlsm", ".xls", ".ods")
_UTF_32 = (b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def check_regular(path: str | Path) -> None:
    """Refuse a pipe, a device or a socket: files are read more than once."""
    mode = Path(path).stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise InputError(f"{path} is not a regular file; save what it gives to a file first", path=path)


_LONGEST_BLANK = 1 << 12


def is_blank(path: str | Path, size: int) -> bool:
    """Whether a file of that size holds nothing, or a few blank lines, with or without a byte order mark."""
    if size > _LONGEST_BLANK:
        return False
    return not Path(path).read_bytes().removeprefix(b"\xef\xbb\xbf").strip()


def check_text(begin: bytes, path: str | Path) -> None:
    """Refuse a file that begins, once unpacked by its name, as no text in UTF-8 does."""
    if (wrong := _not_text(begin[:LOOKED_AT], path)) is not None:
        raise InputError(f"{path} is {wrong}", path=path)


def check_packed(begin: bytes, path: str | Path, codec: str) -> None:
    """Refuse a file whose name says that it is compressed, if it is not."""
    signature = {**_SIGNATURES, "bz2": _SIGNATURES["bzip2"], "zip": _ZIP}.get(codec)
    if begin and signature is not None and re.match(signature, begin) is None:
        raise InputError(
            f"{path} is not compressed as its name says; rename it, or fetch it again if it is damaged",
            path=path,
        )


def not_utf8(where: str) -> InputError:
    """The error for text that is in no known encoding."""
    return InputError(f"{where} is not UTF-8; save the file as UTF-8")


def not_parquet(path: str | Path) -> str:
    """What to say of a file that should be Parquet, and is not."""
    with Path(path).open("rb") as stream:
        begin = stream.read(LOOKED_AT)
    if re.match(_PARQUET, begin):
        return f"{path} is a Parquet file that is cut off or damaged; fetch or write it again"
    other = _not_text(begin, path)
    told = "not a Parquet file" if other is None else f"{other.partition(';')[0]}, not Parquet"
    return f"{path} is {told}; save it as Parquet, or rename it to what it is"


def _not_text(begin: bytes, path: str | Path) -> str | None:
    """What a file is that is no text in UTF-8, and what to do; None where it may be text."""
    if re.match(_OLD_EXCEL, begin) or (re.match(_ZIP, begin) and _is_excel(begin, path)):
        return "an Excel file; save it as CSV"
    if re.match(_ZIP, begin):
        return "a zip archive; end its name in .zip, or unpack it"
    if re.match(_PARQUET, begin):
        return "a Parquet file; end its name in .parquet"
    for codec, signature in _SIGNATURES.items():
        if re.match(signature, begin):
            return f"compressed with {codec}; end its name in .{_ENDINGS[codec]}, or unpack it"
    encoding = _encoding(begin)
    return None if encoding is None else f"in {encoding}; save it as UTF-8"


def _is_excel(begin: bytes, path: str | Path) -> bool:
    return b"[Content_Types].xml" in begin or str(path).lower().endswith(_EXCEL_NAMES)


def _encoding(begin: bytes) -> str | None:
    """UTF-16 or UTF-32, by a mark or, without one, by the NULs of Latin letters in it."""
    if begin.startswith(_UTF_32):
        return "UTF-32"
    if begin.startswith(_UTF_16):
        return "UTF-16"
    nulls = begin.count(0)
    if nulls * 10 >= len(begin) * 6 and begin.strip(b"\0"):
        return "UTF-32"
    return "UTF-16" if nulls * 3 >= len(begin) > 0 else None
