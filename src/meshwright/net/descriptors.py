"""File descriptors: each connection takes one at each of its ends, and a process may have only so many."""

import resource

from meshwright.errors import CapacityError

_SPARE = 64
"""For what a process has open besides: pipes, libraries, the event loop."""


def allow(needed: int, at_most: int) -> None:
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
