"""Publications: who publishes, and on which topic."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from meshwright.model import pairs as sources
from meshwright.model.filtered import dialect_of_topics, topics_of_names
from meshwright.model.interests import Interests
from meshwright.model.pairs import Columns, Pairs
from meshwright.runtime.arrays import Flags, Ids, Offsets
from meshwright.runtime.checks import check_whole
from meshwright.runtime.columns import numpy_of
from meshwright.runtime.errors import InputError
from meshwright.runtime.seeds import generator
from meshwright.runtime.wording import count

_COLUMNS = Columns("topic", "publisher")

PublicationSource = int | str | Path | Iterable[tuple[str, str]]
"""How many to draw; a CSV or Parquet file with the columns topic and publisher; or such pairs of names."""


@dataclass(frozen=True, kw_only=True)
class Publications:
    """The topic of each publication, and the slot of its issuer among the interests sorted by topic."""

    topics: Ids
    slots: Offsets

    def __len__(self) -> int:
        return len(self.topics)

    def issuers(self, interests: Interests) -> Ids:
        """The node that issues each."""
        return interests.node_ids[self.slots]


def publications_of(interests: Interests, source: PublicationSource, alive: Flags, seed: int) -> Publications:
    """The publications of a source; what can't be published is refused."""
    if isinstance(source, int | float | np.integer | np.floating):
        return draw_publications(interests, source, alive, seed)
    if isinstance(source, str | Path):
        parquet = Path(source).is_dir() or Path(source).suffix.lower() == ".parquet"
        read = sources.from_parquet if parquet else sources.from_csv
        chunks, origin = read(source, _COLUMNS), str(source)
    else:
        chunks, origin = sources.from_tuples(source, _COLUMNS), "the publications"
    return named_publications(interests, sources.collect(chunks, _COLUMNS), alive, origin)


def draw_publications(interests: Interests, count: float, alive: Flags, seed: int) -> Publications:
    """As in [4], 5.1: every topic equally likely, then every subscriber of it.

    Topics without a subscriber, and subscribers that have failed, issue nothing.
    """
    check_whole("publications", count, 0, required=True)
    slots = np.flatnonzero(alive[interests.node_ids])
    bounds = np.searchsorted(slots, interests.topic_indptr)
    sizes = np.diff(bounds)
    able = np.flatnonzero(sizes)
    if not count:
        return Publications(topics=np.empty(0, np.int32), slots=np.empty(0, np.int64))
    if not len(able):
        raise InputError(
            "no topic has a subscriber that could publish; "
            "give interests with subscribers, or let fewer nodes fail"
        )
    random = generator(seed, "route.publications")
    topics = able[random.integers(0, len(able), int(count))]
    chosen = bounds[topics] + random.integers(0, sizes[topics])
    return Publications(topics=topics.astype(np.int32), slots=slots[chosen])


def named_publications(interests: Interests, pairs: Pairs, alive: Flags, origin: str) -> Publications:
    """Read pairs of a topic and a publisher; if topics are classes of filters, a name stands for its class.

    Refused, with its row, is an unknown name, a topic without subscribers, and a publisher that is not one of
    them or has failed.
    """
    topics = topics_of_names(interests, pairs.first_names).astype(np.int64)[pairs.first_ids]
    _check_known(topics, pairs.first_names, pairs.first_ids, origin, _no_topic(interests))
    by_name = numpy_of(pc.index_in(pairs.second_names, interests.nodes).fill_null(-1)).astype(np.int64)
    nodes = by_name[pairs.second_ids]
    nobody = f"there is no node {{name!r}} among the {interests.node_count:,} nodes"
    _check_known(nodes, pairs.second_names, pairs.second_ids, origin, nobody)
    owners = np.repeat(np.arange(interests.topic_count), np.diff(interests.topic_indptr))
    keys = owners * interests.node_count + interests.node_ids
    wanted = topics * interests.node_count + nodes
    slots = np.searchsorted(keys, wanted)
    is_own = np.append(keys, -1)[slots] == wanted
    wrong = np.flatnonzero(~is_own | ~alive[nodes])
    if len(wrong):
        row = int(wrong[0])
        raise InputError(
            f"{origin}, row {row + 1}: {_fault(interests, int(topics[row]), int(nodes[row]), is_own[row])}"
        )
    return Publications(topics=topics.astype(np.int32), slots=slots)


def _no_topic(interests: Interests) -> str:
    if not interests.topic_count or dialect_of_topics(interests) is None:
        return f"there is no topic {{name!r}} among the {interests.topic_count:,} topics"
    return "no filter matches the name {name!r}; leave out what nobody wants"


def _check_known(found: Offsets, names: pa.StringArray, ids: Ids, origin: str, words: str) -> None:
    """Refuse the first row whose name was not found."""
    unknown = np.flatnonzero(found < 0)
    if len(unknown):
        row = int(unknown[0])
        raise InputError(f"{origin}, row {row + 1}: {words.format(name=names[int(ids[row])].as_py())}")


def _fault(interests: Interests, topic: int, node: int, is_own: bool) -> str:
    """Why a node can't publish on a topic."""
    name, publisher = interests.topics[topic].as_py(), interests.nodes[node].as_py()
    subscribers = int(np.diff(interests.topic_indptr)[topic])
    if not subscribers:
        return f"topic {name!r} has no subscribers; leave its publications out"
    if is_own:
        return f"{publisher!r} publishes on {name!r} and has failed; let another node publish"
    return (
        f"{publisher!r} publishes on {name!r}, to which it does not subscribe; add that interest, or let one "
        f"of its {count(subscribers, 'subscriber')} publish"
    )
