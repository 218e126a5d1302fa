"""A plan: which broker opens which link, what crosses it, and who has to get what. Plain data, as JSON."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

from meshwright.deploy.hosts import Host
from meshwright.routing.trees import TREES
from meshwright.runtime.checks import Checked, check_whole, checked, choice
from meshwright.runtime.checksums import CHECKSUM, is_whole, sealed
from meshwright.runtime.errors import DatasetError, one_line

FILE = "plan.json"
FORMAT_VERSION = 1


class Link(NamedTuple):
    """A link, what crosses it in both directions, and the broker that opens it."""

    opens: str
    to: str
    lines: tuple[str, ...]
    """Topics or filters, sorted; none covers another."""
    accounts: tuple[int, ...] = ()
    """The accounts of the topics, where the engine keeps topics apart by accounts."""
    rate: float | None = None
    """Messages a second, where rates of topics are known."""

    @property
    def ends(self) -> tuple[str, str]:
        """Both brokers, the one that opens first."""
        return self.opens, self.to


class Topic(NamedTuple):
    """A topic or class, and who wants it."""

    name: str
    example: str
    """A name to publish that only this topic and those around it match."""
    nodes: tuple[str, ...]
    relays: tuple[str, ...] = ()
    """Brokers that carry it although nobody there wants it."""
    account: int = 0


class Standby(NamedTuple):
    """A link that is closed, and opened when one of some brokers fails."""

    opens: str
    to: str
    when: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Settings(Checked):
    """What the links of a plan have in common."""

    tree: str = choice("shortest", TREES)
    qos: int = checked(1, partial(check_whole, least=0, most=2, required=True))
    sessions: str = choice("persistent", ("persistent", "clean"))
    """`persistent`: what is sent while the other end is away is kept for it; `clean`: it is lost."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A mesh for one kind of broker. Everything in a stable order, so that two plans can be compared."""

    driver: str
    settings: Settings
    hosts: tuple[Host, ...]
    """By node, in the order of their names."""
    wants: Mapping[str, tuple[str, ...]]
    """By node, its topics or filters."""
    links: tuple[Link, ...]
    topics: tuple[Topic, ...]
    unused: tuple[tuple[str, str], ...] = ()
    """Links of the overlay that no tree needs; they are not opened."""
    standby: tuple[Standby, ...] = ()
    """Those of them that are opened when a broker fails; only with resilience."""
    cuts: tuple[str, ...] = ()
    """With resilience, the brokers after whose failure some topic stays cut all the same."""
    loopback: bool = False
    """Made without an inventory: for `deploy verify` on this machine."""
    overlay: str = ""

    @cached_property
    def host_of(self) -> Mapping[str, Host]:
        """The brokers by node."""
        return {host.node: host for host in self.hosts}

    @cached_property
    def _opened(self) -> Mapping[str, Sequence[Link]]:
        found: dict[str, list[Link]] = {host.node: [] for host in self.hosts}
        for link in self.links:
            found[link.opens].append(link)
        return found

    @cached_property
    def _accepted(self) -> Mapping[str, Sequence[Link]]:
        found: dict[str, list[Link]] = {host.node: [] for host in self.hosts}
        for link in self.links:
            found[link.to].append(link)
        return found

    def opened_by(self, node: str) -> Sequence[Link]:
        """The links that a broker opens."""
        return self._opened[node]

    def accepted_by(self, node: str) -> Sequence[Link]:
        """The links that others open to a broker."""
        return self._accepted[node]

    def with_links(self, links: Iterable[Link]) -> "Plan":
        """The same plan with other links."""
        return replace(self, links=tuple(links))

    def with_standby(self, standby: tuple[Standby, ...], cuts: tuple[str, ...]) -> "Plan":
        """The same plan with links for failures."""
        return replace(self, standby=standby, cuts=cuts)

    def with_hosts(self, hosts: Mapping[str, Host], *, loopback: bool) -> "Plan":
        """The same plan at other addresses."""
        return replace(self, hosts=tuple(hosts[host.node] for host in self.hosts), loopback=loopback)

    @property
    def hash(self) -> str:
        """The same for plans that mean the same."""
        found: str = sealed(self.as_json())[CHECKSUM]
        return found

    def as_json(self) -> dict[str, Any]:
        """The plan in JSON's types."""
        return {
            "kind": "plan",
            "format_version": FORMAT_VERSION,
            "driver": self.driver,
            "overlay": self.overlay,
            "loopback": self.loopback,
            "settings": asdict(self.settings),
            "brokers": [
                {**_told(host, Host("")), "wants": list(self.wants[host.node])} for host in self.hosts
            ],
            "links": [_told(link, Link("", "", ())) for link in self.links],
            "topics": [_told(topic, Topic("", "", ())) for topic in self.topics],
            "unused": [list(pair) for pair in self.unused],
            "standby": [_told(link, Standby("", "", ())) for link in self.standby],
            "cuts": list(self.cuts),
        }

    def text(self) -> str:
        """The plan to read and review: JSON with a line for each broker, link and topic."""
        return "".join(_lines(sealed(self.as_json())))


def _told(row: Any, usual: Any) -> dict[str, Any]:
    """A row without what is as usual."""
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in row._asdict().items()
        if value != getattr(usual, key)
    }


def _lines(value: Mapping[str, Any]) -> Iterator[str]:
    yield "{\n"
    for at, (key, item) in enumerate(value.items()):
        end = "\n" if at == len(value) - 1 else ",\n"
        if isinstance(item, list) and item:
            rows = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in item)
            yield f"  {json.dumps(key)}: [\n{rows}\n  ]{end}"
        else:
            yield f"  {json.dumps(key)}: {json.dumps(item, ensure_ascii=False)}{end}"
    yield "}\n"


def read_plan(folder: Path) -> Plan:
    """The plan of a folder.

    Raises:
        DatasetError: there is none, or it was changed since it was made.
    """
    path = folder / FILE
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise DatasetError(
            f"{folder} holds no plan that can be read ({one_line(error)}); make one with meshwright deploy "
            f"plan",
            path=folder,
        ) from None
    if not isinstance(value, dict) or value.get("kind") != "plan" or not is_whole(value):
        raise DatasetError(
            f"{path} is not as it was made: its checksum differs; make the plan again (meshwright deploy "
            f"plan)",
            path=path,
        )
    return plan_of(value)


def plan_of(value: Mapping[str, Any]) -> Plan:
    """The plan that `as_json` gave."""
    rows = [dict(row) for row in value["brokers"]]
    wants = {row["node"]: tuple(row.pop("wants")) for row in rows}
    return Plan(
        driver=value["driver"],
        settings=Settings(**value["settings"]),
        hosts=tuple(Host(**row) for row in rows),
        wants=wants,
        links=tuple(Link(**{"lines": (), **_tuples(row)}) for row in value["links"]),
        topics=tuple(Topic(**{"nodes": (), **_tuples(row)}) for row in value["topics"]),
        unused=tuple((one, other) for one, other in value["unused"]),
        standby=tuple(Standby(**_tuples(row)) for row in value.get("standby", ())),
        cuts=tuple(value.get("cuts", ())),
        loopback=value["loopback"],
        overlay=value["overlay"],
    )


def _tuples(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(item) if isinstance(item, list) else item for key, item in row.items()}
