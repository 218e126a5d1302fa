"""Changes since a revision as server-sent events: each reader has its own place, and nothing is queued."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from time import monotonic

from meshwright.serve.control_plane import ControlPlane
from meshwright.serve.history import ToldStep

_AT_ONCE = 100
_QUIET_SECONDS = 10.0
"""After this time without news, a comment shows proxies and readers that the stream is alive."""


async def steps_after(plane: ControlPlane, since: int, most: int) -> Sequence[ToldStep]:
    """The first steps after a revision; files are read on another thread."""
    found = plane.history.in_memory(since, most)
    return await asyncio.to_thread(plane.history.after, since, most) if found is None else found


async def event_stream(
    plane: ControlPlane, since: int, is_welcome: Callable[[], bool]
) -> AsyncIterator[bytes]:
    """The steps after a revision and all that follow, until the end.

    Guarantee: every step once, in order. The id of an event is the revision after its step; a reader that
    sends the last one it has seen continues there. A slow reader is only behind: steps come from the history,
    which all share. A reader that is not welcome any more is sent away within seconds.
    """
    yield b"retry: 1000\n\n"
    checked = monotonic()
    while not plane.stopping:
        if monotonic() - checked > _QUIET_SECONDS:
            checked = monotonic()
            if not is_welcome():
                return
        news = plane.next_news()
        steps = await steps_after(plane, since, _AT_ONCE)
        if steps:
            since = steps[-1].revision
            yield b"".join(_as_event(step) for step in steps)
            continue
        try:
            async with asyncio.timeout(_QUIET_SECONDS):
                await news.wait()
        except TimeoutError:
            yield b": quiet\n\n"


def _as_event(step: ToldStep) -> bytes:
    """JSON on one line has no line ends, so it is one line of data."""
    return b"id: %d\nevent: step\ndata: %b\n\n" % (step.revision, step.text)
