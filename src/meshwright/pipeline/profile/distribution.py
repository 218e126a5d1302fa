"""How often each value occurs, with what is usually asked about it."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from meshwright.pipeline.profile.power_law import fit_power_law

_QUANTILES = {
    "minimum": 0.0,
    "p25": 0.25,
    "median": 0.5,
    "p75": 0.75,
    "p90": 0.9,
    "p99": 0.99,
    "maximum": 1.0,
}


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """`counts[i]` things have the value `values[i]`; values rise, are from 0 on, and none has the count 0.

    Attributes:
        values, counts: the distribution.
        mean: None where there is nothing.
        quantiles: `minimum, p25, median, p75, p90, p99, maximum`: the least value that so large a share has
            at most; empty where there is nothing.
        exponent: of the power law fitted to the values from `x_min` on, None where there is too little.
        x_min, ks_distance, tail: see `PowerLaw`.
    """

    values: tuple[int, ...]
    counts: tuple[int, ...]
    mean: float | None
    quantiles: Mapping[str, int]
    exponent: float | None
    x_min: int | None
    ks_distance: float | None
    tail: int | None

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]]) -> Self:
        """Of pairs (value, count) in any order; a value may come several times."""
        tally: dict[int, int] = {}
        for value, count in pairs:
            tally[value] = tally.get(value, 0) + count
        rising = sorted((value, count) for value, count in tally.items() if count)
        values = np.array([value for value, _ in rising], np.int64)
        counts = np.array([count for _, count in rising], np.int64)
        law = fit_power_law(values, counts)
        return cls(
            values=tuple(values.tolist()),
            counts=tuple(counts.tolist()),
            mean=float(values @ counts / counts.sum()) if rising else None,
            quantiles=_quantiles(values, counts) if rising else {},
            exponent=law.exponent if law else None,
            x_min=law.x_min if law else None,
            ks_distance=law.ks_distance if law else None,
            tail=law.tail if law else None,
        )

    def to_json(self) -> dict[str, Any]:
        """In JSON's types."""
        return asdict(self) | {"values": list(self.values), "counts": list(self.counts)}

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:
        """What `to_json` gave."""
        return cls(**{**found, "values": tuple(found["values"]), "counts": tuple(found["counts"])})


def _quantiles(values: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]) -> dict[str, int]:
    reached = np.cumsum(counts)
    wanted = {name: max(1, int(np.ceil(share * reached[-1]))) for name, share in _QUANTILES.items()}
    return {name: int(values[np.searchsorted(reached, place)]) for name, place in wanted.items()}
