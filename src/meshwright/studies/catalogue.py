"""The studies by name: every table and figure of the papers that is measured again."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import NamedTuple

from meshwright.runtime.errors import OptionError
from meshwright.runtime.wording import choose
from meshwright.studies.claims import Claim, Scope

SCALES = ("smoke", "quick", "paper")
"""Tiny systems, to see in seconds that all runs; nearly all sizes of the papers with few runs, for half an
hour; the sizes and runs of the papers."""

_SMOKE_RUNS = 2
_LEAST_RUNS = 5


class Point(NamedTuple):
    """A value of a figure; of the paper's, x is NaN where it is a mean or a bound over all x, and so is y."""

    series: str
    x: float
    y: float


class Related(NamedTuple):
    """What the paper states of a series by another.

    Attributes:
        series: of which it is stated.
        to: the other one.
        times: as many times its values,
        more: and so much more.
        relation: whether it is that, or that is a bound ("at least", "at most").
        at: the only x of which it is stated, if there is one.
    """

    series: str
    to: str
    times: float = 1.0
    more: float = 0.0
    relation: str = "about"
    at: float | None = None


@dataclass(frozen=True, kw_only=True)
class Curves:
    """The curves of a figure, or of one of its panels.

    Attributes:
        measure: what comes out for a seed, in a scope.
        x: what is on the horizontal axis.
        y: what is on the vertical axis; panels of a figure differ in it.
        stated: the values that the paper's text gives.
        related: the ratios and differences of series that it gives.
        dots: whether every value is shown by itself, rather than the mean over the seeds by x.
        ticks: names of places on the horizontal axis, such as those of the columns of a table.
        wide: whether the vertical axis goes by orders of magnitude; it does by itself where values are far
            apart.
    """

    measure: Callable[[int, Scope], Iterable[Point]]
    x: str
    y: str
    stated: tuple[Point, ...] = ()
    related: tuple[Related, ...] = ()
    dots: bool = False
    ticks: tuple[str, ...] = ()
    wide: bool = False


@dataclass(frozen=True, kw_only=True)
class Study:
    """A table or a figure of a paper.

    Attributes:
        name: unique among all studies.
        paper: the name of the paper's folder.
        title: what is studied, for people.
        source: where the paper has it.
        panels: what the figure shows, one above the other, where it is drawn again.
    """

    name: str
    paper: str
    title: str
    source: str
    panels: tuple[Curves, ...] = ()

    def points(self, seed: int, scope: Scope) -> Iterator[Point]:
        """All panels for a seed; the series of several panels are named after what they show too."""
        for panel in self.panels:
            for point in panel.measure(seed, scope):
                yield point._replace(series=f"{point.series}{self.after_series(panel)}")

    def after_series(self, panel: Curves) -> str:
        """What the names of the series of a panel end with."""
        return f": {panel.y}" if len(self.panels) > 1 else ""

    def claims(self, scope: Scope) -> tuple[Claim, ...]:
        """What the paper states there, each with its way of measuring."""
        part = re.escape(self.name.removeprefix(f"{self.paper}-"))
        belongs = re.compile(rf"(^|-){part}[a-z]?(-|$)")
        return tuple(claim for claim in paper_claims(self.paper, scope) if belongs.search(claim.name))


def runs_of(claim: Claim, scale: str, runs: int | None) -> int:
    """Over how many seeds a claim is measured: enough for an interval, unless told otherwise."""
    if runs is not None:
        return runs
    by_scale = {"smoke": _SMOKE_RUNS, "quick": claim.quick_runs}
    return by_scale.get(scale) or max(claim.runs, _LEAST_RUNS)


@cache
def paper_claims(paper: str, scope: Scope) -> tuple[Claim, ...]:
    """All claims of a paper."""
    module = import_module(f"meshwright.studies.{paper.replace('-', '_')}.study")
    return tuple(module.claims_at(scope))


class _Part(NamedTuple):
    """A table or figure, its title, and its panels as "module:name" in the folder of the paper."""

    name: str
    title: str
    panels: str = ""


class _Paper(NamedTuple):
    citation: str
    title: str
    parts: tuple[_Part, ...]


