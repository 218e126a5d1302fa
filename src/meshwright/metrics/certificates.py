"""Certificates of lower bounds on disk; `certificate_checker.py`, apart from all this, checks."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from meshwright.construct.dual.bound import LineCertificate
from meshwright.construct.dual.bound_by_cost import CostCertificate
from meshwright.model.interests import Interests
from meshwright.runtime.atomic_files import write_whole

FORMAT = "meshwright lower bound certificate"
"""What a certificate calls itself."""

_VERSION = 3


def write_certificate(
    path: str | Path,
    certificate: LineCertificate,
    interests: Interests,
    by_cost: CostCertificate | None = None,
) -> None:
    """Write the proof that no topic-connected overlay of these interests has fewer links, as JSON.

    `by_cost` adds the proof that none is cheaper. Whole numbers only: the ids of nodes and topics are those
    of the dataset, the ranks of their names. A file that is there is replaced.
    """
    held = as_file(certificate, interests, by_cost)
    write_whole(Path(path), json.dumps(held, separators=(",", ":")).encode())


def as_file(
    certificate: LineCertificate, interests: Interests, by_cost: CostCertificate | None = None
) -> dict[str, Any]:
    """The certificates as JSON has them; demands that pay nothing are left out."""
    demands, asked = certificate.demands, certificate.asked
    return {
        "format": FORMAT,
        "version": _VERSION,
        "scale": certificate.scale,
        "edges": certificate.edges,
        "lines": _lines(certificate, interests),
        "demands": [
            {
                "node": node,
                "topics": demands.topics[demands.indptr[node] : demands.indptr[node + 1]].tolist(),
                "price": int(asked.prices[node]),
                "nearest": int(asked.nearest[node]),
                "nearest_price": int(asked.nearest_prices[node]),
            }
            for node in np.flatnonzero(asked.prices).tolist()
        ],
        "cost": by_cost
        and {
            "parts": by_cost.parts,
            "exponent": by_cost.exponent,
            "lines": _lines(by_cost, interests),
        },
    }


def _lines(certificate: LineCertificate | CostCertificate, interests: Interests) -> list[dict[str, Any]]:
    ends = interests.topic_indptr.tolist()
    nodes, gaps = certificate.nodes.tolist(), certificate.gaps.tolist()
    return [{"nodes": nodes[start:end], "gaps": gaps[start:end]} for start, end in pairwise(ends)]
