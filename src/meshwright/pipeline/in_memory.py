"""`mw.ingest`, `mw.profile` and `mw.sample`: jobs of the pipeline in this process, from memory to memory."""

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from meshwright.model.interests import Interests, interest_counts
from meshwright.model.reading.columns import Column
from meshwright.pipeline.ingest.job import look_at, read_sound, row_facts, too_many, words_on_rejected
from meshwright.pipeline.ingest.notices import notices
from meshwright.pipeline.ingest.options import IngestOptions
from meshwright.pipeline.profile.job import Profile, check_most_topics, profile_by
from meshwright.runtime.checks import make_options
from meshwright.runtime.errors import InputError, MeshwrightError, MeshwrightWarning, OptionError
from meshwright.runtime.progress import Progress, StageTimer, stage
from meshwright.runtime.wording import count, type_of

_NOWHERE = Path()


def ingest(
    paths: str | Path | Sequence[str | Path],
    relation: str = "pairs",
    *,
    columns: tuple[Column, Column] | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> Interests:
    r"""Read raw files in their own format into memory, as the command `ingest` does without Spark.

    `paths` are files, folders or patterns: CSV, TSV, edge lists, JSON lines, Parquet and more, plain or
    compressed. `relation` says what a row means: with "pairs", a node and a topic; with "follows", a follower
    and a followee, who is a topic; with "friendship", two friends, each of whom subscribes to the other.
    `columns` are two names or two positions from 1. The options `format`, `header`, `delimiter`,
    `max_rejected`, `own_topic`, `wildcards`, `damaged` and `limits` are those of the command.

    Rows that can't be used are left out, with a warning; more of them than `max_rejected` (1 in 100) are
    refused. To see them all, use the command, which writes them to a table.

    Example:
        >>> import meshwright as mw
        >>> from pathlib import Path
        >>> written = Path("friends.csv").write_text("ann,bob\nbob,cid")
        >>> mw.ingest("friends.csv", "friendship", columns=(1, 2))
        Interests(3 nodes, 3 topics, 4 interests)
    """
    from meshwright.pipeline.ingest.in_process import InProcess

    listed = [paths] if isinstance(paths, str | Path) else paths
    if not isinstance(listed, list | tuple):
        raise InputError(
            f"ingest got {type_of(paths)}; give paths of files; for what is in memory, there are "
            f"Interests.from_pairs, from_pandas, from_scipy and others"
        )
    if isinstance(columns, str):
        raise OptionError(f'columns is {columns!r}; give a tuple, such as ("user", "genre") or (1, 2)')
    inputs = [str(path) for path in listed]
    timer = StageTimer(progress)
    with _in_python():
        given = make_options(IngestOptions, {"relation": relation, "columns": columns, **options})
        asked = look_at(None, inputs, given)
        asked, rows = read_sound(InProcess(), None, asked, given, _NOWHERE, timer)
        if too_many(rows.quality, given):
            raise InputError(
                f"{words_on_rejected(rows, given)}; the command meshwright ingest writes all of them to a "
                f"table"
            )
        interests, found = rows.interests(timer)
    for line in _told(asked.facts | row_facts(rows.quality, given) | found):
        warnings.warn(line, MeshwrightWarning, stacklevel=2)
    return interests


def _told(facts: dict[str, Any]) -> Iterator[str]:
    """What to warn of, in Python's words."""
    if facts["rejected"]:
        reasons = ", ".join(f"{reason}: {number:,}" for reason, number in facts["rejected_reasons"].items())
        rows = count(facts["rejected"], "row")
        were = "was" if facts["rejected"] == 1 else "were"
        yield f"{rows} can't be used and {were} left out ({reasons})"
    for line in notices(facts):
        kind, _, words = line.partition(": ")
        if kind == "Warning":
            yield _python_words(words)


@contextmanager
def _in_python() -> Iterator[None]:
    """Turn flags in errors into Python's names."""
    try:
        yield
    except MeshwrightError as error:
        said = _python_words(str(error))
        if said == str(error):
            raise
        raise type(error)(said, path=error.path, row=error.row) from None


_WITH_VALUE = re.compile(r"--(as|format|wildcards|damaged|grow) (?!is\b|and\b|or\b)(\w+)")
_RENAMED = {"as": "relation", "no_header": "header=False", "header": "header=True"}


def _python_words(words: str) -> str:
    """The words of a command with options as Python has them: `--as pairs` is `relation="pairs"` here."""
    words = words.replace("--columns A,B (or 1,2)", 'columns=("A", "B") or columns=(1, 2)')
    words = words.replace("--columns A,B", 'columns=("A", "B")')
    words = _WITH_VALUE.sub(lambda flag: f'{_RENAMED.get(flag[1], flag[1])}="{flag[2]}"', words)
    return re.sub(r"--([a-z][a-z-]*)", _python_name, words)


def _python_name(flag: re.Match[str]) -> str:
    name = flag[1].replace("-", "_")
    return _RENAMED.get(name, name)


def profile(
    interests: Interests, *, most_topics: int = 400, seed: int = 0, progress: Progress | None = None
) -> Profile:
    """What interests are like, as the command `profile` tells it: distributions, popular topics, correlation.

    If there are more than `most_topics` topics, a sample of that size, drawn with the seed, is correlated.

    Example:
        >>> import meshwright as mw
        >>> found = mw.profile(mw.workloads.zipf(200, 30, subscriptions=5, seed=1))
        >>> found.nodes, found.topics_per_node.mean
        (200, 5.0)
    """
    from meshwright.pipeline.profile.in_process import InProcess

    _check_interests(interests, "profile")
    check_most_topics(most_topics)
    return profile_by(InProcess(interests), interest_counts(interests), most_topics, seed, progress)


def sample(
    interests: Interests,
    *,
    bfs: int | None = None,
    universe: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> Interests:
    """Cut smaller interests out of large ones, as the command `sample` does.

    `bfs` is how many users to visit, breadth first, in the interests of a social graph; its options are
    `start`, a tuple of names, and `starts`. `universe` is how many random topics to begin with; its options
    are `grow`, `nodes_of`, `topics_of`, `least_subscribers` and `median_of`. The same seed gives the same
    sample, here, by the command and on Spark.

    Example:
        >>> import meshwright as mw
        >>> follows = [("ann", "bob"), ("bob", "eve"), ("eve", "ann"), ("kim", "eve")]
        >>> mw.sample(mw.Interests.from_pairs(follows), bfs=3, start=("ann",))
        Interests(3 nodes, 3 topics, 3 interests)
    """
    from meshwright.pipeline.sample.bfs import BfsOptions
    from meshwright.pipeline.sample.in_process import InProcess
    from meshwright.pipeline.sample.job import check_size, found_by
    from meshwright.pipeline.sample.universe import UniverseOptions

    _check_interests(interests, "sample")
    if (bfs is None) == (universe is None):
        raise OptionError("give either bfs=N or universe=N")
    with _in_python():
        way: BfsOptions | UniverseOptions
        if bfs is not None:
            way = make_options(BfsOptions, {"users": bfs, **options})
        else:
            way = make_options(UniverseOptions, {"seeds": universe, **options})
        check_size(way, interest_counts(interests))
        with stage(progress, "sampling"):
            engine = InProcess(interests, "the interests")
            nodes, topics, _ = found_by(engine, way, seed, _NOWHERE)
            return engine.subset(nodes, topics)


def _check_interests(given: object, caller: str) -> None:
    if not isinstance(given, Interests):
        raise InputError(f"{caller} got {type_of(given)}; give Interests")
