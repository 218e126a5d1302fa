"""What the routing protocols have in common: publications, the messages that carry them, and issuing one."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, TypeVar

from meshwright.net import Protocol


@dataclass(frozen=True, slots=True)
class Publication:
    """What is published: a number that no other publication has, the topic's id, and the content."""

    number: int
    topic: int
    content: Any = None


@dataclass(frozen=True, slots=True)
class Message:
    """A copy of a publication under way, and how many hops from the issuer it has made on arrival."""

    publication: Publication
    hops: int


Carried = TypeVar("Carried", bound=Message)


class Router(Protocol[Carried]):
    """What one node does with publications; it hands each to its application that others issued."""

    @abstractmethod
    def publish(self, publication: Publication) -> Carried:
        """The message that makes this node the issuer, if its application hands it over."""
