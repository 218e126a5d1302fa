"""What the system may run out of where nodes have many connections, above all file descriptors."""

import errno
import os
import resource

from meshwright.errors import CapacityError

_SPARE = 64
"""Descriptors for what a process has open besides sockets: pipes, libraries, the event loop."""

_MORE_FILES = "spread the nodes over more processes, or raise the limit of open files (ulimit -n)"
_FEWER = "run fewer nodes"

SHORTAGES = {
    errno.EMFILE: _MORE_FILES,
    errno.ENFILE: _FEWER,
    errno.EADDRNOTAVAIL: _FEWER,  # no port is left to connect from
    errno.ENOBUFS: _FEWER,
    errno.ENOMEM: _FEWER,
}
"""The way out, by the number of the error."""


def reason(error: OSError) -> str:
    """What the system says, without where."""
    return os.strerror(error.errno).lower() if error.errno else str(error)


def allow_files(needed: int, at_most: int) -> None:
    """Let this process open `at_most` sockets, or as many as the system allows it, by raising its soft limit.

    An error says what to do where not even those that are needed are allowed.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    if hard != unlimited and hard < needed + _SPARE:
        raise CapacityError(
            f"a process needs about {needed + _SPARE:,} file descriptors, and the system allows it {hard:,}; "
            f"spread the nodes over more processes, take fewer, or raise the limit (ulimit -Hn, as root)"
        )
    wanted = at_most + _SPARE if hard == unlimited else min(at_most + _SPARE, hard)
    if soft not in {unlimited, hard} and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
