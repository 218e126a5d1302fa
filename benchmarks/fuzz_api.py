"""Give the API of a control plane requests made from its own schema, whole and mutated, in this process.

    python -m benchmarks.fuzz_api [--count N] [--seed N]

Five callers: nobody, a stranger with a wrong token, one who may read, one who may write, one who may apply.
The server has a fleet, whose plan waits. No answer may be an error of the server; each has a status and a
form that the schema knows; nobody and the stranger get nothing that needs a token; only who may write changes
the overlay, and only who may apply approves and pauses. At the end every topic is connected, and the journal
opens with the same overlay. The exit code is 1 if any of it does not hold.
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jsonschema import Draft202012Validator

import meshwright as mw
from meshwright.serve.api import make_app
from meshwright.serve.control_plane import Beginning, ControlPlane
from meshwright.serve.limits import Limits
from meshwright.serve.loopback import LOOPBACK
from meshwright.serve.reconciling.options import FleetOptions
from meshwright.serve.reconciling.reconciler import Reconciler
from meshwright.serve.schema import OPERATIONS, SCHEMAS, openapi
from meshwright.serve.state_folder import StateFolder
from meshwright.serve.tokens import Access
from tests.asgi import Answer, call

_ODD = (
    "",
    "\0",
    "..",
    "%",
    "/",
    "ä",
    "\U0001f600",
    "x" * 300,
    "n1",
    "n2",
    "t1",
    "-1",
    "1e9",
    "null",
    "'",
    '"',
)
_RARE = 0.15
Caller = tuple[str, dict[str, str]]


class Fuzzer:
    """Makes requests; the same seed makes the same ones."""

    def __init__(self, seed: int, plan: str) -> None:
        self._rng, self._odd = random.Random(seed), (*_ODD, plan, plan)

    def request(self) -> tuple[tuple[str, str], str, str, dict[str, str], list[bytes]]:
        """An operation, and its method, path with parameters, headers and body in parts, as they are sent."""
        rng = self._rng
        operation, given = rng.choice([*OPERATIONS.items()])
        method, path = operation
        path = path.replace("{name}", quote(self._name(), safe=""))
        headers: dict[str, str] = {}
        query = []
        for name, place, _, _ in given.get("parameters", ()):
            if place == "query" and rng.random() < 0.5:
                query.append(f"{name}={quote(rng.choice([self._name(), str(rng.randint(-2, 2000))]))}")
            elif place == "header" and rng.random() < 0.3:
                headers[name] = rng.choice(['"0-0"', "*", "x", str(rng.randint(-2, 50))])
        if rng.random() < _RARE:
            method = rng.choice(["put", "patch", "delete", "post", "get", "head", "options"])
        parts: list[bytes] = []
        if "body" in given:
            kind, schema = rng.choice([*given["body"].items()])
            headers["content-type"] = (
                kind if rng.random() > _RARE else rng.choice(["", "text/html", kind + ";charset=x"])
            )
            parts = [self._body(kind, schema)]
        for name in ("origin", "host", "content-length", "cookie"):
            if rng.random() < 0.03:
                headers[name] = rng.choice(["x", "http://evil.example", "9" * 30, "meshwright_8470=x"])
        return operation, method.upper(), path + ("?" + "&".join(query) if query else ""), headers, parts

    def _name(self) -> str:
        return self._rng.choice([f"n{self._rng.randrange(40)}", f"t{self._rng.randrange(8)}", *self._odd])

    def _body(self, kind: str, schema: dict[str, Any]) -> bytes:
        rng = self._rng
        if kind == "application/json":
            data = json.dumps(self._value(schema)).encode()
        else:
            rows = [self._value(SCHEMAS["Event"]) for _ in range(rng.randrange(6))]
            data = b"\n".join(json.dumps(row).encode() for row in rows)
        if data and rng.random() < _RARE:
            at = rng.randrange(len(data))
            data = (
                data[:at] + rng.choice([b"", b"\xff", b"\0", b"{", b'"', b"\n", b"\\ud800"]) + data[at + 1 :]
            )
        return data

    def _value(self, schema: dict[str, Any]) -> Any:
        """A value of a schema, or now and then one that is not."""
        rng = self._rng
        if rng.random() < 0.04:
            return rng.choice([None, True, -1, 2**70, 1.5, "", "\ud800", [], {}, [[]], {"a": {}}])
        if "$ref" in schema:
            return self._value(SCHEMAS[schema["$ref"].rpartition("/")[2]])
        if "oneOf" in schema:
            return self._value(rng.choice(schema["oneOf"]))
        return rng.choice(schema["enum"]) if "enum" in schema else self._of_type(schema)

    def _of_type(self, schema: dict[str, Any]) -> Any:
        rng = self._rng
        if schema["type"] == "array":
            return [self._value(schema["items"]) for _ in range(rng.randrange(4))]
        if schema["type"] == "object":
            needed = schema.get("required", ())
            named = schema["properties"].items()
            return {name: self._value(own) for name, own in named if name in needed or rng.random() < 0.6}
        if schema["type"] == "boolean":
            return rng.random() < 0.5
        return rng.randint(-5, 10**6) if schema["type"] == "integer" else self._name()


class Schema:
    """What the schema says of answers."""

    def __init__(self) -> None:
        self._all = openapi()
        self._checks: dict[str, Draft202012Validator] = {}

    def fault(self, operation: tuple[str, str], answer: Answer) -> str:
        """What an answer to an operation has that the schema does not know; nothing if all is well."""
        method, path = operation
        known = self._all["paths"][path][method]["responses"].get(str(answer.status))
        if known is None:
            return f"the status {answer.status} is not in the schema"
        media = answer.headers.get("content-type", "").partition(";")[0]
        own = known.get("content", {}).get(media, {}).get("schema")
        if own is None or not answer.body:
            return ""
        check = self._checks.setdefault(
            own["$ref"], Draft202012Validator({**own, "components": self._all["components"]})
        )
        wrong = next(check.iter_errors(answer.json), None)
        return "" if wrong is None else f"the answer is not a {own['$ref']}: {wrong.message}"


def is_guarded(method: str, path: str) -> bool:
    """Whether a request, as it is sent, is for something that needs a token."""
    plain = path.partition("?")[0]
    return any(
        method in (name.upper(), "HEAD") and plain.startswith(start.partition("{")[0])
        for (name, start), given in OPERATIONS.items()
        if given.get("role", "read") is not None
    )


async def fuzz(
    plane: ControlPlane, fleet: Reconciler, count: int, seed: int
) -> tuple[Counter[str], list[str]]:
    """Send requests; gives the numbers of answers by caller and status, and what went wrong."""
    access, waiting = Access(plane.state.access), fleet.waiting()
    assert waiting is not None
    app = make_app(plane, access, Limits(requests=10**9, body=50_000), LOOPBACK, fleet)
    callers: list[Caller] = [("nobody", {}), ("stranger", {"authorization": "Bearer mw_wrong"})]
    for role in ("read", "write", "apply"):
        callers.append((role, {"authorization": f"Bearer {access.add(role, [role])[1]}"}))
    fuzzer, rng, schema = Fuzzer(seed, waiting.hash), random.Random(seed), Schema()
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    for _ in range(count):
        who, own = rng.choice(callers)
        operation, method, path, headers, parts = fuzzer.request()
        revision, told = plane.revision, (fleet.paused, fleet.told()["approved"])
        answer = await call(app, method, path, {**headers, **own}, parts)
        counts[f"{who} {answer.status}"] += 1
        faults = [
            (answer.status == 500 or b"Traceback" in answer.body, "an error of the server"),
            (who in ("nobody", "stranger") and is_guarded(method, path) and answer.status < 400, "is let in"),
            (plane.revision != revision and who != "write", "changed the overlay"),
            ((fleet.paused, fleet.told()["approved"]) != told and who != "apply", "changed the fleet"),
        ]
        if method.lower() == operation[0] and path.partition("?")[0].startswith(
            operation[1].partition("{")[0]
        ):
            unknown = schema.fault(operation, answer)
            faults.append((bool(unknown), unknown))
        found = [words for holds, words in faults if holds]
        wrong += [f"{who} {method} {path} {headers} {parts}: {answer.status}, {words}" for words in found]
    return counts, wrong


def fleet_of(plane: ControlPlane, folder: Path) -> Reconciler:
    """A fleet of brokers that do not run, for which a plan waits."""
    names = plane.look_now(lambda live: sorted(live.nodes))
    rows = [
        {"node": name, "port": port, "config": str(folder / f"{name}.conf"), "reload": "true"}
        for port, name in enumerate(names, 1)
    ]
    (folder / "inventory.json").write_text(json.dumps({"brokers": rows}))
    fleet = Reconciler(plane, folder / "inventory.json", FleetOptions(driver="mosquitto"))
    fleet.tick()
    return fleet


def run(folder: Path, count: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Fuzz a new state in a folder, and look at what is left of it."""
    interests = mw.Interests.from_pairs(
        [(f"n{node}", f"t{node % topic}") for node in range(40) for topic in (3, 5, 8)]
    )
    state = StateFolder(folder / "state")
    with ControlPlane(state, Beginning(overlay=mw.build(interests, "gm"))) as plane:
        fleet = fleet_of(plane, folder)
        counts, wrong = asyncio.run(fuzz(plane, fleet, count, seed))
        left = plane.summary()
        if not asyncio.run(plane.measure())["topic_connected"]:
            wrong.append("topics are cut at the end")
        fleet.stop()
    with ControlPlane(state, Beginning()) as plane:
        if plane.summary() != left:
            wrong.append(f"the journal gives {plane.summary()} in place of {left}")
    return counts, wrong


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        counts, wrong = run(Path(name), args.count, args.seed)
    for key, number in sorted(counts.items()):
        print(f"{key}: {number:,}")
    print(f"{args.count:,} requests, {len(wrong):,} went wrong")
    for line in wrong[:20]:
        print(line)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
