"""`compare`: several algorithms on the same interests, each built and measured for each seed."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_type_hints

import pyarrow as pa

from meshwright.building import build, check_costs
from meshwright.metrics.evaluation import Evaluation, evaluate
from meshwright.model.costs.costs import Costs
from meshwright.model.interests import Interests
from meshwright.model.overlay import Overlay
from meshwright.registry import check_given, find
from meshwright.runtime.checks import check_whole
from meshwright.runtime.errors import InputError, MeshwrightError, MeshwrightWarning, OptionError, PluginError
from meshwright.runtime.progress import Progress, stage
from meshwright.runtime.usage import Usage, measured

if TYPE_CHECKING:
    import pandas as pd

_FEW_NODES = 30


@dataclass(frozen=True, kw_only=True)
class Result:
    """One algorithm with one seed; a row of the table. What was not measured is None.

    `times_lower_bound` is the average degree over its lower bound, `times_lower_bound_cost` the same for
    costs; both are None for an overlay that is not topic-connected, since no bound holds for it. `cost` is
    that of all links, counted in `cost_unit`. `Usage` says how seconds and memory are measured. `error` says
    why there is no overlay.
    """

    algorithm: str
    seed: int
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
        with_costs: whether links cost something.
    """

    algorithms: Sequence[str]
    seeds: int = 1
    options: Mapping[str, Mapping[str, Any]]
    with_costs: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.algorithms, str) or not self.algorithms:
            raise OptionError(
                f"the option algorithms is {self.algorithms!r}; give a list of at least one name",
                option="algorithms",
            )
        for at, name in enumerate(self.algorithms):
            if name in self.algorithms[:at]:
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

    def runs(self) -> list[tuple[str, int]]:
        """Every algorithm with every seed, in the order of the table."""
        return [(name, seed) for name in self.algorithms for seed in range(self.seeds)]


Run = Callable[[str, int, bool], tuple[Evaluation, Usage]]
"""Builds with an algorithm and a seed and measures the overlay, with the lower bound if the last is true."""


def compare(
    interests: Interests,
    algorithms: Sequence[str],
    *,
    seeds: int = 1,
    costs: Costs | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    progress: Progress | None = None,
) -> "pd.DataFrame":
    """Build and measure an overlay by each algorithm for each seed from 0 on, in this process.

    The frame has a row for each, with the columns of `Result`. An algorithm that fails has its error there,
    and the others go on. A small build goes before the first of each algorithm, so that compiling kernels is
    not counted. `meshwright.records` gives the rows of the frame in JSON's types.

    Example:
        >>> import meshwright as mw
        >>> interests = mw.workloads.unif(30, 6, subscriptions=3, seed=1)
        >>> frame = mw.compare(interests, ["gm", "ring"], seeds=2)
        >>> frame[["algorithm", "seed", "topic_connected"]].values.tolist()
        [['gm', 0, True], ['gm', 1, True], ['ring', 0, True], ['ring', 1, True]]
    """
    if not isinstance(interests, Interests):
        raise InputError(f"compare got a {type(interests).__name__}; give Interests")
    wanted = Comparison(
        algorithms=algorithms, seeds=seeds, options=options or {}, with_costs=costs is not None
    )
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

    def run(algorithm: str, seed: int, bound: bool) -> tuple[Evaluation, Usage]:
        if algorithm not in warm:
            warm.add(algorithm)
            _quietly(lambda: make(small, algorithm, seed, None))
        overlay, usage = measured(lambda: make(interests, algorithm, seed, progress))
        return evaluate(overlay, bound=bound, progress=progress), usage

    return run


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


def _result(algorithm: str, seed: int, found: Evaluation, usage: Usage, bounds: Bounds) -> Result:
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
        **usage._asdict(),
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
