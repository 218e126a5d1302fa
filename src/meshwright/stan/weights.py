"""Which nodes a node prefers: the pseudo-random weights of StaN."""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np

from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Words


def node_keys(interests: Interests, salt: int = 0) -> Words:
    """A 64-bit hash of the name of each node, by id; another salt gives others. O(nodes), 8 bytes each."""
    salted = (salt % 2**64).to_bytes(8, "little")
    digests = b"".join(
        blake2b(name.encode(), digest_size=8, salt=salted).digest() for name in interests.nodes.to_pylist()
    )
    return np.frombuffer(digests, np.dtype("<u8")).astype(np.uint64)


class Weights:
    """The order in which each node prefers all others, by ascending weight ([5], Alg. 1).

    Guarantee: the order of a node depends on names and the salt alone, whatever the topic, so that a node
    prefers the same others in all of its views; every order is equally likely; those of two nodes are
    independent.

    [5] hashes STR(p) + STR(q). Here both names are hashed apart, so that "a" + "bc" and "ab" + "c" differ,
    and the two hashes are mixed, which a kernel can do with 8 bytes per node. The salt lets runs be
    independent of each other.
    """

    def __init__(self, keys: Words) -> None:
        self.keys = keys

    def __len__(self) -> int:
        return len(self.keys)

    def lightest(self, node: int, others: Iterable[int], count: int) -> list[int]:
        """The `count` others that weigh least to `node`, lightest first."""
        from meshwright.kernels.core.hashing import weights_of

        ids = np.fromiter(others, np.int32)
        weights = np.empty(len(ids), np.uint64)
        weights_of(self.keys[node], self.keys, ids, weights)
        best: list[int] = ids[np.argsort(weights, kind="stable")[:count]].tolist()
        return best
