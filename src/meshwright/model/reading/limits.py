"""How much of a file from outside is read: what is larger is an attack or a mistake, and refused."""

from dataclasses import dataclass

from meshwright.runtime.errors import InputError, OptionError

_MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class ReadLimits:
    """What a reader takes, at most.

    Attributes:
        line: the bytes of a line of text, or of a row of CSV. A node with a million topics in one line of
            JSON takes some twenty million.
        ratio: how many times its size a compressed file may grow. Logs that repeat themselves grow 50 to 100
            times; a bomb grows a thousand times (gzip) and more.
        small: the bytes that a compressed file may grow to whatever its ratio; so much is no harm.
    """

    line: int = 32 * _MIB
    ratio: int = 200
    small: int = 64 * _MIB

    def __post_init__(self) -> None:
        for flag, value in (("--max-line", self.line), ("--max-ratio", self.ratio), ("small", self.small)):
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise OptionError(f"{flag} is {value!r}; give a whole number of at least 1", option=flag)

    def unpacked(self, packed: int) -> int:
        """The bytes that a compressed file of this size may grow to."""
        return max(self.small, self.ratio * packed)

    def check_unpacked(self, name: str, packed: int, bytes_so_far: int) -> None:
        """Refuse a compressed file that has grown, or says that it will grow, beyond the limit."""
        if bytes_so_far > self.unpacked(packed):
            raise InputError(
                f"{name}: its {packed:,} bytes unpack to more than {self.unpacked(packed):,} bytes, and a "
                f"file may grow at most {self.ratio:,} times; if you trust the file, unpack it yourself, or "
                f"raise --max-ratio (ratio of ReadLimits)"
            )

    def too_long(self, where: str) -> InputError:
        """The error for a line, or a row, that is longer than the limit."""
        return InputError(
            f"{where} is longer than {self.line:,} bytes; if this is intended, raise --max-line "
            f"(line of ReadLimits)"
        )


READ_LIMITS = ReadLimits()
"""Those that hold unless others are given."""
