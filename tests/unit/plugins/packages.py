"""Packages that offer algorithms, as an installer leaves them: modules, and metadata with entry points."""

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.helpers import without_progress

CHAIN = '''
import numpy as np

import meshwright as mw


def chain(interests, costs, options, seed, progress):
    """Link the subscribers of every topic one after the other."""
    pairs = set()
    for topic in range(interests.topic_count):
        own = interests.node_ids[interests.topic_indptr[topic] : interests.topic_indptr[topic + 1]]
        pairs.update(zip(own[:-1].tolist(), own[1:].tolist()))
    return mw.Built(edges=np.array(sorted(pairs), np.int32).reshape(-1, 2))


CHAIN = mw.Algorithm(summary="a chain a topic", load=f"{__name__}:chain")


def offer():
    return CHAIN


def nothing(interests, costs, options, seed, progress):
    return mw.Built(edges=[])


LIAR = mw.Algorithm(summary="promises, and does nothing", load=f"{__name__}:nothing")
NUMBER = 7
'''
BROKEN = "import no_such_module_at_all\n"


def package(site: Path, name: str, code: str, offers: Iterable[str]) -> Path:
    """Put a package where Python finds it: `offers` are lines "name = module:object" of its entry points."""
    site.mkdir(exist_ok=True)
    (site / f"{name}.py").write_text(code)
    info = site / f"{name}-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("\n".join(["[meshwright.algorithms]", *offers, ""]))
    return site


def python(site: Path, *words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own that finds the packages in `site`."""
    env = os.environ | {"PYTHONPATH": str(site)}
    command = [sys.executable, *map(str, words)]
    done = subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, check=False)
    done.stderr = without_progress(done.stderr)
    return done


def meshwright(site: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own that finds the packages in `site`."""
    return python(site, "-m", "meshwright", *words)
