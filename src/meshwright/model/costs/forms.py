"""The forms that costs can take as arrays: how each is made, checked, restricted, scaled and averaged."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.kernels.core.cost_arrays import (
    CLUSTERS,
    EARTH_RADIUS,
    EUCLIDEAN,
    GREAT_CIRCLE,
    MANHATTAN,
    SITES,
    CostArrays,
)
from meshwright.model.dense import frozen, sealed
from meshwright.model.names import NameSource, name_array, ranks
from meshwright.runtime.arrays import Flags, Floats, Ids, Offsets
from meshwright.runtime.errors import InputError, OptionError, quoted
from meshwright.runtime.seeds import generator
from meshwright.runtime.wording import choose


def and_more(count: int) -> str:
    """For an error that names the first of `count` offenders."""
    return f" (and {count - 1:,} more)" if count > 1 else ""


def name_at(names: pa.StringArray, at: Any) -> str:
    """One of the names as errors show it."""
    return quoted(names[int(at)].as_py())


LEAST, MOST = 1e-100, 1e100
"""Costs are within these, so that neither their squares nor sums of any number of them overflow."""

COST_RULE = f"a cost is a positive finite number, from {LEAST:g} to {MOST:g}"


def is_cost(values: Any) -> Flags:
    """Where numbers can be what a link costs."""
    fits: Flags = (values >= LEAST) & (values <= MOST)
    return fits


def positive(value: Any, what: str) -> float:
    """`value` as a float, if it can be a cost."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise InputError(f"{what} is {value!r}; give a positive number")
    if not is_cost(value):
        raise InputError(f"{what} is {value}; {COST_RULE}")
    return float(value)


def checked_least(value: Any) -> float:
    """A least cost as a float, if it can be a cost; 0 where none was given."""
    return 0.0 if value is None else positive(value, "least_cost (--least-cost)")


LONGEST_UNIT = 12


def checked_unit(unit: Any) -> str | None:
    """What costs are counted in, if it is a short word that can be printed."""
    if unit is None:
        return None
    is_word = isinstance(unit, str) and unit.isprintable() and len(unit.split()) == 1 and unit.strip() == unit
    if not is_word or len(unit) > LONGEST_UNIT:
        raise OptionError(
            f"unit (--unit) is {unit!r}; give one short word, such as ms, km or EUR", option="unit"
        )
    return str(unit)


def metric_kind(metric: str) -> int:
    """The kind of costs that a metric gives."""
    if metric not in METRICS:
        raise OptionError(f"metric (--metric) is {metric!r}; {choose(metric, METRICS)}", option="metric")
    return METRICS[metric]


def unique_names(names: NameSource, what: str, origin: str) -> pa.StringArray:
    """`names` as an Arrow array; one that is empty or comes twice is refused. O(n log n)."""
    array = name_array(names, what)
    empty = pc.index(array, pa.scalar("")).as_py()
    if empty >= 0:
        raise InputError(f"{origin}: {what} {empty + 1} has an empty name; name it or leave it out")
    ordered, rank = ranks(array)
    if len(ordered) < len(array):
        counts = np.bincount(rank)
        twice = np.flatnonzero(counts > 1)
        first = int(rank[np.isin(rank, twice).argmax()])
        raise InputError(
            f"{origin}: the {what} {name_at(ordered, first)} appears {counts[first]} times"
            f"{and_more(len(twice))}; name each once"
        )
    return array


def check_all_known(places: Ids, names: pa.StringArray, fault: str, way_out: str) -> None:
    """Refuse if `lookup` of `names` found one unknown; `fault` is what to say after the first one's name."""
    unknown = np.flatnonzero(places < 0)
    if len(unknown):
        first = name_at(names, unknown[0])
        raise InputError(f"{first}{and_more(len(unknown))} {fault}; {way_out}")


METRICS = {"great-circle": GREAT_CIRCLE, "euclidean": EUCLIDEAN, "manhattan": MANHATTAN}
"""The kinds by distance, by the names that they have outside of kernels."""

