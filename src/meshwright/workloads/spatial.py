"""The two-dimensional grid of [5], 3.2: nodes that are near each other take the same topics."""

from itertools import chain, pairwise

import numpy as np

from meshwright.model.interests import Interests
from meshwright.runtime.arrays import Floats, Ids, Longs, Ticks
from meshwright.runtime.checks import MOST_NAMES, STEEPEST, number, positive, whole
from meshwright.runtime.progress import CANCEL, DONE, Progress, run_with_ticks
from meshwright.runtime.seeds import generator
from meshwright.workloads.laws import named_interests, power_law

_WIDEST = 1e6
# The tree answers in lists of Python numbers: this many take some 40 MB.
_FOUND_PER_STEP = 1_000_000


def grid(
    nodes: int = 100,
    topics: int = 16,
    *,
    copies_exponent: float = 2.0,
    max_copies: int | None = None,
    radius_exponent: float = 3.0,
    min_radius: float = 0.58,
    max_radius: float = 4.0,
    torus: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> Interests:
    """Interests by place: a node takes the topics of which a copy lies within its radius.

    Nodes and copies of topics are placed evenly at random on a square of one cell a topic, whose opposite
    borders meet if `torus`. A topic has k copies with probability proportional to k^-copies_exponent, up
    to `max_copies` (the number of topics, unless given). A radius, in cells, has a density proportional
    to r^-radius_exponent between its bounds. What a node takes grows with the square of its radius, so
    the radius exponent 3 makes the subscription sizes a power law with exponent 2.

    [5] states none of these numbers. Ours are round but for `min_radius`, which is calibrated to the physical
    view size of 25 at which 100 nodes and 16 topics start in [5], Fig. 6: over the seeds 0 to 999 the mean is
    25.2 (standard deviation of one seed 4.8), with 4.2 topics per node and 26 nodes per topic; 6% of the
    nodes have no topic. Measured in cells, the numbers suit any count of topics: sizes grow only as the mean
    number of copies, with its logarithm. Nodes without topics and topics without nodes are kept.

    O(f log f), f being the copies found; they are searched in a k-d tree. Memory is that of the interests.

    Example:
        >>> import meshwright as mw
        >>> mw.workloads.grid(50, 16, seed=1).topic_count
        16
    """
    whole("nodes", nodes, 0, MOST_NAMES)
    whole("topics", topics, 1, MOST_NAMES)
    most = topics if max_copies is None else whole("max_copies", max_copies, 1, MOST_NAMES)
    number("copies_exponent", copies_exponent, 0, STEEPEST)
    number("radius_exponent", radius_exponent, 0, STEEPEST)
    positive("max_radius", max_radius, _WIDEST)
    positive("min_radius", min_radius, max_radius, ", which is max_radius")
    rng = generator(seed, "workloads.grid.topics")
    owner = np.repeat(np.arange(topics), power_law(rng, topics, 1, most, copies_exponent))
    copies = rng.random((owner.size, 2))
    rng = generator(seed, "workloads.grid.nodes")
    places = rng.random((nodes, 2))
    radii = power_law_radii(rng, nodes, min_radius, max_radius, radius_exponent) / np.sqrt(topics)

    def work(ticks: Ticks) -> tuple[Longs, Ids]:
        return topics_within(copies, owner, places, radii, torus=torus, ticks=ticks)

    indptr, topic_ids = run_with_ticks(work, "generate", nodes, progress)
    return named_interests(indptr, topic_ids, topics)


def power_law_radii(rng: np.random.Generator, count: int, low: float, high: float, exponent: float) -> Floats:
    """`count` numbers from `low` to `high` with a density proportional to r^-exponent."""
    evenly: Floats = rng.random(count)
    stretch = np.log(high / low)
    slope = 1.0 - exponent
    if abs(slope) * stretch > 1e-9:
        evenly = np.log1p(evenly * np.expm1(slope * stretch)) / (slope * stretch)
    return np.asarray(low * np.exp(evenly * stretch))


def topics_within(
    copies: Floats, owner: Longs, places: Floats, radii: Floats, *, torus: bool, ticks: Ticks
) -> tuple[Longs, Ids]:
    """The topics that own a copy within each node's radius on the unit square, as offsets and sorted ids."""
    from scipy.spatial import cKDTree

    tree = cKDTree(copies, boxsize=np.ones(2)) if torus else cKDTree(copies)
    topics = owner[-1] + 1
    found = np.asarray(tree.query_ball_point(places, radii, return_length=True, workers=-1), np.int64)
    steps = np.flatnonzero(np.diff(np.cumsum(found) // _FOUND_PER_STEP, prepend=0))
    pieces = [np.empty(0, np.int32)]
    sizes = np.zeros(radii.size, np.int64)
    for first, last in pairwise([0, *steps.tolist(), radii.size]):
        if ticks[CANCEL]:
            break
        lists = tree.query_ball_point(places[first:last], radii[first:last])
        copy = np.fromiter(chain.from_iterable(lists), np.int64, found[first:last].sum())
        node = np.repeat(np.arange(last - first), found[first:last])
        interests = np.unique(node * topics + owner[copy])
        sizes[first:last] = np.bincount(interests // topics, minlength=last - first)
        pieces.append((interests % topics).astype(np.int32))
        ticks[DONE] = last
    return np.concatenate([[0], np.cumsum(sizes)]), np.concatenate(pieces)
