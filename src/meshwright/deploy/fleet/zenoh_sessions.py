"""Clients of Zenoh routers."""

import json
from typing import Any

from meshwright.deploy.fleet.programs import zenoh_library


def session_at(host: str, port: int, retry_ms: int = 1000) -> Any:
    """A client of the router at an address; after a restart of that, it comes back so much later.

    Zenoh's own default is a second, in which everything from and to the client is lost.
    """
    library = zenoh_library()
    retry = {"period_init_ms": retry_ms, "period_max_ms": 4000, "period_increase_factor": 1.5}
    config = {
        "mode": "client",
        "connect": {"endpoints": [f"tcp/{host}:{port}"], "retry": retry},
        "scouting": {"multicast": {"enabled": False}},
    }
    return library.open(library.Config.from_json5(json.dumps(config)))
