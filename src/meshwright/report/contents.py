"""What a report says, as plain data: all of it survives JSON, so that a resumed run can read it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, kw_only=True)
class Quality:
    """What came in, and what was wrong with it.

    Attributes:
        rows: rows read, those that were rejected among them.
        rejected: how many rows were rejected, by reason.
        rejected_examples: some of them, each with `file`, `line`, `reason` and `text` (any may be missing).
        duplicates: rows that said again what an earlier one had said.
        look_alikes: names that differ from another one only by case or by blanks at their ends.
        look_alike_examples: some of these, each a list of names that look alike.
        nodes_without_topics: nodes that nothing was to be connected for.
        topics_of_one: topics with a single subscriber, which need no links.
        files: how many files the rows came from; None where it is not known.
        notices: what else was passed over, or may not have been meant, a sentence or two each.
    """

    rows: int
    rejected: Mapping[str, int] = field(default_factory=dict)
    rejected_examples: Sequence[Mapping[str, Any]] = ()
    duplicates: int = 0
    look_alikes: int = 0
    look_alike_examples: Sequence[Sequence[str]] = ()
    nodes_without_topics: int = 0
    topics_of_one: int = 0
    files: int | None = None
    notices: Sequence[str] = ()

    @classmethod
    def from_ingest(
        cls,
        facts: Mapping[str, Any],
        profile: Mapping[str, Any],
        rejected_examples: Sequence[Mapping[str, Any]] = (),
        notices: Sequence[str] = (),
    ) -> Self:
        """Build from the facts in ingest's manifest, the profile, some rows of `rejected/`, and notices."""
        alike = facts.get("look_alikes", {}).values()
        subscribers, subscriptions = (
            dict(zip(profile[key]["values"], profile[key]["counts"], strict=True))
            for key in ("subscribers_per_topic", "topics_per_node")
        )
        return cls(
            rows=facts["rows"],
            rejected=facts.get("rejected_reasons", {}),
            rejected_examples=rejected_examples,
            duplicates=facts.get("duplicates", 0),
            look_alikes=sum(found["count"] for found in alike),
            look_alike_examples=[names for found in alike for names in found["examples"]],
            nodes_without_topics=subscriptions.get(0, 0),
            topics_of_one=subscribers.get(1, 0),
            files=facts.get("files"),
            notices=notices,
        )


@dataclass(frozen=True, kw_only=True)
class Alternative:
    """An overlay to compare with: its links, and the links of a node on average.

    `at_most` marks a number that is only bounded from above, `ours` the overlay that the report is about.
    """

    name: str
    links: int
    average_degree: float
    at_most: bool = False
    ours: bool = False


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """Nodes to draw and the links among them, as `choose_drawing` picks them.

    Attributes:
        names: the names of the nodes drawn.
        degrees: the links that each of them has in the whole overlay.
        edges: pairs of positions in `names`.
        of_nodes: the nodes of the whole overlay.
    """

    names: Sequence[str]
    degrees: Sequence[int]
    edges: Sequence[Sequence[int]]
    of_nodes: int


@dataclass(frozen=True, kw_only=True)
class BusyNode:
    """A node, its links, and how many it may have: `max_links` of `nodes/`, None where that is not given."""

    name: str
    links: int
    limit: int | None = None


@dataclass(frozen=True, kw_only=True)
class Busiest:
    """The nodes that carry most links.

    Attributes:
        nodes: those with most links, falling; none without links among them.
        links: all links of the overlay.
        average_degree: the links of a node on average.
        over_limit: how many nodes have more links than they may.
        furthest_over: some of these, furthest over first.
        with_costs: whether links cost something.
        warnings: what to say about hubs and limits, a sentence or two each.
    """

    nodes: Sequence[BusyNode]
    links: int
    average_degree: float
    over_limit: int = 0
    furthest_over: Sequence[BusyNode] = ()
    with_costs: bool = False
    warnings: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class TopicLoad:
    """A topic and its sub-overlay, the links between two subscribers of it.

    `cost` is that of these links, None where links have none; `diameter` is None where the topic is cut, or
    diameters were not measured; `parts` is 1 where it is connected.
    """

    name: str
    subscribers: int
    links: int
    cost: float | None
    diameter: int | None
    parts: int


@dataclass(frozen=True, kw_only=True)
class Target:
    """An overlay that could take the place of today's, on the same interests.

    Attributes:
        name: what the page calls it.
        evaluation: as in `Contents`.
        opened, closed, kept: the links that today's lacks, that only today's has, and that both have.
        cost_today, cost: what all links cost, today's and its own; None where not known.
        no_costs: why these can't be compared; empty where they can, or neither overlay has any.
        unit_today, unit: what these costs are counted in; empty where that is not known.
        parameters: what made it.
        busiest: its nodes that carry most links; None leaves them out.
        idle_links: how many of its links no topic uses; None where that was not counted.
        load: as in `Contents`.
    """

    name: str
    evaluation: Mapping[str, Any]
    opened: int
    closed: int
    kept: int
    cost_today: float | None = None
    cost: float | None = None
    no_costs: str = ""
    unit_today: str = ""
    unit: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    busiest: Busiest | None = None
    idle_links: int | None = None
    load: Mapping[str, Any] | None = None

    @property
    def cost_saved(self) -> float | None:
        """What it costs less than today's, by the same costs; None where these are not known."""
        if self.no_costs or self.cost is None or self.cost_today is None:
            return None
        return self.cost_today - self.cost


