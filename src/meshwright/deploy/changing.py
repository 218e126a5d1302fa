"""From what brokers have to what a plan says, in steps of one file each, with no cycle on the way.

First every line that the plan does not have is closed, then every line that is missing is opened. So at every
moment a topic is carried by a part of its old tree, or by a part of its new one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from meshwright.deploy.drivers.driver import Driver
from meshwright.deploy.plan.plan import Link, Plan
from meshwright.filters.filter import Filter

Pair = tuple[str, str]


class Step(NamedTuple):
    """A file that a broker gets; None where it is removed."""

    node: str
    text: str | None
    closes: bool


def changes(before: Plan | None, after: Plan) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """The links that are opened, closed, and changed in what crosses them."""
    old = {link.ends: link for link in before.links} if before else {}
    new = {link.ends: link for link in after.links}
    changed = [ends for ends, link in new.items() if ends in old and _crossing(old[ends]) != _crossing(link)]
    return sorted(new.keys() - old.keys()), sorted(old.keys() - new.keys()), sorted(changed)


def _crossing(link: Link) -> tuple[tuple[str, ...], tuple[int, ...]]:
    return link.lines, link.accounts


def steps_to(driver: Driver, plan: Plan, texts: Mapping[str, str | None]) -> list[Step]:
    """The steps from the files that brokers have to those of a plan; a node without links has a file, too.

    A broker that is not in the plan loses its file.
    """
    now = dict(texts)
    steps = []
    for step in _closing(driver, plan, texts):
        now[step.node] = step.text
        steps.append(step)
    for host in plan.hosts:
        text = driver.render(plan, host.node)
        if now.get(host.node) != text:
            steps.append(Step(host.node, text, closes=False))
    return steps


def _closing(driver: Driver, plan: Plan, texts: Mapping[str, str | None]) -> Iterator[Step]:
    known = {host.node for host in plan.hosts}
    for node, text in sorted(texts.items()):
        if text is None:
            continue
        if node not in known:
            yield Step(node, None, closes=True)
            continue
        old = driver.read(text)
        new = {driver.link_name(*link.ends): link for link in plan.opened_by(node)}
        if all(name in new and _covered(own, driver.crossing(new[name])) for name, own in old.items()):
            continue
        kept = [
            driver.narrowed(link, common)
            for name, link in new.items()
            if (common := common_lines(old.get(name, ()), driver.crossing(link)))
        ]
        others = [link for link in plan.links if link.opens != node]
        yield Step(node, driver.render(plan.with_links([*others, *kept]), node), closes=True)


def _covered(lines: Iterable[str], by: Sequence[str]) -> bool:
    """Whether each of some lines lies inside one of others."""
    own = set(by)
    wild = [Filter(line) for line in by if _is_wild(line)]
    return all(line in own or any(each.covers(Filter(line)) for each in wild) for line in lines)


def common_lines(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """Lines for just the names that both lists carry; none of them inside another."""
    found = set(one) & set(other)
    wild = {line: Filter(line) for line in {*one, *other} if _is_wild(line)}
    for first, second in ((one, other), (other, one)):
        for line in first:
            if line in found:
                continue
            for around in (wild[each] for each in second if each in wild):
                found.update(each.text for each in around.intersect(Filter(line)))
    outer = {line: Filter(line) for line in found if _is_wild(line)}
    return tuple(
        sorted(
            line
            for line in found
            if not any(other != line and each.covers(Filter(line)) for other, each in outer.items())
        )
    )


def _is_wild(line: str) -> bool:
    return "+" in line or "#" in line
