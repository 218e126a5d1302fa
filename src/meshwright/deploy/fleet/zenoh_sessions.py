"""Clients of Zenoh routers."""

import json
from typing import Any

from meshwright.deploy.fleet.programs import zenoh_library
from meshwright.runtime.errors import NetworkError, one_line

_PATIENCE = 10.0


def session_at(host: str, port: int, retry_ms: int = 1000, patience: float = _PATIENCE) -> Any:
    """A client of the router at an address; after a restart of that, it comes back so much later.

    Zenoh's own default is a second, in which everything from and to the client is lost. A first try that
    fails is repeated: a router that has just begun to listen, or is short of processor time, may drop it.

    Raises:
        NetworkError: no router answers there within `patience` seconds.
    """
    library = zenoh_library()
    retry = {"period_init_ms": retry_ms, "period_max_ms": 4000, "period_increase_factor": 1.5}
    config = {
        "mode": "client",
        "connect": {
            "endpoints": [f"tcp/{host}:{port}"],
            "timeout_ms": int(1000 * patience),
            "exit_on_failure": True,
            "retry": retry,
        },
        "scouting": {"multicast": {"enabled": False}},
    }
    try:
        return library.open(library.Config.from_json5(json.dumps(config)))
    except library.ZError as error:
        raise NetworkError(f"no Zenoh router answers at {host}:{port}: {one_line(error)}") from None
