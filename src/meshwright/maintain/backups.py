"""Backups: who stands in for whom."""

import numpy as np

from meshwright.kernels import backups as kernel
from meshwright.kernels.arrays import Ids
from meshwright.maintain.options import Setting
from meshwright.maintain.state import Change, State
from meshwright.progress import Progress, stage

_METHODS = {"primal-dual": kernel.PRIMAL_DUAL, "greedy": kernel.GREEDY}
_AT_ONCE = 256


def build(state: State, nodes: Ids, setting: Setting) -> None:
    """Build the backups of some nodes, anew where they have some.

    Guarantee: a node's backups share a topic with it; they are `coverage` disjoint covers of its topics, as
    far as others have them; and they know the node as one of their primaries.

    Cost: O(subscribers of a topic) for each backup by primal-dual; greedy looks at all who share a topic.

    Source: [3], Alg. 11 (greedy) and 12 (primal-dual). A node is first taken out of the primaries of its old
    backups. In Alg. 12 the node and its present backups are no candidates; where all candidates have weight
    0, the first of them is taken; a topic that nobody else has is dropped.

    [3] Chen, Jacobsen, Vitenberg: Reinforce Your Overlay with Shadows, 2012.
    """
    options = setting.options
    method, coverage = _METHODS[options.backups], int(options.coverage)

    def work(start: int) -> int:
        how = nodes, start, method, coverage, options.weigh_primaries, setting.rng
        return int(kernel.build_backups(state.live, state.room, *how))

    state.until_done(work, len(nodes), "backups", "primaries")


def build_all(state: State, setting: Setting, progress: Progress | None) -> None:
    """Step I ([3], Alg. 6): the backups of all nodes, some at once, so that Ctrl-C is heard."""
    nodes = np.array(sorted(state.nodes.of.values()), np.int32)
    with stage(progress, "choosing backups", len(nodes)) as advance:
        for start in range(0, len(nodes), _AT_ONCE):
            build(state, nodes[start : start + _AT_ONCE], setting)
            advance(start)


def update(state: State, change: Change, setting: Setting) -> None:
    """Step III ([3], Alg. 8): forget those that left, and build anew what no longer covers.

    That is the backups of a leaver's primaries; of one that lost a topic, its own, and those of its primaries
    that have the topic.
    """
    if change.has_losses:
        lost = change.movers, change.leaving, change.lost_indptr, change.lost
        affected = kernel.find_affected(state.live, state.room, *lost, change.gainers)
        kernel.forget(state.live, change.movers[change.leaving])
        build(state, affected, setting)
