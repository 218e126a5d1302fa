"""`meshwright churn --to`: send events to a control plane."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from meshwright.cli.common import print_json, progress_bar
from meshwright.cli.options.churn import EventOptions, ServerOptions
from meshwright.model.reading.limits import ReadLimits
from meshwright.runtime.checks import check_whole
from meshwright.runtime.errors import OptionError, visible
from meshwright.runtime.wording import count


def send_events(
    dataset: Path | None,
    server: ServerOptions,
    where: EventOptions,
    limits: ReadLimits,
    seed: int,
    *,
    as_json: bool,
) -> None:
    """Send events to a control plane, and say what came of them; the exit code is 1 if none was applied."""
    from meshwright.model.interests import Interests
    from meshwright.model.overlay import Overlay
    from meshwright.pipeline.churn import ChurnSource
    from meshwright.runtime.progress import stage
    from meshwright.serve.client import Client

    check_whole("--at-once", server.at_once, 1)
    source = ChurnSource(**where._asdict(), limits=limits)
    if dataset is None and source.events is None:
        raise OptionError("--rounds and --sessions make up events for an overlay; give DIR as well")
    interests = Interests.from_pairs([]) if dataset is None else Overlay.read(dataset).interests
    events = source.load(interests, seed).events
    told = {"events": 0, "repeated": 0, "opened": 0, "closed": 0}
    refused: list[tuple[Any, str]] = []
    first = 0
    with (
        Client(str(server.to), _token_of(server.token_file)) as client,
        stage(progress_bar(), "sending", len(events)) as advance,
    ):
        for receipt in client.send(events, at_once=server.at_once or 100):
            refused += [(events[first + own.event], own.reason) for own in receipt.refused]
            first += receipt.events + receipt.repeated + len(receipt.refused)
            told["events"] += receipt.events
            told["repeated"] += receipt.repeated
            told["opened"] += len(receipt.opened)
            told["closed"] += len(receipt.closed)
            advance(first)
    _tell_sent(str(server.to), told, refused, as_json)
    if refused and not told["events"] and not told["repeated"]:
        raise typer.Exit(1)


def _token_of(file: Path | None) -> str | None:
    """The token in a file; None to take the one of the environment."""
    from meshwright.model.reading.files import reading

    if file is None:
        return None
    with reading(file):
        return file.read_text("utf-8").strip()


def _tell_sent(url: str, told: Mapping[str, Any], refused: list[tuple[Any, str]], as_json: bool) -> None:
    from meshwright.model.events import as_row

    if as_json:
        rows = [{"event": as_row(event), "reason": reason} for event, reason in refused]
        print_json({"to": url, **told, "refused": rows})
        return
    known = f", {told['repeated']:,} known already" if told["repeated"] else ""
    links = f"{count(told['opened'], 'link')} opened, {told['closed']:,} closed"
    print(f"{url}: {count(told['events'], 'event')} applied{known}; {links}")
    for event, reason in refused[:3]:
        print(visible(f"  refused: {event.event} {event.node}: {reason}"))
    if len(refused) > 3:
        print(f"  and {len(refused) - 3:,} more")
