"""Readers of brokers' configurations, one file a format."""

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from meshwright.deploy.mesh import Parsed

KINDS = ("rabbitmq", "zenoh", "nats", "mosquitto")
"""The formats, those that are told apart most surely first; each has a module of its name."""

_ENDINGS = (".conf", ".cfg", ".json", ".json5")


class Reader(Protocol):
    """The reader of one format."""

    def looks_like(self, path: Path, head: bytes) -> bool:
        """Whether a file that begins so may be of this format."""

    def parse(self, path: Path) -> Parsed:
        """What a file says; whatever is wrong with it becomes a note."""


def reader_of(kind: str) -> Reader:
    """The reader of a format."""
    return cast(Reader, import_module(f"{__name__}.{kind}"))


def kind_of(path: Path, head: bytes) -> str | None:
    """The format of a file that begins so; None where it is none of those known."""
    return next((kind for kind in KINDS if reader_of(kind).looks_like(path, head)), None)


def may_be_one(path: Path) -> bool:
    """Whether a file has an ending that configurations have."""
    return path.suffix.lower() in _ENDINGS
