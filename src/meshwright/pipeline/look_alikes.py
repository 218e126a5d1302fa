"""Names that differ from another one only by case or by blanks at their ends: legal, and often a mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_BLANKS = " \t\r\n\f\v\u00a0\u3000"
_MOST_EXAMPLES = 5


def look_alikes(names: DataFrame) -> dict[str, Any]:
    """How many of the distinct `name`s have a look-alike, and some examples, each two names of one look.

    Of names that look alike at least one is not in lower case or has a blank at an end; so where there is none
    of these, one scan is all.
    """
    from pyspark.sql import functions as f

    looks = names.select("name", f.lower(f.btrim("name", f.lit(_BLANKS))).alias("look"))
    odd = looks.filter("name != look").select("look").distinct()
    if odd.isEmpty():
        return {"count": 0, "examples": []}
    alike = (
        looks.join(odd, "look", "left_semi")
        .groupBy("look")
        .agg(f.count("*").alias("names"), f.min("name").alias("one"), f.max("name").alias("other"))
        .filter("names > 1")
    )
    total = alike.agg(f.sum("names")).first()
    examples = alike.orderBy("look").limit(_MOST_EXAMPLES).collect()
    return {"count": int((total and total[0]) or 0), "examples": [[row.one, row.other] for row in examples]}
