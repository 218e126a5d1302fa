"""RabbitMQ's definitions: federated exchanges, shovels, and the bindings between them, as a broker and flows.

docs/lint-formats.md tells what each part becomes.
"""

import json
import re
from pathlib import Path

from meshwright.deploy.configs.json5 import ONE_EACH, read_json5
from meshwright.deploy.configs.rabbitmq_federation import federation_flows
from meshwright.deploy.configs.rabbitmq_links import Definitions
from meshwright.deploy.configs.rabbitmq_routing import (
    bindings_of,
    exchanges_of,
    routes,
    routing_flows,
)
from meshwright.deploy.configs.rabbitmq_shovels import shovel_flows, shovelled_queues
from meshwright.deploy.configs.rabbitmq_types import check_types
from meshwright.deploy.configs.source import Findings, UnreadableError, holds_password, read_text
from meshwright.deploy.configs.tree import Node
from meshwright.deploy.mesh import Broker, Parsed, Place

_HEAD = re.compile(
    rb'"(?:rabbit_version|rabbitmq_version|topic_permissions|global_parameters|bindings|exchanges|vhosts)"\s*:'
)
_TOP_TEXT = """
    rabbit_version rabbitmq_version rabbitmq_definition_format original_vhost_name original_cluster_name
    explanation description metadata product_name product_version users vhosts permissions
    topic_permissions parameters global_parameters policies queues exchanges bindings meshwright-ignore
    default_queue_type
"""
_TOP = frozenset(_TOP_TEXT.split())
_COMPONENTS = {
    "federation-upstream",
    "federation-upstream-set",
    "shovel",
    "vhost-limits",
    "operator_policy",
    "policy",
}
_KEEP_PRIVATE = "keep the file private, or log in by certificates"


def looks_like(path: Path, head: bytes) -> bool:
    """Whether a file begins like RabbitMQ's definitions."""
    del path
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and bool(_HEAD.search(head))


def parse(path: Path) -> Parsed:
    """What a file of definitions says. Nothing is executed."""
    findings = Findings()
    try:
        root = _read(path)
    except UnreadableError as error:
        findings.unreadable(error)
        return findings.parsed
    check_types(root, findings)
    _check_keys(root, findings)
    _check_secrets(root, findings)
    _take_suppressions(root, findings)
    broker = _broker(root, path)
    findings.parsed.brokers.append(broker)
    exchanges = exchanges_of(root)
    bindings = bindings_of(root, exchanges, shovelled_queues(root, broker.name), findings)
    found = list(routes(bindings, findings))
    definitions = Definitions(broker.name, root, exchanges, found, findings)
    flows = findings.parsed.flows
    flows.extend(routing_flows(broker.name, found))
    flows.extend(federation_flows(definitions))
    flows.extend(shovel_flows(definitions))
    return findings.parsed


def _read(path: Path) -> Node:
    """The file's map. RabbitMQ reads JSON alone, without comments and other liberties."""
    text = read_text(path)
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        way_out = ONE_EACH if error.msg == "Extra data" else "correct the file"
        message = f"this is not JSON: {error.msg}; {way_out}"
        raise UnreadableError(message, Place(str(path), error.lineno)) from None
    except (RecursionError, ValueError):
        raise UnreadableError(
            "values are nested too deep, or too long; correct the file", Place(str(path), 0)
        ) from None
    root = read_json5(text, str(path)).root
    if not isinstance(root.value, dict):
        raise UnreadableError(
            "definitions are a map; export them with rabbitmqctl export_definitions", root.place
        )
    return root


def _broker(root: Node, path: Path) -> Broker:
    named = (each for each in root.at("global_parameters").elements if each.at("name").text == "cluster_name")
    name = next((each.at("value").text for each in named), None) or root.at("original_cluster_name").text
    host = (name or "").rpartition("@")[2] if name and "@" in name else ""
    addresses = (f"{host.lower()}:5672", f"{host.lower()}:5671") if host else ()
    version = root.at("rabbitmq_version", "rabbit_version").text
    return Broker(name or str(path), "rabbitmq", root.place, addresses, version)


def _check_keys(root: Node, findings: Findings) -> None:
    for key, node in root.entries.items():
        if key not in _TOP:
            findings.unknown(key, "definitions", _TOP, node.place)
    for each in root.at("parameters").elements:
        component = each.at("component")
        if component.text is not None and component.text not in _COMPONENTS:
            findings.unknown(component.text, "parameters", _COMPONENTS, component.place)


def _check_secrets(root: Node, findings: Findings) -> None:
    for user in root.at("users").elements:
        if user.at("password").text:
            findings.secret("a password", "give password_hash instead", user.at("password").place)
    for each in root.at("parameters").elements:
        for key in ("uri", "src-uri", "dest-uri"):
            for uri in each.at("value").at(key).elements:
                if holds_password(uri.text or ""):
                    findings.secret("a password", _KEEP_PRIVATE, uri.place)


def _take_suppressions(root: Node, findings: Findings) -> None:
    """JSON has no comments: `"meshwright-ignore": ["RULE: reason"]` holds for the whole file."""
    for each in root.at("meshwright-ignore").elements:
        findings.suppress(f"meshwright: ignore {each.text or ''}", Place(each.place.file, 0))
