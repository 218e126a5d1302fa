"""Certificates of lower bounds on disk; `certificate_checker.py`, apart from all this, checks."""

import json
from itertools import pairwise
from pathlib import Path

from meshwright.construct.dual.bound import LineCertificate
from meshwright.model.interests import Interests
from meshwright.runtime.atomic_files import write_whole

_FORMAT = "meshwright lower bound certificate"
_VERSION = 1


def write_certificate(path: str | Path, certificate: LineCertificate, interests: Interests) -> None:
    """Write the proof that no topic-connected overlay of these interests has fewer links, as JSON.

    Whole numbers only: the ids of nodes and topics are those of the dataset, the ranks of their names. A file
    that is there is replaced.
    """
    ends = interests.topic_indptr.tolist()
    nodes, gaps = certificate.nodes.tolist(), certificate.gaps.tolist()
    lines = [{"nodes": nodes[start:end], "gaps": gaps[start:end]} for start, end in pairwise(ends)]
    found = {
        "format": _FORMAT,
        "version": _VERSION,
        "scale": certificate.scale,
        "edges": certificate.edges,
        "lines": lines,
    }
    write_whole(Path(path), json.dumps(found, separators=(",", ":")).encode())
