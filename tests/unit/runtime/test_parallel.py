import numpy as np

from meshwright.runtime.parallel import NODES_PER_STREAM, map_chunks
from meshwright.runtime.progress import CANCEL, DONE


def test_runs_cover_all_nodes_in_order():
    ticks = np.zeros(2, np.int64)
    nodes = 2 * NODES_PER_STREAM + 5
    runs = map_chunks(nodes, lambda part, run: (part, run.start, run.stop), ticks)
    assert runs == [
        (0, 0, NODES_PER_STREAM),
        (1, NODES_PER_STREAM, 2 * NODES_PER_STREAM),
        (2, 2 * NODES_PER_STREAM, nodes),
    ]
    assert ticks[DONE] == nodes


def test_a_wish_to_stop_leaves_the_rest_undone():
    ticks = np.zeros(2, np.int64)

    def work(part, run):
        ticks[CANCEL] = 1
        return part

    assert map_chunks(1_000 * NODES_PER_STREAM, work, ticks) == [0]
