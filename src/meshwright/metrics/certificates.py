"""Certificates of lower bounds on disk; `certificate_checker.py`, apart from all this, checks."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from meshwright.construct.dual.bound import LineCertificate
from meshwright.model.interests import Interests
from meshwright.runtime.atomic_files import write_whole

FORMAT = "meshwright lower bound certificate"
"""What a certificate calls itself."""

_VERSION = 2


def write_certificate(path: str | Path, certificate: LineCertificate, interests: Interests) -> None:
    """Write the proof that no topic-connected overlay of these interests has fewer links, as JSON.

    Whole numbers only: the ids of nodes and topics are those of the dataset, the ranks of their names. A file
    that is there is replaced.
    """
    write_whole(Path(path), json.dumps(as_file(certificate, interests), separators=(",", ":")).encode())


def as_file(certificate: LineCertificate, interests: Interests) -> dict[str, Any]:
    """The certificate as JSON has it; demands that pay nothing are left out."""
    ends = interests.topic_indptr.tolist()
    nodes, gaps = certificate.nodes.tolist(), certificate.gaps.tolist()
    lines = [{"nodes": nodes[start:end], "gaps": gaps[start:end]} for start, end in pairwise(ends)]
    demands, asked = certificate.demands, certificate.asked
    return {
        "format": FORMAT,
        "version": _VERSION,
        "scale": certificate.scale,
        "edges": certificate.edges,
        "lines": lines,
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
    }
