"""How a control plane looks after its fleet."""

from dataclasses import dataclass, field

from meshwright.deploy.plan.plan import Settings
from meshwright.runtime.errors import OptionError


@dataclass(frozen=True, kw_only=True)
class FleetOptions:
    """How a fleet is looked after.

    Attributes:
        driver: the kind of broker.
        apply: whether plans are applied without an approval.
        window: seconds between two changes of a broker that comes and goes.
        look_every: seconds between two looks at which brokers run.
        ask_every: seconds between two looks at who subscribes to what.
        probe_every: seconds between two probes of all links.
        check_every: seconds between two looks at all files, for what was done by hand.
        patience: seconds in which a broker, or a probe, has to answer.
        applies_a_minute: the most plans that are applied in a minute.
        most_down: if a greater share of all brokers seems to be down, the fault is taken to be ours.
        settings: what the links of all plans have in common.
    """

    driver: str
    apply: bool = False
    window: float = 30.0
    look_every: float = 0.5
    ask_every: float = 1.0
    probe_every: float = 30.0
    check_every: float = 300.0
    patience: float = 2.0
    applies_a_minute: int = 30
    most_down: float = 0.5
    settings: Settings = field(default_factory=Settings)

    def __post_init__(self) -> None:
        for name in ("look_every", "ask_every", "probe_every", "check_every", "patience", "applies_a_minute"):
            if getattr(self, name) <= 0:
                raise OptionError(f"{name} is {getattr(self, name)}; give a number above 0", option=name)
        if self.window < 0:
            raise OptionError(f"window is {self.window}; give 0 or more seconds", option="window")