KINDS = {"sites": SITES, "clusters": CLUSTERS, **METRICS}
"""The names that all kinds have outside of kernels."""

_NO_MATRIX = np.empty((0, 0))
_NO_SITES = np.empty(0, np.int32)
_NO_POINTS = np.empty((0, 3))
_BLOCK = 256


def kind_name(kind: int) -> str:
    """What a kind is called."""
    return next(name for name, number in KINDS.items() if number == kind)


def by_site(matrix: Floats, site_of: Ids) -> CostArrays:
    """Costs by each node's site: a symmetric matrix, with the cost inside a site on its diagonal."""
    return sealed_form(CostArrays(SITES, matrix, site_of, _NO_POINTS, 0.0, 0.0, 0.0))


def by_cluster(inner: float, outer: float, cluster_of: Ids) -> CostArrays:
    """One cost inside a cluster, and one between clusters."""
    prices = np.array([[inner, outer]])
    return sealed_form(CostArrays(CLUSTERS, prices, cluster_of, _NO_POINTS, 0.0, 0.0, 0.0))


class DistancePrices(NamedTuple):
    """What a link costs by distance: `base` plus `factor` for each unit of it, and never under `least`."""

    base: float
    factor: float
    least: float = 0.0


def distance_prices(base: Any, factor: Any, least_cost: Any) -> DistancePrices:
    """The prices, checked; one of `base` and `least_cost` must be given."""
    if base is None and least_cost is None:
        raise InputError(
            "costs by distance need base (--base) or least_cost (--least-cost), since two nodes may be at "
            "one place; give one of them"
        )
    return DistancePrices(
        0.0 if base is None else positive(base, "base"),
        positive(factor, "factor"),
        checked_least(least_cost),
    )


def by_distance(points: Floats, prices: DistancePrices, kind: int = EUCLIDEAN) -> CostArrays:
    """Costs between points in the plane or in space."""
    padded = np.zeros((len(points), 3))
    padded[:, : points.shape[1]] = points
    return sealed_form(CostArrays(kind, _NO_MATRIX, _NO_SITES, padded, *prices))


def by_great_circle(places: Floats, prices: DistancePrices) -> CostArrays:
    """Costs by latitude and longitude in degrees; the unit of distance is a kilometre on the globe."""
    lat, lon = np.radians(places[:, 0]), np.radians(places[:, 1])
    points = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)
    by_radian = prices._replace(factor=prices.factor * EARTH_RADIUS)
    return sealed_form(CostArrays(GREAT_CIRCLE, _NO_MATRIX, _NO_SITES, points, *by_radian))


def degrees(form: CostArrays) -> Floats:
    """The latitudes and longitudes that `by_great_circle` was given, but for rounding."""
    lat = np.arcsin(form.points[:, 2].clip(-1, 1))
    lon = np.arctan2(form.points[:, 1], form.points[:, 0])
    found: Floats = np.degrees(np.column_stack([lat, lon]))
    return found


def sealed_form(given: CostArrays) -> CostArrays:
    """The same with arrays read-only, contiguous and of their one type, so that a kernel is compiled once.

    Arrays that only the caller holds should come read-only: others are copied.
    """
    return CostArrays(
        int(given.kind),
        frozen(given.matrix, np.float64, "matrix"),
        frozen(given.site_of, np.int32, "site_of"),
        frozen(given.points, np.float64, "points"),
        float(given.base),
        float(given.factor),
        float(given.least),
    )


def has_sites(form: CostArrays) -> bool:
    """Whether nodes are on sites or in clusters."""
    return form.kind in (SITES, CLUSTERS)


def count_nodes(form: CostArrays) -> int:
    """How many nodes the form speaks of."""
    return len(form.site_of) if has_sites(form) else len(form.points)


