"""Pages that people read: the report of a run and the profile of a dataset, each one file."""

from meshwright.report.comparing import alternatives
from meshwright.report.contents import (
    Alternative,
    Contents,
    Drawing,
    LinkClass,
    Map,
    Quality,
    Spending,
)
from meshwright.report.drawing import choose_drawing, edges_inside
from meshwright.report.page import write_profile_page, write_report

__all__ = [
    "Alternative",
    "Contents",
    "Drawing",
    "LinkClass",
    "Map",
    "Quality",
    "Spending",
    "alternatives",
    "choose_drawing",
    "edges_inside",
    "write_profile_page",
    "write_report",
]
