"""From what brokers have to what a plan says, in steps of one file each, with no cycle on the way.

First every line that the plan does not have is closed, then every line that is missing is opened. So at every
moment a topic is carried by a part of its old tree, or by a part of its new one. A link that leads to another
address than in the plan is closed as well. Brokers that bear cycles open first, and close then.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from meshwright.deploy.drivers.driver import Driver
from meshwright.deploy.hosts import Host
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


def steps_to(
    driver: Driver, plan: Plan, texts: Mapping[str, str | None], hosts: Mapping[str, Host]
) -> list[Step]:
    """The steps from the files that brokers have to those of a plan; a node without links has a file, too.

    A broker that is not in the plan loses its file, or its links; `hosts` has all brokers.
    """
    leaving = list(_leaving(driver, plan, texts, hosts))
    known = {node: text for node, text in texts.items() if text is None or _can_be_read(driver, text)}
    if driver.between is not None:
        return _opening_first(driver, driver.between, plan, known, leaving)
    now, steps = dict(known), []
    for step in (*leaving, *_closing(driver, plan, known)):
        now[step.node] = step.text
        steps.append(step)
    opening = [
        Step(host.node, text, closes=False)
        for host in plan.hosts
        if now.get(host.node) != (text := driver.render(plan, host.node))
    ]
    return [*steps, *sorted(opening, key=lambda step: _opens(driver, step, now.get(step.node)))]


def _opens(driver: Driver, step: Step, before: str | None) -> bool:
    """Whether a step opens a line itself. Those that don't come first: they only make ready for others.

    A link that finds the other end not ready, or loses it, is tried again only after a second or more.
    """
    assert step.text is not None
    old = {} if before is None else driver.read(before)
    return any(not set(own) <= set(old.get(name, ())) for name, own in driver.read(step.text).items())


def _can_be_read(driver: Driver, text: str) -> bool:
    """Whether a hand has left a file such that its links are known; they can't be open otherwise."""
    try:
        driver.read(text)
    except (ValueError, LookupError, TypeError, AttributeError):
        return False
    return True


def _opening_first(
    driver: Driver,
    between: Callable[[str, str], str],
    plan: Plan,
    texts: Mapping[str, str | None],
    leaving: list[Step],
) -> list[Step]:
    """Every link of the plan is opened before any other is closed.

    A broker that does both, while no other closes anything, does so in one step: each step restarts it.
    """
    opening: list[Step] = []
    closing = leaving
    for host in plan.hosts:
        old, new = texts.get(host.node), driver.render(plan, host.node)
        if old is not None and driver.will_do(old, new):
            continue
        both = new if old is None else between(old, new)
        if both != old:
            opening.append(Step(host.node, both, closes=False))
        if both != new:
            closing.append(Step(host.node, new, closes=True))
    if len(closing) == 1 and closing[0].node in {step.node for step in opening}:
        ((node, text, _),) = closing
        others = (step for step in opening if step.node != node)
        return [*others, Step(node, text, closes=False)]
    return [*opening, *closing]


def _leaving(
    driver: Driver, plan: Plan, texts: Mapping[str, str | None], hosts: Mapping[str, Host]
) -> Iterator[Step]:
    for node, text in sorted(texts.items()):
        if text is None or node in plan.host_of or not _can_be_read(driver, text):
            continue
        left = driver.alone(text, hosts[node])
        if left != text:
            yield Step(node, left, closes=True)


def _closing(driver: Driver, plan: Plan, texts: Mapping[str, str | None]) -> Iterator[Step]:
    for node, text in sorted(texts.items()):
        if text is None or node not in plan.host_of or text == (target := driver.render(plan, node)):
            continue
        addresses = driver.addresses(target)
        elsewhere = {name for name, to in driver.addresses(text).items() if addresses.get(name, to) != to}
        old = {name: () if name in elsewhere else own for name, own in driver.read(text).items()}
        own_links = driver.links_at(plan, node)
        new = {driver.link_name(*link.ends): link for link in own_links}
        if not elsewhere and all(
            name in new and _covered(own, driver.crossing(new[name])) for name, own in old.items()
        ):
            continue
        kept = [
            driver.narrowed(link, common)
            for name, link in new.items()
            if (common := common_lines(old.get(name, ()), driver.crossing(link)))
        ]
        others = [link for link in plan.links if link not in own_links]
        yield Step(node, driver.render(plan.with_links([*others, *kept]), node), closes=True)


def _covered(lines: Iterable[str], by: Sequence[str]) -> bool:
    """Whether each of some lines lies inside one of others."""
    own = set(by)
    wild = [_filter(line) for line in by if _is_wild(line)]
    return all(line in own or any(each.covers(_filter(line)) for each in wild) for line in lines)


def common_lines(one: Sequence[str], other: Sequence[str]) -> tuple[str, ...]:
    """Lines for just the names that both lists carry; none of them inside another."""
    found = set(one) & set(other)
    wild = {line: _filter(line) for line in {*one, *other} if _is_wild(line)}
    for first, second in ((one, other), (other, one)):
        for line in first:
            if line in found:
                continue
            for around in (wild[each] for each in second if each in wild):
                found.update(each.text for each in around.intersect(_filter(line)))
    outer = {line: _filter(line) for line in found if _is_wild(line)}
    return tuple(
        sorted(
            line
            for line in found
            if not any(other != line and each.covers(_filter(line)) for other, each in outer.items())
        )
    )


def _is_wild(line: str) -> bool:
    return "+" in line or "#" in line


@lru_cache(maxsize=8192)
def _filter(line: str) -> Filter:
    """Lines of the same links come again in each step and plan."""
    return Filter(line)