def shown(form: CostArrays, sites: int) -> str:
    """The costs in a few words."""
    nodes = f"{count_nodes(form):,} nodes"
    if form.kind == SITES:
        return f"{nodes} on {sites:,} sites"
    if form.kind == CLUSTERS:
        inner, outer = form.matrix[0]
        return f"{nodes} in {sites:,} clusters, {inner:g} inside and {outer:g} between"
    unit, factor = ("km", EARTH_RADIUS) if form.kind == GREAT_CIRCLE else ("unit", 1.0)
    least = f", at least {form.least:g}" if form.least else ""
    return f"{nodes} at coordinates, {form.base:g} and {form.factor / factor:g} a {unit}{least}"


def same(one: CostArrays, other: CostArrays) -> bool:
    """Whether two forms are of one kind and hold the same numbers."""
    numbers = ("kind", "base", "factor", "least")
    plain = all(getattr(one, name) == getattr(other, name) for name in numbers)
    arrays = ((one.matrix, other.matrix), (one.site_of, other.site_of), (one.points, other.points))
    return plain and all(np.array_equal(first, second) for first, second in arrays)


def taken(form: CostArrays, nodes: Ids) -> CostArrays:
    """The form for some of the nodes, in the order given; sites stay as they are."""
    if has_sites(form):
        return form._replace(site_of=sealed(form.site_of[nodes]))
    return form._replace(points=sealed(form.points[nodes]))


def scaled(form: CostArrays, divisor: float) -> CostArrays:
    """All costs divided by a number."""
    matrix = sealed(form.matrix / divisor)
    prices = {name: getattr(form, name) / divisor for name in ("base", "factor", "least")}
    return form._replace(matrix=matrix, **prices)


def check_form(form: CostArrays, nodes: pa.StringArray, sites: pa.StringArray) -> None:
    """Refuse arrays that do not give a positive finite cost, the same both ways, for every two nodes."""
    if form.kind not in KINDS.values():
        raise InputError(f"costs can't be of kind {form.kind}; the kinds are {', '.join(KINDS)}")
    if count_nodes(form) != len(nodes):
        raise InputError(
            f"costs for {count_nodes(form):,} nodes come with {len(nodes):,} names; give one name per node"
        )
    if has_sites(form):
        _check_sites(form, nodes, sites)
    else:
        _check_points(form)


def _check_points(form: CostArrays) -> None:
    if form.points.shape[1:] != (3,) or not np.isfinite(form.points).all():
        raise InputError(f"points must be finite and of shape (n, 3), not {form.points.shape}")
    nearest = max(form.base, form.least)
    if not (min(form.base, form.least, form.factor) >= 0 and is_cost(nearest)):
        raise InputError(
            f"the base is {form.base:g}, the least cost {form.least:g} and the factor {form.factor:g}; "
            f"none may be negative, and the base or the least cost must be positive"
        )
    with np.errstate(over="ignore"):
        greatest = max(form.least, form.base + form.factor * _reach(form))
    if not is_cost(greatest):
        raise InputError(
            f"the greatest cost between two points is {greatest:g}; use a smaller factor or another unit"
        )


def _reach(form: CostArrays) -> float:
    """A distance that no two points exceed."""
    if form.kind == GREAT_CIRCLE or not len(form.points):
        return float(np.pi)
    extent = np.ptp(form.points, axis=0)
    return float(extent.sum() if form.kind == MANHATTAN else np.sqrt((extent * extent).sum()))


def _check_sites(form: CostArrays, nodes: pa.StringArray, sites: pa.StringArray) -> None:
    count = len(sites)
    beyond = np.flatnonzero((form.site_of < 0) | (form.site_of >= count))
    if len(beyond):
        site = form.site_of[beyond[0]]
        raise InputError(f"node {name_at(nodes, beyond[0])} is on site {site}, but there are {count:,} sites")
    if form.kind == CLUSTERS:
        if form.matrix.shape != (1, 2) or not is_cost(form.matrix).all():
            raise InputError(f"clusters have two positive costs, inner and outer, not {form.matrix.tolist()}")
        return
    if form.matrix.shape != (count, count):
        raise InputError(
            f"a matrix of shape {form.matrix.shape} does not fit {count:,} sites; "
            f"give a row and a column per site"
        )
    _check_matrix(form.matrix, sites)
    _check_local_costs(form, sites)


