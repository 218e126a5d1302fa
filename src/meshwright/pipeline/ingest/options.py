"""The options of an ingest: what the rows mean, and which columns hold the names."""

from dataclasses import dataclass

from meshwright.filters.dialects import DIALECTS
from meshwright.model.reading.columns import Column, by_position, check_different, written
from meshwright.model.reading.limits import READ_LIMITS, ReadLimits
from meshwright.pipeline.ingest.inputs import FORMATS
from meshwright.runtime.errors import InputError, OptionError
from meshwright.runtime.wording import choose

RELATIONS = {
    "pairs": ("node", "topic"),
    "follows": ("follower", "followee"),
    "friendship": ("source", "target"),
}
"""What a row can mean, and how its two columns are called unless `columns` says otherwise."""

WILDCARDS = ("keep", "reject")
DAMAGED_FILES = ("refuse", "skip")
_DELIMITED = ("csv", "tsv")
_WITH_DELIMITER = (*_DELIMITED, "adjacency")
_WITHOUT_COLUMNS = ("adjacency", "npz", "mtx", "hypergraph")
_WITH_HEADER = (*_DELIMITED, "edges")


@dataclass(frozen=True, kw_only=True)
class IngestOptions:
    """How to read rows.

    `columns` are two names, or two positions from 1, which are integers. By default, the files' names decide
    the `format`, and delimited files have a `header` unless the columns are positions. `max_rejected` is the
    fraction of rows that may be unusable. With `own_topic`, users who follow or befriend others also
    subscribe to their own topic. `wildcards` decides about topics in pairs that have a level `#` or `+`:
    they are kept as plain names, and reported, or their rows are rejected. With `filters`, topics are
    filters of that dialect, and the dataset has their classes; `catalogue` is a file of the names that
    exist. `damaged` decides about files that are cut off or damaged: the first one is an error, or all are
    skipped and reported. A line beyond the limits is unusable, and a compressed file beyond them is refused.
    """

    relation: str
    format: str | None = None
    columns: tuple[Column, Column] | None = None
    header: bool | None = None
    delimiter: str | None = None
    max_rejected: float = 0.01
    own_topic: bool = False
    wildcards: str = "keep"
    filters: str | None = None
    catalogue: str | None = None
    damaged: str = "refuse"
    limits: ReadLimits = READ_LIMITS

    def __post_init__(self) -> None:
        _check_choice("--as", self.relation, tuple(RELATIONS))
        _check_choice("--format", self.format, (*FORMATS, None))
        _check_choice("--wildcards", self.wildcards, WILDCARDS)
        _check_choice("--damaged", self.damaged, DAMAGED_FILES)
        if not 0 <= self.max_rejected <= 1:
            raise _refusal(
                "--max-rejected", f"is {self.max_rejected}; give a fraction from 0 to 1, such as 0.01"
            )
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n'):
            raise _refusal(
                "--delimiter", f"is {self.delimiter!r}; give one character other than a quote or a line break"
            )
        if self.own_topic and self.relation == "pairs":
            raise _refusal(
                "--own-topic",
                "applies only to --as follows and --as friendship, where nodes are topics; leave it out",
            )
        self._check_filters()
        self._check_columns()
        if self.format is not None:
            self.check_format(self.format)

    def _check_filters(self) -> None:
        _check_choice("--filters", self.filters, (*DIALECTS, None))
        if self.catalogue is not None and self.filters is None:
            raise _refusal("--names", "lists the names for --filters; leave it out, or give both")
        if self.filters is not None and self.relation != "pairs":
            raise _refusal("--filters", "applies only to --as pairs, where a topic is a name; leave it out")
        if self.filters is not None and self.wildcards == "reject":
            raise _refusal("--wildcards", "rejects wildcards, but --filters reads them; give one of the two")

    def _check_columns(self) -> None:
        if self.columns is None:
            return
        if len(self.columns) != 2 or not all(isinstance(name, str | int) for name in self.columns):
            raise _refusal("--columns", f"is {self.columns!r}; give two, such as user,genre or 1,2")
        try:
            by_position(self.columns)
            check_different(self.columns)
        except InputError as error:
            raise _refusal("--columns", f"is {written(self.columns)}; {error}") from None

    def check_format(self, name: str) -> None:
        """Refuse what files of this format don't have."""
        if self.delimiter is not None and name not in _WITH_DELIMITER:
            raise _refusal(
                "--delimiter",
                f"applies only to csv, tsv and adjacency, but the input is {name}; "
                "leave it out, or give --format csv",
            )
        if self.header is not None and name not in _WITH_HEADER:
            raise OptionError(
                f"--header and --no-header apply only to csv, tsv and edges, but the input is {name}; "
                "leave them out"
            )
        if self.columns is not None and name in _WITHOUT_COLUMNS:
            raise OptionError(f"--columns does not apply to {name}, which has no columns; leave it out")
        if self.positions is not None and name in ("json", "jsonl"):
            raise OptionError(
                f"in {name}, columns are keys, not positions; give names to --columns, such as user,genres"
            )
        by_name = self.positions is None and (self.columns is not None or name in _DELIMITED)
        if by_name and self.header is False and name in _WITH_HEADER:
            raise OptionError(
                "without a header, columns have no names; give positions, such as --columns 1,2"
            )

    @property
    def positions(self) -> tuple[int, int] | None:
        """The positions from 0, where columns are given so."""
        if self.columns is None or not by_position(self.columns):
            return None
        return int(self.columns[0]) - 1, int(self.columns[1]) - 1

    @property
    def names(self) -> tuple[str, str]:
        """The names of the columns: those that were given, or those that the relation has."""
        if self.columns is None or by_position(self.columns):
            return RELATIONS[self.relation]
        return str(self.columns[0]), str(self.columns[1])

    @property
    def topics_are_names(self) -> bool:
        """Whether topics are plain names that somebody chose: not users, and not filters."""
        return self.relation == "pairs" and self.filters is None

    @property
    def wanted(self) -> tuple[Column, Column]:
        """The columns, by name or by position."""
        return self.columns or RELATIONS[self.relation]


def _refusal(flag: str, words: str) -> OptionError:
    return OptionError(f"{flag} {words}", option=flag)


def _check_choice(flag: str, value: str | None, choices: tuple[str | None, ...]) -> None:
    if value not in choices:
        legal = [choice for choice in choices if choice is not None]
        raise OptionError(f"{flag} is {value!r}; {choose(value, legal)}", option=flag)
