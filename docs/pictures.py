"""Draws the pictures of the architecture page, and that of classes of filters: python docs/pictures.py.

The layers are those that import-linter enforces (pyproject.toml); the ways of data are the tables below. All
text stands on filled shapes, so that the pictures can be read on a light and on a dark page.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"

PURPOSE = {
    "__main__": "python -m meshwright",
    "cli": "one file a command: parse, call, print",
    "serve": "the control plane: API, page",
    "studies": "the papers' claims, measured again",
    "pipeline": "with or without Spark",
    "deploy": "configurations, lint",
    "comparing": "several algorithms, one table",
    "suggesting": "which algorithm for these",
    "exporting": "overlays for other programs",
    "testing": "the contract, for pytest",
    "plugins": "algorithms of other packages",
    "report": "figures and one-file HTML pages",
    "building": "mw.build and mw.merge",
    "registry": "the table of algorithms",
    "maintain": "repairs, policies, journal",
    "smallworld": "rings and fingers",
    "stan": "gossip: views, walks",
    "routing": "flood, tree, nsmf",
    "net": "protocols, simulator, sockets",
    "metrics": "degrees, diameters, bounds",
    "construct": "the algorithms",
    "workloads": "interests by a law",
    "model": "interests, overlay, costs, events, storage",
    "filters": "wildcards, and the classes of names they tell apart",
    "kernels": "Numba: arrays in, arrays out",
    "runtime": "errors, progress, seeds, files, memory",
}
"""By package, what it is for, in a few words."""

Step = tuple[str, str, str]
WAYS: dict[str, Sequence[Step]] = {
    "run": [
        ("data", "raw rows", "csv, jsonl, parquet"),
        ("work", "ingest", "with or without Spark"),
        ("data", "interests/", "and rejected/"),
        ("work", "profile", "with or without Spark"),
        ("work", "build", "with or without Spark"),
        ("data", "overlay/", "Parquet, manifest"),
        ("work", "evaluate", "with or without Spark"),
        ("work", "report", "report/"),
        ("data", "report.html", "and manifest.json"),
    ],
    "build": [
        ("data", "interests", "lists/ by dense ids"),
        ("work", "registry", "name → function, options"),
        ("work", "algorithm", "construct/: driver"),
        ("work", "kernels", "edges, in threads or tasks"),
        ("work", "price, check", "building.py, Costs"),
        ("data", "Overlay", "edges, facts, tables"),
        ("work", "storage", "model/storage"),
        ("data", "overlay/", "manifest written last"),
    ],
    "churn": [
        ("data", "overlay, events", "files, law, stream"),
        ("work", "sort out", "maintain/event_batches"),
        ("work", "journal", "on disk before the step"),
        ("work", "policy", "shadow, naive, rebuild"),
        ("work", "kernels/repair", "search, backups, links"),
        ("data", "Repair", "links added, removed"),
        ("work", "record", "changes/, repairs/"),
        ("data", "new overlay", "after the last event"),
    ],
    "route": [
        ("data", "overlay", "links or fingers"),
        ("work", "publications", "drawn, or from a file"),
        ("work", "trees, tables", "routing/trees"),
        ("work", "kernels/routing", "or net/simulator"),
        ("data", "Tally", "messages, hops, load"),
        ("work", "measures", "routing/measures"),
        ("data", "Routing", "table or JSON"),
    ],
    "gossip": [
        ("data", "interests", "who wants what"),
        ("work", "random views", "stan/membership"),
        ("work", "engine", "rounds, simulator, sockets"),
        ("work", "walks", "peers that share topics"),
        ("data", "Views", "before and after"),
        ("work", "measures", "stan/measures"),
        ("data", "Gossip, dataset", "with views/, a page"),
    ],
}
"""By command, what data becomes on its way: data or work, its name, and where or how."""

FILL = {"data": "#1f6f54", "work": "#35507a", "layer": "#35507a", "face": "#1f6f54", "ground": "#5a5168"}
ARROW = "#808a96"
FONT = "font-family='system-ui, sans-serif' text-anchor='middle' fill='#fff'"


def layers() -> list[list[str]]:
    """The packages by layer, from the top, as import-linter's contract has them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contract = settings["tool"]["importlinter"]["contracts"][0]
    named = [re.findall(r"\w+", layer) for layer in contract["layers"]]
    present = [[name for name in layer if _exists(name)] for layer in named]
    return [layer for layer in present if layer and layer != ["__main__"]]


def _exists(name: str) -> bool:
    package = ROOT / "src" / "meshwright" / name
    return package.is_dir() or package.with_suffix(".py").exists()


def box(x: float, y: float, width: float, height: float, kind: str, title: str, words: str) -> str:
    """A filled rectangle with a name and a few words under it."""
    middle = x + width / 2
    return (
        f"<rect x='{x:g}' y='{y:g}' width='{width:g}' height='{height:g}' rx='6' fill='{FILL[kind]}'/>\n"
        f"<text x='{middle:g}' y='{y + height / 2 - 3:g}' font-size='14' font-weight='600' {FONT}>"
        f"{escape(title)}</text>\n"
        f"<text x='{middle:g}' y='{y + height / 2 + 14:g}' font-size='11' {FONT}>{escape(words)}</text>"
    )


