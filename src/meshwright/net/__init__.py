"""What runs on nodes (`Protocol`), and what carries messages among them: here, the simulator."""

from meshwright.net.protocol import Action, Deliver, Moment, Node, Protocol, Send, Wake
from meshwright.net.simulator import Happening, Simulator, What

__all__ = [
    "Action",
    "Deliver",
    "Happening",
    "Moment",
    "Node",
    "Protocol",
    "Send",
    "Simulator",
    "Wake",
    "What",
]
