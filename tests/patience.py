"""How long tests wait for what has to happen: only a hang reaches the limit, never a slow machine."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE = 1_800.0
Found = TypeVar("Found")


def wait_for(condition: Callable[[], Found], what: str) -> Found:
    """What `condition` gives as soon as that is something."""
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < end, f"waited in vain: {what}"
        time.sleep(0.02)
    return found


async def soon(condition: Callable[[], object], what: str) -> None:
    """The same for what happens in the event loop of the test."""
    try:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                await asyncio.sleep(0.002)
    except TimeoutError:
        raise AssertionError(f"waited in vain: {what}") from None
