"""The error tree. Every message names the input, the rule and the way out.

Foreign exceptions (pyarrow's, the operating system's) are translated where they enter, so that a caller
who catches `MeshwrightError` has caught everything that a wrong input can cause.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Self


class MeshwrightError(Exception):
    """The root of all errors that Meshwright raises on purpose.

    Attributes:
        path: the file or folder that the message names; None where it names none.
        row: the row or line of that file, counted from 1.
        option: the option that the message names.
    """

    def __init__(
        self,
        message: str = "",
        *,
        path: object = None,
        row: int | None = None,
        option: str | None = None,
    ) -> None:
        super().__init__(message)
        self.path = None if path is None else str(path)
        self.row = None if row is None else int(row)
        self.option = option

    def at(self, path: object, row: int | None = None) -> Self:
        """The same error, which is about this path and row unless it names another path already."""
        if self.path is None or self.path == str(path):
            self.path = str(path)
            self.row = self.row if row is None else int(row)
        return self


class MeshwrightWarning(UserWarning):
    """Something that works, and that the caller should know of."""


class InputError(MeshwrightError):
    """The data handed in can't be used: a missing column, an unknown node, a self loop, a wrong type."""


class DamagedFileError(InputError):
    """A file is cut off or damaged, so that none of it can be trusted.

    Attributes:
        paths: all files that are known to be damaged; the message is about the first.
    """

    def __init__(
        self,
        message: str = "",
        *,
        path: object = None,
        row: int | None = None,
        option: str | None = None,
        paths: Sequence[str] = (),
    ) -> None:
        super().__init__(message, path=path, row=row, option=option)
        self.paths = tuple(paths)


class DatasetError(MeshwrightError):
    """A folder is not the dataset it should be, is there already, or can't be written."""


class OptionError(MeshwrightError):
    """An unknown algorithm or option, or a value outside its range."""


class InfeasibleError(MeshwrightError):
    """No overlay keeps to the limits, by proof, or none was found.

    Attributes:
        proved: whether there is a proof that none exists.
        nodes, topics: the names of some that are at fault.
        missing: how many joins of topics the nearest overlay lacked; None where there is a proof.
    """

    def __init__(
        self,
        message: str = "",
        *,
        proved: bool = False,
        nodes: Sequence[str] = (),
        topics: Sequence[str] = (),
        missing: int | None = None,
        path: object = None,
        row: int | None = None,
        option: str | None = "max_links",
    ) -> None:
        super().__init__(message, path=path, row=row, option=option)
        self.proved, self.nodes, self.topics, self.missing = proved, tuple(nodes), tuple(topics), missing


class PluginError(MeshwrightError):
    """An algorithm of another package can't be loaded, takes a name that is taken, or breaks its contract."""


class CapacityError(MeshwrightError):
    """The estimated memory does not fit; the message names what to use instead."""


class SparkError(MeshwrightError):
    """Spark can't start, can't reach its cluster, or a job of it failed for a reason of its own."""


class NetworkError(MeshwrightError):
    """Nodes can't run on real sockets: a port is taken, files are short, or a process of theirs has died."""


NAME_THE_COLUMN = "name the one to use"
"""How an error about a column that is not there ends; who knows a flag for it says that as well."""


CHECK_THE_DELIMITER = "check the delimiter (--delimiter)"


@contextmanager
def columns_named_by(flags: str, *, delimiter: bool = True) -> Iterator[None]:
    """Let an error about a column that is not there name the flags that choose columns.

    Where there is no flag for the delimiter, the error says what the file must have.
    """
    try:
        yield
    except InputError as error:
        said = str(error).replace(NAME_THE_COLUMN, f"{NAME_THE_COLUMN} with {flags}")
        way = CHECK_THE_DELIMITER if delimiter else "separate the columns with commas, or name the file *.tsv"
        error.args = (said.replace(CHECK_THE_DELIMITER, way),)
        raise


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


LONGEST_NAME = 80
LONGEST_LINE = 1_000


def quoted(name: object, longest: int = LONGEST_NAME) -> str:
    """A name in quotes, as an error shows it: the beginning of one that is long."""
    text = str(name)
    return repr(text) if len(text) <= longest else f"{text[:longest]!r}…"


def shortened(text: str, longest: int = LONGEST_LINE) -> str:
    """A long line without its middle: what is wrong comes first in it, and what to do last."""
    if len(text) <= longest:
        return text
    end = longest // 3
    return f"{text[: longest - end - 3]} … {text[-end:]}"


def one_line(error: BaseException) -> str:
    """What a foreign exception says, on one line."""
    return " ".join(str(error).split())
