"""Protocols by hand: moments, random numbers and weights that are known beforehand."""

from meshwright.net import Moment, Send
from meshwright.stan.local_views import Weights


class Rigged:
    """Random numbers that are known beforehand."""

    def __init__(self, integer=0, fraction=0.0):
        self.integer, self.fraction = integer, fraction

    def integers(self, count):
        return self.integer % count

    def random(self):
        return self.fraction


class Table(Weights):
    """Weights that are known beforehand: by node, the others from light to heavy."""

    def __init__(self, orders):
        self.orders = orders

    def __len__(self):
        return 100

    def lightest(self, node, others, count):
        return sorted(others, key=self.orders[node].index)[:count]


def at(now=0.0, **rigged):
    return Moment(now, Rigged(**rigged))


def rising(node=0):
    return Table({node: list(range(100))})


def sent(actions):
    return [(action.to, action.message) for action in actions if isinstance(action, Send)]
