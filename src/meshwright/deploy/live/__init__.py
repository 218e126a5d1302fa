"""What brokers that run tell: who subscribes to what, and how far other brokers are; one file a kind."""

from collections.abc import Callable, Mapping
from importlib import import_module

from meshwright.deploy.hosts import Host
from meshwright.deploy.live.told import Asked, Told
from meshwright.runtime.errors import OptionError
from meshwright.runtime.progress import Progress
from meshwright.runtime.wording import choose

DIALECTS = {"mosquitto": "mqtt", "nats": "nats", "rabbitmq": "amqp", "zenoh": "zenoh"}
"""The kinds of brokers, and the dialect of their filters."""


def ask(kind: str, hosts: Mapping[str, Host], asked: Asked, progress: Progress | None = None) -> Told:
    """Ask all brokers of an inventory; nothing is changed at them.

    Raises:
        NetworkError: a broker can't be reached, or does not answer as one of this kind does.
        InputError: the inventory says too little.
    """
    if kind not in DIALECTS:
        raise OptionError(
            f"there is no kind of broker {kind!r} to ask (--driver); {choose(kind, DIALECTS)}",
            option="driver",
        )
    asking: Callable[[Mapping[str, Host], Asked, Progress | None], Told] = import_module(
        f"{__name__}.{kind}"
    ).ask
    return asking(hosts, asked, progress)
