"""How long lint takes on meshes of many brokers: `python -m benchmarks.linting [--brokers N]`.

Writes Mosquitto configurations into a temporary folder and runs the command on it, as users do.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

_FIRST_PORT = 20_000

Links = Iterator[tuple[int, int, list[str]]]
"""Who opens a link, to whom, and its lines."""


def tree(brokers: int, chance: random.Random) -> Links:
    """A tree with everything on each link."""
    for broker in range(1, brokers):
        yield broker, chance.randrange(broker), ["topic # both 0"]


def trees_of_topics(brokers: int, chance: random.Random) -> Links:
    """Five links for each broker, and on them a tree for each of as many topics as there are brokers."""
    links: dict[tuple[int, int], list[str]] = {}
    for topic in range(brokers):
        members = chance.sample(range(brokers), 20)
        for at in range(1, len(members)):
            ends = sorted((members[at], members[chance.randrange(at)]))
            links.setdefault((ends[0], ends[1]), []).append(f"topic plant/{topic}/# both 0")
    yield from ((one, other, lines) for (one, other), lines in links.items())


def sites_with_prefixes(brokers: int, chance: random.Random) -> Links:
    """Sites that keep a prefix of their own at two hubs, which share what they get."""
    yield 0, 1, ["topic # both 0 site/ site/"]
    for broker in range(2, brokers):
        hub = chance.randrange(2)
        yield broker, hub, [f'topic # out 0 "" site/{broker}/', f"topic # in 0 commands/ commands/{broker}/"]


def ring(brokers: int, chance: random.Random) -> Links:
    """A ring with everything on each link: one loop."""
    del chance
    for broker in range(brokers):
        yield broker, (broker + 1) % brokers, ["topic # both 0"]


def tangle(brokers: int, chance: random.Random) -> Links:
    """Five links for each broker with everything on them: loops everywhere."""
    links = {tuple(sorted(chance.sample(range(brokers), 2))) for _ in range(5 * brokers // 2)}
    yield from ((one, other, ["topic # both 0"]) for one, other in sorted(links))


def renamed_ring(brokers: int, chance: random.Random) -> Links:
    """A ring on which every link adds a prefix: names grow for ever."""
    del chance
    for broker in range(brokers):
        yield broker, (broker + 1) % brokers, [f'topic # out 0 "" from/{broker}/']


MESHES: dict[str, Callable[[int, random.Random], Links]] = {
    "tree": tree,
    "a tree for each topic": trees_of_topics,
    "sites with prefixes": sites_with_prefixes,
    "ring": ring,
    "five links each": tangle,
    "ring with prefixes": renamed_ring,
}


def write(folder: Path, brokers: int, links: Links) -> int:
    """Write the configurations; how many lines share topics."""
    texts = [[f"listener {_FIRST_PORT + number} 127.0.0.1"] for number in range(brokers)]
    lines = 0
    for number, (one, other, topics) in enumerate(links):
        texts[one] += [f"connection link-{number}", f"address 127.0.0.1:{_FIRST_PORT + other}", *topics]
        lines += len(topics)
    for number, text in enumerate(texts):
        (folder / f"b{number:04}.conf").write_text("\n".join(text) + "\n")
    return lines


def main() -> None:
    """Lint each mesh, and print a row for it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--brokers", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    print("mesh | brokers | lines | findings | seconds")
    for name, links in MESHES.items():
        with tempfile.TemporaryDirectory() as folder:
            lines = write(Path(folder), options.brokers, links(options.brokers, random.Random(options.seed)))
            start = time.perf_counter()
            run = subprocess.run(
                [sys.executable, "-m", "meshwright", "lint", folder, "--json"],
                capture_output=True,
                check=False,
            )
            seconds = time.perf_counter() - start
        found = json.loads(run.stdout)["findings"]
        rules = ", ".join(sorted({row["rule"] for row in found})) or "none"
        print(f"{name} | {options.brokers:,} | {lines:,} | {len(found):,} ({rules}) | {seconds:.1f}")


if __name__ == "__main__":
    main()
