"""Pages that people read: the report of a run, the profile of a dataset, what churn did; each one file."""

from meshwright.report.churn import Run, run_of
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
from meshwright.report.page import write_churn_page, write_profile_page, write_report

__all__ = [
    "Alternative",
    "Contents",
    "Drawing",
    "LinkClass",
    "Map",
    "Quality",
    "Run",
    "Spending",
    "alternatives",
    "choose_drawing",
    "edges_inside",
    "run_of",
    "write_churn_page",
    "write_profile_page",
    "write_report",
]
