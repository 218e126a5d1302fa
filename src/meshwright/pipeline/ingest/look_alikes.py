"""Names that differ from another one only by case or by blanks at their ends: legal, and often a mistake."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_BLANKS = " \t\r\n\f\v\u00a0\u3000"
_MOST_EXAMPLES = 5


def look_alikes(tables: Mapping[str, DataFrame]) -> dict[str, dict[str, Any]]:
    """How many of the distinct `name`s of each table have a look-alike, and some examples of two such names.

    Of names that look alike at least one is not in lower case or has a blank at an end; so where there is
    none of these, one scan is all.
    """
    from pyspark.sql import functions as f

    look = f.lower(f.btrim("name", f.lit(_BLANKS))).alias("look")
    frames = [table.select(f.lit(what).alias("what"), "name", look) for what, table in tables.items()]
    looks = reduce(lambda one, other: one.unionAll(other), frames)
    odd = looks.filter("name != look").select("what", "look").distinct()
    found: dict[str, dict[str, Any]] = {what: {"count": 0, "examples": []} for what in tables}
    if odd.isEmpty():
        return found
    alike = (
        looks.join(odd, ["what", "look"], "left_semi")
        .groupBy("what", "look")
        .agg(f.count("*").alias("names"), f.min("name").alias("one"), f.max("name").alias("other"))
        .filter("names > 1")
    )
    for what, count in alike.groupBy("what").agg(f.sum("names")).collect():
        examples = alike.filter(f.col("what") == what).orderBy("look").limit(_MOST_EXAMPLES).collect()
        found[what] = {"count": count, "examples": [[row.one, row.other] for row in examples]}
    return found
