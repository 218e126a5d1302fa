"""Overlays that live: repairs as nodes and interests come and go."""

from meshwright.maintain.journal.journal import Journal
from meshwright.maintain.maintainer import Maintainer
from meshwright.maintain.repairs import Repair

__all__ = ["Journal", "Maintainer", "Repair"]