@dataclass(frozen=True, kw_only=True)
class TopicPaths:
    """The longest paths inside topics, of several overlays over the same topics.

    Attributes:
        topics: how many topics are connected in all of the overlays, and have a subscriber.
        cut: how many others have a subscriber, and are cut in some.
        longest: for each overlay, the longest path inside one of these topics; None where there is none.
        mean: for each overlay, the mean over these topics of the longest path inside; None as above.
    """

    topics: int
    cut: int
    longest: Sequence[int | None]
    mean: Sequence[float | None]


@dataclass(frozen=True, kw_only=True)
class Repriced:
    """An overlay whose links had other costs of their own: how many, and what all its links cost by these."""

    name: str
    links: int
    of_links: int
    cost_before: float
    unit_before: str = ""


@dataclass(frozen=True, kw_only=True)
class LinkClass:
    """Some links under one name: how many, and what they cost together."""

    name: str
    links: int
    cost: float


@dataclass(frozen=True, kw_only=True)
class Map:
    """Where the links run, if places are known.

    Attributes:
        names, lats, lons: of the spots, sites or nodes, that are drawn.
        costs: what the links at each spot cost together, those inside it included.
        links: (spot, spot, links, cost) of the spots that are linked, the dearest first.
        left_out: pairs of spots that are linked and not drawn, since they are many.
        without_place: spots that have links and no place.
    """

    names: Sequence[str]
    lats: Sequence[float]
    lons: Sequence[float]
    costs: Sequence[float]
    links: Sequence[Sequence[float]]
    left_out: int = 0
    without_place: int = 0


@dataclass(frozen=True, kw_only=True)
class Spending:
    """Where the cost goes.

    Attributes:
        classes: all links by class, the cheapest first.
        by_sites: whether the classes are links inside sites and between them; else quarters of all links.
        dearest: the pairs of sites whose links cost most together.
        rival: the links that an algorithm which looks at costs where ours does not, or the other way round,
            would have taken; None where that would take too long.
        rival_needs_costs: whether it looks at costs.
        map: where the links run; None where places are not known.
        unit: what costs are counted in, such as "ms"; empty where that is not known.
    """

    classes: Sequence[LinkClass]
    by_sites: bool
    dearest: Sequence[LinkClass] = ()
    rival: LinkClass | None = None
    rival_needs_costs: bool = False
    map: Map | None = None
    unit: str = ""

    @property
    def cost(self) -> float:
        """What all links cost."""
        return sum(found.cost for found in self.classes)


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """How many nodes had `before` physical links at first and `after` in the end, both above 0."""

    before: Sequence[int]
    after: Sequence[int]
    nodes: Sequence[int]

    @classmethod
    def of(cls, before: npt.NDArray[np.int64], after: npt.NDArray[np.int64]) -> Self:
        """Build from the links of each node; nodes without any, before or after, are left out."""
        linked = (before > 0) & (after > 0)
        pairs, nodes = np.unique(np.stack([before[linked], after[linked]]), axis=1, return_counts=True)
        return cls(before=pairs[0].tolist(), after=pairs[1].tolist(), nodes=nodes.tolist())


@dataclass(frozen=True, kw_only=True)
class Contents:
    """All that `report_page` puts on the page.

    Attributes:
        title: the heading, for example the name of the folder.
        evaluation: the keys of `evaluate --json`, and where known `degree_distribution` (how many nodes have
            0, 1, 2, … links), `diameter_distribution` (pairs of a diameter and how many topics have it) and
            `disconnected_topic_components` (by topic, into how many components it has fallen; the page
            shows twenty), and `view_distributions` where the overlay has views.
        parameters: what was asked for, in the order to show: inputs, command, relation, algorithm, options,
            seed, engine, master, versions. Values may be mappings and lists.
        seconds: what each stage took, in order.
        quality: what was wrong with the input; None where nothing was ingested.
        profile: `Profile.to_json()`; None leaves out the distributions.
        alternatives: other overlays and this one, as `alternatives` gives them.
        drawing: what to draw; None leaves it out.
        facts: what the algorithm counted; shown by key and value.
        spending: where the cost goes; None where links cost nothing.
        sharing: what gossip changed; None where the overlay has no such table.
        busiest: the nodes that carry most links; None leaves them out.
        topic_loads: by measure ("cost", "links" or "subscribers"), the topics that have most of it.
        targets: overlays to put in its place.
        paths: the longest paths inside topics, today's and those of the targets; None without targets.
        idle_links: how many links no topic uses; None where that was not counted.
        asked: the options that the report was given, by name.
        repriced: the overlays whose own costs gave way to those that the report was given.
        load: how many messages nodes are expected to send on, `Load.to_json()`; None where that was not
            measured, or some topic is cut.
    """

    title: str
    evaluation: Mapping[str, Any]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    quality: Quality | None = None
    profile: Mapping[str, Any] | None = None
    alternatives: Sequence[Alternative] = ()
    drawing: Drawing | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    spending: Spending | None = None
    sharing: Sharing | None = None
    busiest: Busiest | None = None
    topic_loads: Mapping[str, Sequence[TopicLoad]] = field(default_factory=dict)
    targets: Sequence[Target] = ()
    paths: TopicPaths | None = None
    idle_links: int | None = None
    asked: Mapping[str, Any] = field(default_factory=dict)
    repriced: Sequence[Repriced] = ()
    load: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        """What the overlay is called beside others."""
        return next((overlay.name for overlay in self.alternatives if overlay.ours), self.title)

    @property
    def unit(self) -> str:
        """What costs are counted in; empty where that is not known."""
        return "" if self.spending is None else self.spending.unit
