"""Access control of Zenoh: what may cross every link of a node, as a door."""

from collections.abc import Iterator
from typing import NamedTuple

from meshwright.deploy.configs.source import Findings
from meshwright.deploy.configs.subjects import checked
from meshwright.deploy.configs.tree import Node
from meshwright.deploy.mesh import Door

_BOTH = ["ingress", "egress"]


class _Rule(NamedTuple):
    """What a rule says of publications in one direction."""

    allows: bool
    flow: str
    keys: tuple[str, ...]


def door_of(root: Node, findings: Findings) -> Door | None:
    """What comes in and goes out by all links of a node; None where access is not controlled.

    Rules for some links alone, told apart by interface, user or certificate, are not followed, and that is
    said. Beside such rules, what no rule names is taken to cross.
    """
    control = root.at("access_control")
    if control.at("enabled").value is not True:
        return None
    about_publications = [rule for rule in control.at("rules").elements if "put" in rule.at("messages").texts]
    general = [rule for rule in about_publications if _holds_for_all(rule.at("id").text, control)]
    for rule in about_publications:
        if rule not in general:
            findings.not_decided("lint does not follow a rule that holds for some links alone", rule.place)
    rules = list(_rules(general, findings))
    denies = control.at("default_permission").text != "allow" and len(general) == len(about_publications)
    takes, takes_not = _limits(rules, "ingress", denies)
    gives, gives_not = _limits(rules, "egress", denies)
    return Door(None, None, takes, gives, takes_not, gives_not)


def _limits(rules: list[_Rule], flow: str, denies: bool) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """What is allowed in a direction (None: everything), and what is denied; a denial goes first."""
    allowed = [key for rule in rules if rule.flow == flow and rule.allows for key in rule.keys]
    denied = [key for rule in rules if rule.flow == flow and not rule.allows for key in rule.keys]
    return tuple(allowed) if denies else None, tuple(denied)


def _rules(nodes: list[Node], findings: Findings) -> Iterator[_Rule]:
    for node in nodes:
        keys = checked(node.at("key_exprs"), "zenoh", findings)
        for flow in node.at("flows").texts or _BOTH:
            yield _Rule(node.at("permission").text == "allow", flow, keys)


def _holds_for_all(rule: str | None, control: Node) -> bool:
    """Whether some policy joins a rule with a subject that every link is."""
    everybody = {
        subject.at("id").text
        for subject in control.at("subjects").elements
        if not any(value.elements for key, value in subject.entries.items() if key != "id")
    }
    return any(
        rule in policy.at("rules").texts and everybody & set(policy.at("subjects").texts)
        for policy in control.at("policies").elements
    )
