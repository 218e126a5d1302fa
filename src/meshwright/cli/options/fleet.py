"""The options that say which brokers a control plane looks after, and how."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from meshwright.cli.options.groups import given
from meshwright.runtime.errors import OptionError

if TYPE_CHECKING:
    from meshwright.serve.control_plane import ControlPlane
    from meshwright.serve.reconciling.reconciler import Reconciler


def _option(words: str, metavar: str | None = None, **more: Any) -> Any:
    return typer.Option(metavar=metavar, help=words, rich_help_panel="The fleet", **more)


class FleetFlags(NamedTuple):
    """What is said about a fleet; see `FleetOptions`."""

    inventory: Annotated[
        Path | None,
        _option("Look after these brokers; see deploy. It is read again when it changes.", "FILE"),
    ] = None
    driver: Annotated[str | None, _option("Kind of broker: mosquitto, nats, zenoh or rabbitmq.", "NAME")] = (
        None
    )
    apply: Annotated[
        bool,
        typer.Option(
            "--apply",
            help="Apply plans at once. Without it, they wait for somebody with the role apply.",
            rich_help_panel="The fleet",
        ),
    ] = False
    window: Annotated[
        float,
        _option("A broker that comes and goes changes the overlay at most once in this time.", "SECONDS"),
    ] = 30.0
    look_every: Annotated[float, _option("How often to see which brokers run.", "SECONDS", min=0.05)] = 0.5
    probe_every: Annotated[float, _option("How often to probe all links.", "SECONDS", min=1)] = 30.0
    applies_a_minute: Annotated[int, _option("The most plans that are applied in a minute.", "N", min=1)] = 30
    tree: Annotated[str, _option("As in deploy plan.", "KIND")] = "shortest"
    qos: Annotated[int, _option("As in deploy plan.", "N", min=0, max=2)] = 1
    sessions: Annotated[str, _option("As in deploy plan.", "KIND")] = "persistent"

    def checked(self) -> "FleetFlags":
        """The flags, if they fit together."""
        if self.inventory is None or self.driver is None:
            missing = "--driver" if self.driver is None else "--inventory"
            for flag in given(self):
                raise OptionError(f"{flag} needs {missing} as well; give both", option=flag)
        return self

    def made(self, plane: "ControlPlane") -> "Reconciler | None":
        """What looks after the brokers; None if there are none."""
        from meshwright.deploy.plan.plan import Settings
        from meshwright.serve.reconciling.options import FleetOptions
        from meshwright.serve.reconciling.reconciler import Reconciler

        if self.inventory is None or self.driver is None:
            return None
        options = FleetOptions(
            driver=self.driver,
            apply=self.apply,
            window=self.window,
            look_every=self.look_every,
            probe_every=self.probe_every,
            applies_a_minute=self.applies_a_minute,
            settings=Settings(tree=self.tree, qos=self.qos, sessions=self.sessions),
        )
        return Reconciler(plane, self.inventory, options)
