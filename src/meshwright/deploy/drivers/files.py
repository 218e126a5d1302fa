"""Mosquitto brokers for tools that bring files to machines themselves: Compose, Ansible and Kubernetes."""

import json
import re
from collections.abc import Mapping
from typing import Any

from meshwright.deploy.drivers import mosquitto
from meshwright.deploy.drivers.driver import Driver, digest, references, safe_name
from meshwright.deploy.plan.plan import Plan
from meshwright.deploy.plan.planning import Engine
from meshwright.runtime.errors import InputError, quoted

_IMAGE = "eclipse-mosquitto:2.0"
_BASE = "listener 1883\nallow_anonymous true\npersistence true\npersistence_location /mosquitto/data/\n"
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?")


def check(plan: Plan) -> None:
    """As for Mosquitto; and no passwords, which nobody puts in, nor loopback, where each finds itself."""
    mosquitto.check(plan)
    if plan.loopback:
        raise InputError(
            "the driver files needs --inventory: brokers in containers or on other machines reach each other "
            "by its hosts and ports; for Compose, give each node a name as host, and port 1883"
        )
    secret = next((host for host in plan.hosts if host.password), None)
    if secret:
        raise InputError(
            f"the node {quoted(secret.node)} has a password, which files can't refer to; use certificates "
            f"(cafile, certfile, keyfile), or the driver mosquitto"
        )


def bundle(plan: Plan) -> Mapping[str, str]:
    """A Compose file, an inventory and a playbook for Ansible, and ConfigMaps for Kubernetes."""
    own = {host.node: mosquitto.render(plan, host.node) for host in plan.hosts}
    assert not any(map(references, own.values()))
    return {
        "compose.yaml": _yaml(_compose(plan)),
        "mosquitto.conf": f"{_BASE}include_dir /mosquitto/config/conf.d\n",
        "ansible/inventory.yaml": _yaml(_ansible_inventory(plan)),
        "ansible/playbook.yaml": _yaml(_ANSIBLE_PLAYBOOK),
        "kubernetes.yaml": "---\n".join(_yaml(_config_map(node, text)) for node, text in own.items()),
    }


def _yaml(value: Any) -> str:
    """JSON, which is YAML: nothing in a name can end a string in it."""
    return f"{json.dumps(value, indent=2)}\n"


def _compose(plan: Plan) -> dict[str, Any]:
    """Brokers that reach each other by the names of the inventory, which are aliases in their network."""
    services = {
        _label(host.node): {
            "image": _IMAGE,
            "volumes": [
                "./mosquitto.conf:/mosquitto/config/mosquitto.conf:ro",
                f"./brokers/{safe_name(host.node)}/conf.d:/mosquitto/config/conf.d:ro",
            ],
            "networks": {"mesh": {"aliases": [host.host]}},
        }
        for host in plan.hosts
    }
    return {"services": services, "networks": {"mesh": {}}}


def _ansible_inventory(plan: Plan) -> dict[str, Any]:
    hosts = {
        _label(host.node): {
            "ansible_host": host.host,
            "meshwright_folder": f"../brokers/{safe_name(host.node)}/conf.d",
            "meshwright_config": host.config or "/etc/mosquitto/conf.d/meshwright.conf",
        }
        for host in plan.hosts
    }
    return {"all": {"children": {"brokers": {"hosts": hosts}}}}


_ANSIBLE_PLAYBOOK = [
    {
        "hosts": "brokers",
        "become": True,
        "tasks": [
            {
                "name": "The bridges of this broker",
                "ansible.builtin.copy": {
                    "src": "{{ meshwright_folder }}/meshwright.conf",
                    "dest": "{{ meshwright_config }}",
                    "mode": "0640",
                    "group": "mosquitto",
                },
                "notify": "Restart Mosquitto",
            }
        ],
        "handlers": [
            {
                "name": "Restart Mosquitto",
                "ansible.builtin.service": {"name": "mosquitto", "state": "restarted"},
            }
        ],
    }
]


def _config_map(node: str, text: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": f"meshwright-{_label(node)}",
            "labels": {"app.kubernetes.io/managed-by": "meshwright"},
        },
        "data": {"meshwright.conf": text},
    }


def _label(node: str) -> str:
    """A name that is legal everywhere: as a service, a host of Ansible and a part of a DNS name."""
    if _LABEL.fullmatch(node):
        return node
    plain = re.sub("[^a-z0-9]+", "-", node.lower()).strip("-")[:30].strip("-")
    return f"{plain}-{digest(node)}" if plain else f"node-{digest(node)}"


DRIVER: Driver = mosquitto.DRIVER._replace(engine=Engine("files", "mqtt"), check=check, bundle=bundle)
