"""The kinds of brokers that plans can be made for, one file each."""

from meshwright.deploy.drivers.driver import Driver
from meshwright.runtime.errors import OptionError
from meshwright.runtime.wording import choose

_MODULES = ("mosquitto", "nats", "zenoh", "rabbitmq", "files")


def driver_of(name: str) -> Driver:
    """The driver of this name."""
    from importlib import import_module

    if name not in _MODULES:
        raise OptionError(
            f"there is no driver {name!r} (--driver); {choose(name, _MODULES)}", option="driver"
        )
    found: Driver = import_module(f"{__name__}.{name}").DRIVER
    return found
