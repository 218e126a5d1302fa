"""Topics grouped into accounts, such that the links of each account are a forest.

NATS refuses leaf nodes that close a cycle, but in each account by itself. On a forest there is one path
between two brokers, so a topic stays on its own tree whatever else its account carries.
"""

from collections.abc import Sequence
from itertools import chain, count

from meshwright.deploy.plan.trees import Forest


def accounts_of(
    trees: Sequence[Sequence[int]], ends: Sequence[tuple[int, int]], before: Sequence[int | None]
) -> list[int]:
    """By tree the account that it is in, from 0: the first that stays a forest, the largest trees first.

    A tree keeps the account that it had before, if it can.

    Cost: O(the links of a tree) for each account that is tried.
    """
    found = [0] * len(trees)
    forests: list[Forest] = []
    held: list[set[int]] = []
    order = sorted(
        range(len(trees)), key=lambda number: (before[number] is None, -len(trees[number]), number)
    )
    for number in order:
        old = before[number]
        for account in chain([] if old is None else [old], count()):
            while account >= len(forests):
                forests.append(Forest())
                held.append(set())
            new = [link for link in trees[number] if link not in held[account]]
            if _stays_forest(forests[account], new, ends):
                for link in new:
                    forests[account].join(link, *ends[link])
                held[account].update(new)
                found[number] = account
                break
    return found


def _stays_forest(forest: Forest, links: Sequence[int], ends: Sequence[tuple[int, int]]) -> bool:
    """Whether links can be added without a cycle."""
    trial = Forest()
    for link in links:
        one, other = (trial.root(forest.root(end)) for end in ends[link])
        if one == other:
            return False
        trial.join(link, one, other)
    return True
