"""Names that look like another one: legal, and a likely mistake.

Names look alike if they differ only by case, by blanks at their ends, or by how Unicode spells a character:
"ü" is one character, or "u" with dots.
"""

from typing import Any
from unicodedata import normalize

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_BLANKS = " \t\r\n\f\v\u00a0\u3000"
MOST_EXAMPLES = 5


def names_alike(names: pa.StringArray) -> dict[str, Any]:
    """How many of the distinct `names` have a look-alike, and some examples of two such names.

    Of names that look alike at least one is not its own look; so where each is, one scan is all.
    """
    looks = looks_of(names)
    odd = looks.filter(pc.not_equal(names, looks))
    alike = np.flatnonzero(pc.is_in(looks, odd.unique()).to_numpy(zero_copy_only=False))
    by_look: dict[str, list[str]] = {}
    for at in alike.tolist():
        by_look.setdefault(looks[at].as_py(), []).append(names[at].as_py())
    groups = {look: sorted(own, key=str.encode) for look, own in by_look.items() if len(own) > 1}
    shown = sorted(groups, key=str.encode)[:MOST_EXAMPLES]
    return {
        "count": sum(len(own) for own in groups.values()),
        "examples": [[groups[look][0], groups[look][-1]] for look in shown],
    }


def looks_of(names: pa.StringArray) -> pa.StringArray:
    """What each name looks like, the same for names that look alike. Only those beyond ASCII take Python."""
    looks = pc.ascii_lower(pc.utf8_trim(names, _BLANKS))
    other = np.flatnonzero(~pc.string_is_ascii(names).to_numpy(zero_copy_only=False))
    if not len(other):
        return looks
    full = pa.array([_look(name) for name in names.take(pa.array(other)).to_pylist()])
    mask = np.zeros(len(names), np.bool_)
    mask[other] = True
    return pc.replace_with_mask(looks, pa.array(mask), full)


def _look(name: str) -> str:
    """Unicode's form for comparing without case (NFKC, folded), without blanks at the ends."""
    return normalize("NFKC", normalize("NFKC", name).casefold()).strip(_BLANKS)
