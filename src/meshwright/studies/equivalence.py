"""Statistical tests on paired runs: are two measures equivalent, and did a count rise?"""

from collections.abc import Sequence

import numpy as np


def equivalence_p(differences: Sequence[float], margin: float) -> float:
    """The p-value of two one-sided t-tests (TOST): small where the mean surely lies within ±margin.

    Schuirmann, 1987. The null hypothesis is that the mean is at least `margin` away from 0; under 0.05 the
    two are equivalent at the 5% level. Differences that are all the same are beyond doubt.
    """
    from scipy.stats import t

    found = np.asarray(differences, np.float64)
    if len(found) < 2:
        return 1.0
    mean, error = float(found.mean()), float(found.std(ddof=1) / np.sqrt(len(found)))
    if error == 0:
        return 0.0 if abs(mean) < margin else 1.0
    below = float(t.sf((mean + margin) / error, len(found) - 1))
    above = float(t.cdf((mean - margin) / error, len(found) - 1))
    return max(below, above)


def rise_p(before: int, after: int) -> float:
    """The p-value of a rise: how likely so many would be after, if before and after were equally likely."""
    from scipy.stats import binom

    return float(binom.sf(after - 1, before + after, 0.5)) if before + after else 1.0
