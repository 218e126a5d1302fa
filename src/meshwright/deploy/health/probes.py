"""What a probe is: a message that crosses one link, in both directions, on a name that nobody else uses."""

from collections.abc import Collection
from typing import NamedTuple

from meshwright.deploy.drivers.driver import digest
from meshwright.deploy.plan.plan import Link, Plan

PROBES = "$meshwright/probe/"
"""Names of MQTT that begin with $ are matched by no filter such as #, so nobody's client gets probes."""


class Health(NamedTuple):
    """What is known of a link; None where it could not be found out."""

    opens: str
    to: str
    up: bool | None
    """Whether the broker that opens it says that it is connected."""
    carries: bool | None
    """Whether probes have crossed it in both directions."""
    milliseconds: float | None = None
    """How long the slower probe took, with what the brokers and we add."""
    astray: int = 0
    """Copies of its probes that came to brokers that are not its ends."""
    reason: str = ""
    """Why something is not known."""

    @property
    def is_silent(self) -> bool:
        """Whether it is up, as its broker says, and carries nothing."""
        return self.up is True and self.carries is False


def unknown(link: Link, reason: str) -> Health:
    """The health of a link that can't be probed."""
    return Health(*link.ends, None, None, reason=reason)


def probe_name(link: Link) -> str:
    """The name on which the probes of a link are sent."""
    return f"{PROBES}{digest(*link.ends)}"


def with_probes(plan: Plan) -> Plan:
    """The plan with a line for probes on each link, where links carry only what lines say."""
    if plan.driver != "mosquitto":
        return plan
    return plan.with_links(
        link._replace(lines=tuple(sorted({*link.lines, probe_name(link)}))) for link in plan.links
    )


def awake_ends(plan: Plan, away: Collection[str]) -> list[str]:
    """The brokers at the ends of links that can be probed."""
    links = (link for link in plan.links if not {*link.ends} & {*away})
    return sorted({node for link in links for node in link.ends})
