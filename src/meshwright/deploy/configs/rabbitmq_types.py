"""Whether the parts of RabbitMQ's definitions are of the types that it imports."""

from collections.abc import Iterator

from meshwright.deploy.configs.source import Findings, url_of
from meshwright.deploy.configs.tree import TYPE_WORDS, Node
from meshwright.runtime.errors import quoted

_LISTS = (
    *("users", "vhosts", "permissions", "topic_permissions", "parameters", "global_parameters"),
    *("policies", "queues", "exchanges", "bindings"),
)
_NO_IMPORT = "RabbitMQ does not import this file"
_URIS = {"federation-upstream": ("uri",), "shovel": ("src-uri", "dest-uri")}


def check_types(root: Node, findings: Findings) -> None:
    """Report what is no list of maps, parameters without the value that they need, and URIs that are none."""
    for key in _LISTS:
        if key in root.entries:
            _check_list(key, root.entries[key], findings)
    for parameter in _maps(root.at("parameters")):
        _check_parameter(parameter, findings)
    for policy in _maps(root.at("policies")):
        if not isinstance(policy.at("definition").value, dict):
            findings.wrong_type(
                f"the definition of {_named('policy', policy)}", policy.at("definition"), "a map", _NO_IMPORT
            )


def _check_list(key: str, node: Node, findings: Findings) -> None:
    if not isinstance(node.value, list):
        findings.wrong_type(key, node, "a list of maps", _NO_IMPORT)
        return
    wrong = next((each for each in node.value if not isinstance(each.value, dict)), None)
    if wrong is not None:
        findings.wrong_type(f"an entry of {key}", wrong, "a map", _NO_IMPORT)


def _maps(node: Node) -> Iterator[Node]:
    return (each for each in node.elements if each.entries)


def _check_parameter(parameter: Node, findings: Findings) -> None:
    component, value = parameter.at("component").text, parameter.at("value")
    wanted = list if component == "federation-upstream-set" else dict
    if component not in (*_URIS, "federation-upstream-set"):
        return
    if not isinstance(value.value, wanted):
        findings.wrong_type(
            f"the value of {_named(component, parameter)}", value, TYPE_WORDS[wanted], _NO_IMPORT
        )
        return
    for key in _URIS.get(component, ()):
        _check_uris(_named(component, parameter), key, value, findings)


def _check_uris(whose: str, key: str, value: Node, findings: Findings) -> None:
    """Report URIs that lead nowhere, without showing them: they may hold a password."""
    uris = value.at(key)
    if not uris.texts:
        message = f"{whose} has no {key}, so that it carries nothing; add it"
        findings.say("unreadable", "error", message, uris.place)
    elif not all(isinstance(each.value, str) and url_of(each.value) for each in uris.elements):
        message = f"the {key} of {whose} is no URI, so that lint can't follow it; write amqp://HOST:PORT"
        findings.say("unreadable", "error", message, uris.place)


def _named(what: str, node: Node) -> str:
    return f"the {what.replace('-', ' ')} {quoted(node.at('name').text or '')}"
