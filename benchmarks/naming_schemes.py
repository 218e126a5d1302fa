"""Subscriptions of brokers under realistic naming schemes, as (broker, MQTT filter) pairs.

Each scheme comes in two forms: laminar, where a filter is a name or a prefix with `#`, so that two filters
are nested or apart; and with `+`, where filters cross.
"""

import random
from collections.abc import Callable

Pairs = list[tuple[str, str]]


def industrial(numbers: random.Random, plus: bool, place: int, scale: int) -> str:
    """ISA-95: enterprise, site, area, line, cell, signal. Brokers of plants, which know their area best."""
    site, area = f"site{place % (6 * scale)}", f"area{place // (6 * scale) % 4}"
    line, cell = f"line{numbers.randrange(3 * scale)}", f"cell{numbers.randrange(4)}"
    signal = numbers.choice(["temp", "pressure", "speed", "state", "alarm", "energy"])
    laminar = [
        f"acme/{site}/{area}/{line}/{cell}/{signal}",
        f"acme/{site}/{area}/{line}/{cell}/#",
        f"acme/{site}/{area}/{line}/#",
        f"acme/{site}/{area}/#",
        f"acme/{site}/#",
    ]
    crossing = [
        f"acme/{site}/{area}/{line}/+/{signal}",
        f"acme/{site}/{area}/+/+/{signal}",
        f"acme/{site}/+/+/+/{signal}",
        f"acme/+/+/+/+/{signal}",
    ]
    return _one(numbers, laminar, [6, 4, 4, 3, 2], crossing if plus else [])


def smart_home(numbers: random.Random, plus: bool, place: int, scale: int) -> str:
    """Home, room, device, property. Hubs of homes, energy suppliers, alarm centres."""
    home = f"home{place % (40 * scale)}"
    room = numbers.choice(["kitchen", "bath", "hall", "bed", "garage"])
    device = numbers.choice(["light", "heating", "door", "smoke", "meter"])
    what = numbers.choice(["state", "power", "battery", "set"])
    laminar = [
        f"{home}/{room}/{device}/{what}",
        f"{home}/{room}/{device}/#",
        f"{home}/{room}/#",
        f"{home}/#",
    ]
    crossing = [f"{home}/+/{device}/{what}", f"{home}/+/{device}/#", f"+/+/{device}/{what}", f"+/+/+/{what}"]
    return _one(numbers, laminar, [4, 3, 3, 3], crossing if plus else [])


def fleet(numbers: random.Random, plus: bool, place: int, scale: int) -> str:
    """Region, vehicle, subsystem, signal. Depots with their vehicles, workshops, dispatchers."""
    region = f"region{place % (8 * scale)}"
    vehicle = f"v{place // (8 * scale) % 10}{numbers.randrange(6)}"
    part = numbers.choice(["engine", "brakes", "gps", "doors", "battery"])
    signal = numbers.choice(["status", "fault", "value"])
    laminar = [
        f"fleet/{region}/{vehicle}/{part}/{signal}",
        f"fleet/{region}/{vehicle}/{part}/#",
        f"fleet/{region}/{vehicle}/#",
        f"fleet/{region}/#",
    ]
    crossing = [
        f"fleet/{region}/+/{part}/#",
        f"fleet/{region}/+/{part}/{signal}",
        f"fleet/+/+/{part}/{signal}",
        f"fleet/+/+/+/{signal}",
    ]
    return _one(numbers, laminar, [3, 3, 4, 2], crossing if plus else [])


def _one(numbers: random.Random, laminar: list[str], weights: list[int], crossing: list[str]) -> str:
    if crossing and numbers.random() < 0.4:
        return numbers.choice(crossing)
    return numbers.choices(laminar, weights)[0]


SCHEMES: dict[str, Callable[[random.Random, bool, int, int], str]] = {
    "industrial": industrial,
    "smart home": smart_home,
    "fleet": fleet,
}
"""By name, what draws one filter of a broker at a place."""

_ELSEWHERE = 0.15
"""How many filters are about another place than the broker's own."""


def subscriptions(
    scheme: str, brokers: int, filters: int, *, plus: bool, scale: int = 1, seed: int = 1
) -> Pairs:
    """Filters drawn for brokers, `filters` in all, as pairs; `scale` makes more sites, homes or regions."""
    numbers = random.Random(f"{scheme} {seed}")
    width = len(str(brokers))
    found = []
    for at in range(filters):
        broker = at % brokers
        place = numbers.randrange(brokers) if numbers.random() < _ELSEWHERE else broker
        found.append((f"b{broker:0{width}}", SCHEMES[scheme](numbers, plus, place, scale)))
    return found


def unseen_names(scheme: str, count: int, seed: int = 2) -> list[str]:
    """Names that fit the scheme, of which many are in no subscription."""
    numbers = random.Random(f"{scheme} {seed}")
    new = ["site99", "v999", "newroom", "x", ""]
    found = []
    for _ in range(count):
        words = SCHEMES[scheme](numbers, True, numbers.randrange(200), 1).split("/")
        filled = [numbers.choice(new) if word in "+#" or numbers.random() < 0.1 else word for word in words]
        found.append("/".join(filled) or "x")
    return found
