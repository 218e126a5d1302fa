"""The algorithms by name: one table, which the command line, the docs and the tests read."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from types import MappingProxyType
from typing import Any

from meshwright.construct.options import GmOptions, RingOptions
from meshwright.errors import OptionError
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.progress import Progress


@dataclass(frozen=True, kw_only=True)
class Algorithm:
    """An algorithm as the registry knows it; its module is imported when it is first used.

    Attributes:
        kind: "build" makes an overlay out of interests.
        summary: one line for people.
        topic_connected: whether it promises a topic-connected overlay.
        needs_costs: whether it can't run without the costs of links.
        load: "module:function" of (interests, options, seed, progress) -> Built.
        options: the frozen dataclass of its options, which checks itself.
    """

    kind: str
    summary: str
    topic_connected: bool
    needs_costs: bool
    load: str
    options: type

    def make_options(self, values: Mapping[str, Any]) -> Any:
        """The options object, checked; an unknown name is refused with those that exist."""
        known = [field.name for field in fields(self.options)]
        for name in values:
            if name not in known:
                raise OptionError(f"there is no option {name!r}; {_listed('choose among', known)}")
        return self.options(**values)


_ALGORITHMS = {
    "gm": Algorithm(
        kind="build",
        summary="Greedy Merge: the fewest links; time grows with the square of the nodes",
        topic_connected=True,
        needs_costs=False,
        load="meshwright.construct.gm:greedy_merge",
        options=GmOptions,
    ),
    "ring": Algorithm(
        kind="build",
        summary="Ring-per-Topic: a ring for each topic; linear, and about two links for each interest",
        topic_connected=True,
        needs_costs=False,
        load="meshwright.construct.ring:ring_per_topic",
        options=RingOptions,
    ),
}


def algorithms() -> Mapping[str, Algorithm]:
    """All algorithms by name."""
    return MappingProxyType(_ALGORITHMS)


def build(
    interests: Interests, algorithm: str, *, seed: int = 0, progress: Progress | None = None, **options: Any
) -> Overlay:
    """Make an overlay out of `interests` by an algorithm of kind "build", with its own `options`.

    The same seed gives the same overlay. `overlay.facts` say how it was made: the algorithm, its options, the
    seed, and what the algorithm itself counted.
    """
    chosen = find(algorithm, "build")
    checked = chosen.make_options(options)
    built = _imported(chosen.load)(interests, checked, seed, progress)
    facts = {
        "algorithm": algorithm,
        "options": {field.name: getattr(checked, field.name) for field in fields(checked)},
        "seed": int(seed),
        **built.facts,
    }
    return Overlay.from_arrays(interests, built.edges, facts=facts, tables=built.tables)


def find(name: str, kind: str) -> Algorithm:
    """The algorithm of that name and kind; an unknown one is refused with those that exist."""
    of_kind = [known for known, algorithm in _ALGORITHMS.items() if algorithm.kind == kind]
    if name not in of_kind:
        raise OptionError(
            f"there is no algorithm {name!r} to {kind} with; {_listed('choose among', of_kind)}"
        )
    return _ALGORITHMS[name]


def _listed(lead: str, names: list[str]) -> str:
    return f"{lead} {', '.join(sorted(names))}" if names else "there is none to choose"


def _imported(where: str) -> Any:
    module, _, name = where.partition(":")
    return getattr(import_module(module), name)