PAPERS: Mapping[str, _Paper] = {
    "divide-and-conquer": _Paper(
        "[1]",
        "Divide and conquer",
        (
            _Part("table-1", "Greedy Merge and Divide and Conquer at 1,000 nodes", "parts:TABLE_1"),
            _Part("table-2", "Samples of Facebook and Twitter", "social:TABLE_2"),
            _Part("figure-4", "Degrees of merged overlays", "merging:FIGURE_4"),
            _Part("figure-5", "The work of Star Merge", "merging:FIGURE_5"),
            _Part("figure-6", "Random parts and k-means clusters", "parts:FIGURE_6"),
            _Part("figure-7", "Degree and work over the number of parts", "parts:FIGURE_7"),
            _Part("figure-8", "Inner and outer links over the number of parts", "parts:FIGURE_8"),
            _Part("figure-9", "Ring-per-Topic against the greedy algorithms", "scaling_figures:FIGURE_9"),
            _Part("figure-10a", "Bulk Clones as the nodes grow", "scaling_figures:FIGURE_10A"),
            _Part("figure-10b", "Bulk Clones as the topics grow", "scaling_figures:FIGURE_10B"),
            _Part("figure-10c", "Bulk Clones as subscriptions grow", "scaling_figures:FIGURE_10C"),
            _Part("figure-11", "Divide and Conquer with many topics", "scaling_figures:FIGURE_11"),
        ),
    ),
    "weighted": _Paper(
        "[2]",
        "Links that cost",
        (
            _Part("figure-4", "Cost and time over the number of nodes", "nodes:FIGURE_4"),
            _Part("figure-5", "Cost and time over the number of topics", "interests:FIGURE_5"),
            _Part("figure-6", "Cost and time over the size of subscriptions", "interests:FIGURE_6"),
            _Part("figure-7", "Primal-dual with reverse delete", "nodes:FIGURE_7"),
            _Part("figure-8", "Greedy by cost against Greedy Merge", "nodes:FIGURE_8"),
            _Part("figure-9", "Divide and conquer by cost", "clusters:FIGURE_9"),
        ),
    ),
    "shadows": _Paper(
        "[3]",
        "Overlays under churn",
        (
            _Part("figure-2", "Backups chosen greedily", "study:FIGURE_2"),
            _Part("figure-3", "Backups chosen by primal-dual", "study:FIGURE_3"),
            _Part("figure-4", "Degrees with greedy backups", "study:FIGURE_4"),
            _Part("figure-5", "Degrees over the coverage factor", "study:FIGURE_5"),
            _Part("figure-6", "Degrees under churn", "study:FIGURE_6"),
            _Part("figure-7", "The work of repairs", "study:FIGURE_7"),
            _Part("figure-8", "Links that repairs change", "study:FIGURE_8"),
        ),
    ),
    "small-world": _Paper(
        "[4]",
        "Small worlds",
        (
            _Part("figure-2", "Routing as the nodes grow", "study:FIGURE_2"),
            _Part("figure-3", "Routing as the topics grow", "study:FIGURE_3"),
        ),
    ),
    "stan": _Paper(
        "[5]",
        "Gossip",
        (
            _Part("table-1", "The universes", "curves:TABLE_1"),
            _Part("figure-3", "Subscriptions of LiveJournal", "curves:FIGURE_3"),
            _Part("figure-4", "Subscriptions of Wikipedia", "curves:FIGURE_4"),
            _Part("figure-5", "Correlation of subscriptions", "curves:FIGURE_5"),
            _Part("figure-6", "View sizes, round by round and node by node", "curves:FIGURE_6"),
            _Part("figure-7", "Which nodes improve", "curves:FIGURE_7"),
            _Part("figure-8", "Links over the number of topics", "curves:FIGURE_8"),
            _Part("figure-9", "Clustering and diameters, before and after", "curves:FIGURE_9"),
            _Part("connectivity", "Topics stay connected", "curves:CONNECTIVITY"),
        ),
    ),
}
"""By folder: how the paper is cited, and the tables and figures that are measured again."""


@cache
def studies() -> Mapping[str, Study]:
    """All studies by name, in the order of the papers."""
    return {
        f"{paper}-{part.name}": Study(
            name=f"{paper}-{part.name}",
            paper=paper,
            title=part.title,
            source=f"{own.citation}, {_called(own.citation, part.name)}",
            panels=_panels(paper, part.panels),
        )
        for paper, own in PAPERS.items()
        for part in own.parts
    }


_ROMAN = {"[1]": {"1": "I", "2": "II"}}
"""The numbers of tables by paper, where it writes them so."""


def _called(citation: str, part: str) -> str:
    kind, _, number = part.partition("-")
    if kind == "table":
        return f"Table {_ROMAN.get(citation, {}).get(number, number)}"
    return f"Fig. {number}" if kind == "figure" else kind


def _panels(paper: str, where: str) -> tuple[Curves, ...]:
    if not where:
        return ()
    module, _, name = where.partition(":")
    found: Curves | tuple[Curves, ...] = getattr(
        import_module(f"meshwright.studies.{paper.replace('-', '_')}.{module}"), name
    )
    return (found,) if isinstance(found, Curves) else found


def chosen(name: str) -> list[Study]:
    """The studies that a name stands for: one, all of a paper, or all.

    Raises:
        OptionError: there is none of that name.
    """
    known = studies()
    found = [study for study in known.values() if name in (study.name, study.paper, "all")]
    if not found:
        raise OptionError(f"there is no study {name!r}; {choose(name, ['all', *PAPERS, *known])}")
    return found
