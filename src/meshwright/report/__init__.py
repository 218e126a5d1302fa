"""Pages that people read, each one file: runs, profiles, churn, gossip, and algorithms side by side."""

from meshwright.report.churn import Run, run_of
from meshwright.report.contents import (
    Alternative,
    Contents,
    Drawing,
    LinkClass,
    Map,
    Quality,
    Sharing,
    Spending,
)
from meshwright.report.overlay import choose_drawing, edges_inside
from meshwright.report.page import (
    write_churn_page,
    write_compare_page,
    write_gossip_page,
    write_profile_page,
    write_report,
)
from meshwright.report.summary import alternatives

__all__ = [
    "Alternative",
    "Contents",
    "Drawing",
    "LinkClass",
    "Map",
    "Quality",
    "Run",
    "Sharing",
    "Spending",
    "alternatives",
    "choose_drawing",
    "edges_inside",
    "run_of",
    "write_churn_page",
    "write_compare_page",
    "write_gossip_page",
    "write_profile_page",
    "write_report",
]
