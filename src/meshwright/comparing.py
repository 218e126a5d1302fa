"""`compare`: several algorithms on the same interests, each built and measured for each seed."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_type_hints

import pyarrow as pa

from meshwright.building import build, check_costs
from meshwright.metrics.evaluation import Evaluation, evaluate
from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests, first_difference
from meshwright.model.overlay import Overlay
from meshwright.registry import check_given, find
from meshwright.runtime.checks import check_whole
from meshwright.runtime.errors import InputError, MeshwrightError, MeshwrightWarning, OptionError, PluginError
from meshwright.runtime.progress import Progress, stage
from meshwright.runtime.usage import Usage, measured
from meshwright.runtime.wording import type_of

if TYPE_CHECKING:
    import pandas as pd

_FEW_NODES = 30


@dataclass(frozen=True, kw_only=True)
class Result:
    """One algorithm with one seed, or an overlay that was given; a row. What was not measured is None.

    `times_lower_bound` is the average degree over its lower bound, `times_lower_bound_cost` the same for
    costs; both are None for an overlay that is not topic-connected, since no bound holds for it. `cost` is
    that of all links, counted in `cost_unit`. `Usage` says how seconds and memory are measured. `error` says
    why there is no overlay.
    """

    algorithm: str
    seed: int | None = None
    links: int | None = None
    average_degree: float | None = None
    maximum_degree: int | None = None
    topic_connected: bool | None = None
    maximum_topic_diameter: int | None = None
    mean_topic_diameter: float | None = None
    lower_bound_average_degree: float | None = None
    times_lower_bound: float | None = None
    cost: float | None = None
    lower_bound_cost: float | None = None
    times_lower_bound_cost: float | None = None
    cost_unit: str | None = None
    seconds: float | None = None
    processor_seconds: float | None = None
    memory_bytes: int | None = None
    error: str | None = None


_TYPES = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
SCHEMA = pa.schema(
    [(name, _TYPES[(get_args(kind) or (kind,))[0]]) for name, kind in get_type_hints(Result).items()]
)


class Bounds(NamedTuple):
    """Lower bounds on the average degree and the cost of any topic-connected overlay."""

    average_degree: float | None
    cost: float | None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """What to compare; refused when made if any part of it can't be.

    Attributes:
        algorithms: names of algorithms that build, each once.
        seeds: how many; they count from 0.
        options: by algorithm, its options by name.
        overlays: overlays to measure beside, by names that are none of the algorithms.
        with_costs: whether links cost something.
    """

    algorithms: Sequence[str]
    seeds: int = 1
    options: Mapping[str, Mapping[str, Any]]
    with_costs: bool = False
    overlays: Mapping[str, Overlay] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_named(self.algorithms, self.overlays)
        for at, name in enumerate(self.algorithms):
            if name in self.algorithms[:at] or name in self.overlays:
                raise OptionError(f"{name!r} is named twice; name each algorithm once", option="algorithms")
            # A package that can't be imported fails again when its turn comes, and the others go on.
            with suppress(PluginError):
                find(name, "build").make_options(self.options.get(name, {}))
                check_given(name, self.with_costs)
        for name in self.options:
            if name not in self.algorithms:
                raise OptionError(
                    f"options were given for {name!r}, which is not compared; leave them out",
                    option="options",
                )
        check_whole("seeds", self.seeds, 1, required=True)

    def runs(self) -> list[tuple[str, int | None]]:
        """Every algorithm with every seed, and then every overlay, in the order of the table."""
        built: list[tuple[str, int | None]] = [
            (name, seed) for name in self.algorithms for seed in range(self.seeds)
        ]
        return [*built, *((name, None) for name in self.overlays)]


def _check_named(algorithms: Sequence[str], overlays: Mapping[str, Overlay]) -> None:
    """Refuse what is no list of names, or no overlays by name."""
    if isinstance(algorithms, str) or not (algorithms or overlays):
        raise OptionError(
            f"the option algorithms is {algorithms!r}; give a list of at least one name", option="algorithms"
        )
    for given in algorithms:
        if not isinstance(given, str):
            way = 'overlays={"today": overlay}' if isinstance(given, Overlay) else "names, such as 'gm'"
            raise OptionError(f"algorithms has {type_of(given)}; give {way}", option="algorithms")
    if not isinstance(overlays, Mapping) or not all(isinstance(own, Overlay) for own in overlays.values()):
        raise OptionError('overlays has to be overlays by name; give {"today": overlay}', option="overlays")


Run = Callable[[str, int | None, bool], tuple[Evaluation, Usage | None]]
"""Builds with an algorithm and a seed and measures the overlay, with the lower bound if the last is true."""


def compare(
    interests: Interests,
    algorithms: Sequence[str],
    *,
    seeds: int = 1,
    costs: Costs | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    overlays: Mapping[str, Overlay] | None = None,
    progress: Progress | None = None,
) -> "pd.DataFrame":
    """Build and measure an overlay by each algorithm for each seed from 0 on, in this process.

    `overlays` are overlays of the same interests, by name, such as the mesh that runs today; they are
    measured alike. With `costs`, links of all overlays cost what these say.

    The frame has a row for each overlay. An algorithm that fails has its error there, and the others go on. A
    small build goes before the first of each algorithm, so that compiling kernels is not counted. It still
    takes time: on a machine that has not run these algorithms, half a minute or more; `progress` shows it.
    `meshwright.records` gives the rows of the frame in JSON's types. What was not measured is missing. The
    columns:

    - `algorithm`: its name, or that of an overlay that was given.
    - `seed`: what it was built with; missing for an overlay that was given.
    - `links`, `average_degree`, `maximum_degree`: of the overlay.
    - `topic_connected`: whether the subscribers of every topic are connected among themselves.
    - `maximum_topic_diameter`, `mean_topic_diameter`: over the topics that are connected, in links.
    - `lower_bound_average_degree`: no topic-connected overlay has a lower average degree.
    - `times_lower_bound`: the average degree over that bound; missing if a topic is not connected.
    - `cost`, `lower_bound_cost`, `times_lower_bound_cost`: the same for the cost of all links.
    - `cost_unit`: what costs are counted in, where they say so.
    - `seconds`, `processor_seconds`: what the build took, on the clock and on all cores.
    - `memory_bytes`: the most memory that the build added to that of the process.
    - `error`: why there is no overlay.

    Example:
        >>> import meshwright as mw
        >>> interests = mw.workloads.unif(30, 6, subscriptions=3, seed=1)
        >>> frame = mw.compare(interests, ["gm", "ring"], seeds=2)
        >>> frame[["algorithm", "seed", "topic_connected"]].values.tolist()
        [['gm', 0, True], ['gm', 1, True], ['ring', 0, True], ['ring', 1, True]]
        >>> mine = mw.build(interests, "low-oda")
        >>> mw.compare(interests, ["gm"], overlays={"mine": mine})["algorithm"].tolist()
        ['gm', 'mine']
    """
    if not isinstance(interests, Interests):
        raise InputError(f"compare got {type_of(interests)}; give Interests")
    wanted = Comparison(
        algorithms=algorithms,
        seeds=seeds,
        options=options or {},
        with_costs=costs is not None,
        overlays=overlays or {},
    )
    for name, overlay in wanted.overlays.items():
        _check_same(interests, overlay, name)
    for name in algorithms:
        with suppress(PluginError):
            check_costs(name, costs)
    run = in_process(interests, wanted, costs, progress)
    return as_frame(results(wanted, run, progress))


def in_process(
    interests: Interests, wanted: Comparison, costs: Costs | None, progress: Progress | None
) -> Run:
    """Runs on interests in memory; each algorithm builds a little first, to compile what it needs."""
    small = _few_nodes(interests)
    warm: set[str] = set()

    def make(on: Interests, algorithm: str, seed: int, shown: Progress | None) -> Overlay:
        given = wanted.options.get(algorithm, {})
        return build(on, algorithm, costs=costs, seed=seed, progress=shown, **given)

    def run(algorithm: str, seed: int | None, bound: bool) -> tuple[Evaluation, Usage | None]:
        if seed is None:
            given = wanted.overlays[algorithm]
            return evaluate(given, costs=costs, bound=bound, progress=progress), None
        if algorithm not in warm:
            warm.add(algorithm)
            with stage(progress, f"compiling {algorithm}"):
                _quietly(lambda: make(small, algorithm, seed, None))
        overlay, usage = measured(lambda: make(interests, algorithm, seed, progress))
        return evaluate(overlay, bound=bound, progress=progress), usage

    return run


def _check_same(interests: Interests, overlay: Overlay, name: str) -> None:
    """Refuse an overlay of other interests; attributes may differ."""
    difference = first_difference(interests, overlay.interests, ("the interests", "the overlay"))
    if difference is not None:
        raise InputError(
            f"the overlay {name!r} is of other interests: {difference}; give overlays of the same interests"
        )


def _few_nodes(interests: Interests) -> Interests:
    """The first nodes alone, with all of their topics."""
    nodes = interests.nodes.slice(0, _FEW_NODES).to_pylist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MeshwrightWarning)  # about names, which whoever read them has heard
        return Interests.from_pairs([(node, topic) for node in nodes for topic in interests.topics_of(node)])


def _quietly(work: Callable[[], object]) -> None:
    """What fails here fails again where it is reported."""
    try:
        work()
    except Exception:
        return


def results(wanted: Comparison, run: Run, progress: Progress | None = None) -> list[Result]:
    """The rows of the table. What a run raises is its error. All share the bounds, found once."""
    found, bounds = [], None
    with stage(progress, "comparing", len(wanted.runs())) as advance:
        for at, (algorithm, seed) in enumerate(wanted.runs(), 1):
            try:
                evaluation, usage = run(algorithm, seed, bounds is None)
            except Exception as error:
                found.append(Result(algorithm=algorithm, seed=seed, error=_words(error)))
            else:
                bounds = bounds or _bounds(evaluation)
                found.append(_result(algorithm, seed, evaluation, usage, bounds))
            advance(at)
    return found


def _words(error: Exception) -> str:
    said = " ".join(str(error).split())
    return said if isinstance(error, MeshwrightError) else f"{type(error).__name__}: {said}"


def _bounds(found: Evaluation) -> Bounds:
    least = found.lower_bound_weighted_average_degree
    return Bounds(found.lower_bound_average_degree, None if least is None else least * found.nodes / 2)


def _result(
    algorithm: str, seed: int | None, found: Evaluation, usage: Usage | None, bounds: Bounds
) -> Result:
    weighted = found.weighted_average_degree
    result = Result(
        algorithm=algorithm,
        seed=seed,
        links=found.edges,
        average_degree=found.average_degree,
        maximum_degree=found.maximum_degree,
        topic_connected=found.topic_connected,
        maximum_topic_diameter=found.maximum_topic_diameter,
        mean_topic_diameter=found.mean_topic_diameter,
        lower_bound_average_degree=bounds.average_degree,
        cost=None if weighted is None else weighted * found.nodes / 2,
        lower_bound_cost=bounds.cost,
        cost_unit=found.cost_unit,
        **({} if usage is None else usage._asdict()),
    )
    if not found.topic_connected:
        return result
    return replace(
        result,
        times_lower_bound=_ratio(result.average_degree, bounds.average_degree),
        times_lower_bound_cost=_ratio(result.cost, bounds.cost),
    )


def _ratio(number: float | None, bound: float | None) -> float | None:
    return number / bound if number is not None and bound else None


def as_table(rows: Iterable[Result]) -> pa.Table:
    """The rows as a table, of the same columns whatever they hold."""
    return pa.Table.from_pylist([asdict(row) for row in rows], SCHEMA)


def as_frame(rows: Iterable[Result]) -> "pd.DataFrame":
    """The rows as a frame; whole numbers stay whole where some are missing."""
    import pandas as pd

    kinds = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    frame: pd.DataFrame = as_table(rows).to_pandas(types_mapper=kinds.get)
    return frame
