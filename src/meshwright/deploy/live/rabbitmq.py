"""RabbitMQ: bindings of queues to topic exchanges, by the management API."""

from collections.abc import Mapping
from urllib.parse import quote

from meshwright.deploy.drivers.rabbitmq import VHOST
from meshwright.deploy.hosts import Host
from meshwright.deploy.live.told import Asked, Told
from meshwright.deploy.management import Management, check_reachable_by_http
from meshwright.runtime.progress import Progress, stage


def ask(hosts: Mapping[str, Host], asked: Asked, progress: Progress | None) -> Told:
    """What queues are bound to, but for those of federation. Brokers don't tell who publishes, or how far."""
    del asked
    reach, vhost = Management(), quote(VHOST, safe="")
    found = set()
    with stage(progress, "asking brokers", len(hosts)) as tell:
        for number, (node, host) in enumerate(hosts.items(), start=1):
            check_reachable_by_http(host)
            topical = {
                row["name"]
                for row in reach.listed(host, f"/api/exchanges/{vhost}")
                if row.get("type") == "topic" and not row["name"].startswith("amq.rabbitmq.")
            }
            found |= {
                (node, row["routing_key"])
                for row in reach.listed(host, f"/api/bindings/{vhost}")
                if row["source"] in topical
                and row["destination_type"] == "queue"
                and not row["destination"].startswith("federation: ")
            }
            tell(number)
    return Told(sorted(found))
