"""How much one repair takes on at once: its memory grows with the square of the nodes that it may link."""

from collections.abc import Sequence

from meshwright.maintain.event_batches import Move
from meshwright.maintain.options import MaintainOptions
from meshwright.maintain.state import MaintainedOverlay
from meshwright.runtime.memory import check_memory, needed

_MOST_SHADOWS = 16_384
"""Nodes that a repair of a batch may link: 134 MB. One node that changes may have more, if memory allows."""

_WORTH_A_LOOK = 1 << 28
"""Bytes under which memory is not looked at, which takes as long as a small repair."""


def portions(state: MaintainedOverlay, moves: Sequence[Move], options: MaintainOptions) -> list[list[Move]]:
    """The moves of a batch in portions, each for one repair; refused where one can't fit into memory.

    Nearly always one portion. Where there are more, those who leave go first, so that none of them is linked
    once more. It depends on the overlay and the moves, never on the machine.
    """
    if options.policy != "shadow":
        newcomers = sum(move.before is None for move in moves)
        _check(len(state.nodes) + newcomers, "use the policy shadow")
        return [list(moves)]
    sizes = [_shadows(state, move, options.coverage) for move in moves]
    _check(max(sizes, default=0), "lower the degrees by reoptimise() before")
    if sum(sizes) <= _MOST_SHADOWS:
        return [list(moves)]
    found: list[list[Move]] = []
    room = 0
    for size, move in sorted(zip(sizes, moves, strict=True), key=lambda pair: pair[1].after is not None):
        if size > room:
            found.append([])
            room = _MOST_SHADOWS
        found[-1].append(move)
        room -= size
    return found


def _shadows(state: MaintainedOverlay, move: Move, coverage: int) -> int:
    """How many nodes a move may bring into a repair, at most: its links and backups, old and new."""
    new = min(coverage * len(move.after or ()), len(state.nodes)) + 1
    at = state.nodes.of.get(move.node)
    if at is None:
        return new
    return (
        int(state.live.links.counts[at]) + int(state.live.backups.counts[at]) + new * (move.after is not None)
    )


def _check(nodes: int, instead: str) -> None:
    estimate = needed("repairing", pairs=nodes * nodes // 2)
    if estimate > _WORTH_A_LOOK:
        check_memory(f"a repair among {nodes:,} nodes", estimate, instead)
