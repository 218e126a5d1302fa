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
    SITES,
    CostArrays,
)
from meshwright.model.dense import frozen, sealed
from meshwright.model.names import NameSource, name_array, ranks
from meshwright.runtime.arrays import Flags, Floats, Ids, Offsets
from meshwright.runtime.errors import InputError
from meshwright.runtime.seeds import generator


def and_more(count: int) -> str:
    """For an error that names the first of `count` offenders."""
    return f" (and {count - 1:,} more)" if count > 1 else ""


def name_at(names: pa.StringArray, at: Any) -> str:
    """One of the names as errors show it."""
    return repr(names[int(at)].as_py())


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


KINDS = {"sites": SITES, "clusters": CLUSTERS, "euclidean": EUCLIDEAN, "great-circle": GREAT_CIRCLE}
"""The names that kinds have outside of kernels."""

_NO_MATRIX = np.empty((0, 0))
_NO_SITES = np.empty(0, np.int32)
_NO_POINTS = np.empty((0, 3))
_BLOCK = 256


def kind_name(kind: int) -> str:
    """What a kind is called."""
    return next(name for name, number in KINDS.items() if number == kind)


def by_site(matrix: Floats, site_of: Ids) -> CostArrays:
    """Costs by each node's site: a symmetric matrix, with the cost inside a site on its diagonal."""
    return sealed_form(CostArrays(SITES, matrix, site_of, _NO_POINTS, 0.0, 0.0))


def by_cluster(inner: float, outer: float, cluster_of: Ids) -> CostArrays:
    """One cost inside a cluster, and one between clusters."""
    return sealed_form(CostArrays(CLUSTERS, np.array([[inner, outer]]), cluster_of, _NO_POINTS, 0.0, 0.0))


def by_distance(points: Floats, base: float, factor: float) -> CostArrays:
    """Costs between points in the plane or in space: `base` plus `factor` times the distance."""
    padded = np.zeros((len(points), 3))
    padded[:, : points.shape[1]] = points
    return sealed_form(CostArrays(EUCLIDEAN, _NO_MATRIX, _NO_SITES, padded, base, factor))


def by_great_circle(places: Floats, base: float, factor: float) -> CostArrays:
    """Costs by latitude and longitude in degrees: `base` plus `factor` times the kilometres on the globe."""
    lat, lon = np.radians(places[:, 0]), np.radians(places[:, 1])
    points = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=1)
    return sealed_form(CostArrays(GREAT_CIRCLE, _NO_MATRIX, _NO_SITES, points, base, factor * EARTH_RADIUS))


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
    unit, factor = ("unit", 1.0) if form.kind == EUCLIDEAN else ("km", EARTH_RADIUS)
    return f"{nodes} at coordinates, {form.base:g} and {form.factor / factor:g} a {unit}"


def same(one: CostArrays, other: CostArrays) -> bool:
    """Whether two forms are of one kind and hold the same numbers."""
    plain = (one.kind, one.base, one.factor) == (other.kind, other.base, other.factor)
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
    return form._replace(matrix=matrix, base=form.base / divisor, factor=form.factor / divisor)


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
    if not (is_cost(form.base) and form.factor >= 0):
        raise InputError(f"the base is {form.base:g} and the factor {form.factor:g}; both must be positive")
    with np.errstate(over="ignore"):
        greatest = form.base + form.factor * _reach(form)
    if not is_cost(greatest):
        raise InputError(
            f"the greatest cost between two points is {greatest:g}; use a smaller factor or another unit"
        )


def _reach(form: CostArrays) -> float:
    """A distance that no two points exceed."""
    if form.kind == GREAT_CIRCLE or not len(form.points):
        return float(np.pi)
    extent = np.ptp(form.points, axis=0)
    return float(np.sqrt((extent * extent).sum()))


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
            f"inside it have no cost; give local= (--local), a positive number"
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