def picture(width: float, height: float, title: str, shapes: Iterator[str]) -> str:
    """An SVG file with these shapes."""
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:g} {height:g}' role='img'>"
    return "\n".join([head, f"<title>{escape(title)}</title>", *shapes, "</svg>", ""])


def draw_layers() -> str:
    """A row for each layer, its packages side by side; each imports only from rows below."""
    rows, width, height, gap = layers(), 720.0, 46.0, 6.0
    lowest = {"model", "kernels", "runtime"}

    def shapes() -> Iterator[str]:
        yield box(0, 0, width, height, "face", "meshwright", "the public face: import meshwright as mw")
        for at, row in enumerate(rows, start=1):
            each = (width - gap * (len(row) - 1)) / len(row)
            for place, name in enumerate(row):
                kind = "ground" if name in lowest else "layer"
                x, y = place * (each + gap), at * (height + gap)
                yield box(x, y, each, height, kind, name, PURPOSE[name])

    total = (len(rows) + 1) * (height + gap) - gap
    return picture(width, total, "The layers of Meshwright, from the top", shapes())


def draw_way(command: str) -> str:
    """The steps of a command from left to right, four in a row, and on in the next row."""
    steps, width, height, across, down, in_row = WAYS[command], 164.0, 52.0, 22.0, 26.0, 4
    rows = -(-len(steps) // in_row)

    def place(at: int) -> tuple[float, float]:
        return (at % in_row) * (width + across), (at // in_row) * (height + down)

    def shapes() -> Iterator[str]:
        for at, (kind, name, words) in enumerate(steps):
            x, y = place(at)
            yield box(x, y, width, height, kind, name, words)
            if at + 1 == len(steps):
                continue
            if (at + 1) % in_row:
                yield _arrow([(x + width, y + height / 2), (x + width + across, y + height / 2)])
            else:
                middle, turn = y + height, y + height + down / 2
                yield _arrow(
                    [
                        (x + width / 2, middle),
                        (x + width / 2, turn),
                        (width / 2, turn),
                        (width / 2, y + height + down),
                    ]
                )

    total = rows * (height + down) - down
    whole = in_row * (width + across) - across
    return picture(whole, total, f"The way of data through meshwright {command}", shapes())


def _arrow(points: list[tuple[float, float]]) -> str:
    (x, y), before_x = points[-1], points[-2][0]
    if x > before_x:
        points[-1], head = (x - 6, y), f"{x - 8:g},{y - 5:g} {x - 8:g},{y + 5:g}"
    else:
        points[-1], head = (x, y - 6), f"{x - 5:g},{y - 8:g} {x + 5:g},{y - 8:g}"
    line = " ".join(f"{px:g},{py:g}" for px, py in points)
    return (
        f"<polyline points='{line}' fill='none' stroke='{ARROW}' stroke-width='2'/>\n"
        f"<polygon points='{x:g},{y:g} {head}' fill='{ARROW}'/>"
    )


Area = tuple[float, float, float, float, str, str, str]
CLASSES: Sequence[Area] = [
    (0, 0, 720, 300, "#4a5568", "#", "b4"),
    (40, 56, 420, 200, "#35507a", "plant/+/temp", "b1, b4"),
    (250, 100, 430, 170, "#1f6f54", "plant/7/#", "b2, b4"),
    (250, 100, 210, 156, "#7a4a35", "plant/7/temp", "b1, b2, b3, b4"),
]
"""The classes in the picture: for each its place (x, y, width, height), colour, name and nodes."""


def draw_classes() -> str:
    """The classes of four filters as areas: the names of a class are where its colour is seen."""

    def shapes() -> Iterator[str]:
        for x, y, width, height, colour, _, _ in CLASSES:
            yield f"<rect x='{x:g}' y='{y:g}' width='{width:g}' height='{height:g}' rx='6' fill='{colour}'/>"
        for x, y, width, _, _, name, nodes in CLASSES:
            middle = (x + width if name == "plant/7/#" else x + 210) - 105
            place = f"<text x='{middle:g}' y='{y + 26:g}' font-size='15' font-weight='600' {FONT}>"
            yield f"{place}{escape(name)}</text>"
            yield f"<text x='{middle:g}' y='{y + 45:g}' font-size='12' {FONT}>{escape(nodes)}</text>"

    return picture(720, 300, "Four classes of names, and the nodes that want each", shapes())


def draw_all() -> dict[str, str]:
    """By file name, all pictures."""
    ways = {f"way-{name}.svg": draw_way(name) for name in WAYS}
    return {"layers.svg": draw_layers(), "classes.svg": draw_classes()} | ways


if __name__ == "__main__":
    for name, text in draw_all().items():
        (IMAGES / name).write_text(text)
