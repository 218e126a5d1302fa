"""What other overlays of the same interests would have cost."""

from collections.abc import Mapping
from typing import Any

from meshwright.report.contents import Alternative


def alternatives(
    evaluation: Mapping[str, Any], profile: Mapping[str, Any], algorithm: str
) -> list[Alternative]:
    """The overlay that was built, a ring for each topic, and a link between any two nodes.

    A ring of s subscribers has s links, or s - 1 where s is 1 or 2. Rings of different topics may share
    links, so their sum, which the profile's `subscribers_per_topic` gives, is the most that a ring for each
    topic has.
    """
    nodes, edges = evaluation["nodes"], evaluation["edges"]
    sizes = profile["subscribers_per_topic"]
    counted = zip(sizes["values"], sizes["counts"], strict=True)
    mesh = nodes * (nodes - 1) // 2
    rings = min(sum(count * _ring(size) for size, count in counted), mesh)
    return [
        Alternative(
            name=f"this overlay ({algorithm})", links=edges, average_degree=_average(edges, nodes), ours=True
        ),
        Alternative(
            name="a ring for each topic", links=rings, average_degree=_average(rings, nodes), at_most=True
        ),
        Alternative(name="a full mesh", links=mesh, average_degree=_average(mesh, nodes)),
    ]


def _ring(size: int) -> int:
    return size if size > 2 else max(size - 1, 0)


def _average(links: int, nodes: int) -> float:
    return 2 * links / nodes if nodes else 0.0