def _check_matrix(matrix: Floats, sites: pa.StringArray) -> None:
    for start in range(0, len(matrix), _BLOCK):
        rows = matrix[start : start + _BLOCK]
        wrong = ~(is_cost(rows) & (rows == matrix[:, start : start + _BLOCK].T))
        own = np.arange(len(rows))
        wrong[own, start + own] = ~(rows[own, start + own] >= 0)
        if wrong.any():
            u, v = np.argwhere(wrong)[0]
            raise InputError(
                f"the matrix has {rows[u, v]:g} from {name_at(sites, start + u)} to {name_at(sites, v)} and "
                f"{matrix[v, start + u]:g} back; {COST_RULE}, the same in both directions"
            )


def _check_local_costs(form: CostArrays, sites: pa.StringArray) -> None:
    """Refuse a site of several nodes without a cost inside it."""
    crowded = np.bincount(form.site_of, minlength=len(sites)) > 1
    local = np.diagonal(form.matrix)
    without = np.flatnonzero(crowded & ~is_cost(local))
    if len(without):
        raise InputError(
            f"several nodes are on site {name_at(sites, without[0])}{and_more(len(without))}, but links "
            f"inside it have no cost (the diagonal of a matrix is ignored); "
            f"give local= (--local), a positive number"
        )


MOST_NODES_EXACT = 5_000
"""With coordinates: 12 million pairs, a quarter of a second."""

SAMPLED_PAIRS = 1_000_000


class Mean(NamedTuple):
    """The mean cost over all pairs, or over a sample of this many pairs with its standard error."""

    value: float
    sampled_pairs: int | None = None
    standard_error: float = 0.0


def mean_cost(form: CostArrays, seed: int) -> Mean:
    """The mean over pairs of distinct nodes, of which there must be one.

    With sites exact, by how many nodes each has: linear in nodes and quadratic in sites. With coordinates
    exact up to 5,000 nodes, of a million random pairs beyond.
    """
    nodes = count_nodes(form)
    pairs = nodes * (nodes - 1) // 2
    if not has_sites(form):
        return _all_pairs(form, pairs) if nodes <= MOST_NODES_EXACT else _some_pairs(form, nodes, seed)
    held = np.bincount(form.site_of)
    inside = held * (held - 1) // 2
    if form.kind == CLUSTERS:
        inner, outer = form.matrix[0]
        within = int(inside.sum())
        return Mean(float(inner * within + outer * (pairs - within)) / pairs)
    return Mean(_sum_by_site(form.matrix[: len(held), : len(held)], held, inside) / pairs)


def _sum_by_site(matrix: Floats, held: Offsets, inside: Offsets) -> float:
    """The sum over all pairs of nodes: each pair of sites counts as often as nodes are on them."""
    across = 0.0
    for start in range(0, len(matrix), _BLOCK):
        rows = matrix[start : start + _BLOCK] * held[start : start + _BLOCK, None]
        own = np.arange(len(rows))
        rows[own, start + own] = 0.0
        across += float((rows * held).sum())
    return across / 2 + float((np.diagonal(matrix) * inside).sum())


def _all_pairs(form: CostArrays, pairs: int) -> Mean:
    from meshwright.kernels.core.costs import total_cost

    return Mean(total_cost(form, count_nodes(form)) / pairs)


def _some_pairs(form: CostArrays, nodes: int, seed: int) -> Mean:
    from meshwright.kernels.core.costs import fill_costs

    rng = generator(seed, "mean-cost")
    sources = rng.integers(0, nodes, SAMPLED_PAIRS, np.int32)
    # A shift by 1 to n-1 makes every other node as likely as any.
    targets = ((sources + rng.integers(1, nodes, SAMPLED_PAIRS)) % nodes).astype(np.int32)
    costs = np.empty(SAMPLED_PAIRS)
    fill_costs(form, sources, targets, costs)
    error = float(costs.std() / np.sqrt(SAMPLED_PAIRS))
    return Mean(float(costs.mean()), SAMPLED_PAIRS, error)
