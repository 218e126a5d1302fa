"""Zenoh nodes: the endpoints that they connect to and listen at, their mode and access control.

docs/lint-formats.md tells what each part becomes.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from meshwright.deploy.configs.json5 import read_json5
from meshwright.deploy.configs.source import (
    Findings,
    UnreadableError,
    alternatives,
    holds_password,
    listener,
    read_text,
    url_of,
)
from meshwright.deploy.configs.tree import TYPE_WORDS, Node
from meshwright.deploy.configs.zenoh_access import door_of
from meshwright.deploy.mesh import Broker, Door, Flow, Parsed, Place
from meshwright.filters.filter import Filter
from meshwright.runtime.errors import quoted

_HEAD = re.compile(
    rb"[{,\s][\"']?(?:"
    rb"mode[\"']?\s*:\s*[\"'](?:router|peer|client)[\"']"
    rb"|(?:connect|listen)[\"']?\s*:\s*\{(?:\s|//[^\n]*+)*+[\"']?(?:endpoints|timeout_ms|exit_on_failure|retry)\b"
    rb"|(?:scouting|plugins_loading|adminspace|queries_default_timeout|access_control)[\"']?\s*:\s*[{\d]"
    rb")"
)
_MODES = ("router", "peer", "client")
_DEFAULT_LISTENER = "tcp/[::]:7447"
_TOP = """
    id metadata mode region_name gateway connect listen open scouting timestamping queries_default_timeout
    routing aggregation qos transport adminspace namespace downsampling access_control low_pass_filter stats
    plugins_loading plugins plugins_search_dirs
"""
_ENDPOINTS = "timeout_ms endpoints exit_on_failure retry"
_KEYS = {
    "the configuration": ((), _TOP),
    "connect": (("connect",), _ENDPOINTS),
    "listen": (("listen",), _ENDPOINTS),
    "scouting": (("scouting",), "timeout delay multicast gossip"),
    "transport": (("transport",), "unicast multicast link shared_memory auth"),
    "access_control": (("access_control",), "enabled default_permission rules subjects policies"),
}
_MAPS = {
    *(("connect",), ("listen",), ("open",), ("scouting",), ("routing",), ("transport",), ("adminspace",)),
    *(("access_control",), ("scouting", "multicast"), ("scouting", "gossip")),
}
_LISTS_OF_MAPS = {("access_control", "rules"), ("access_control", "subjects"), ("access_control", "policies")}
_NO_START = "Zenoh does not start with it"
_SECRETS = {"password": "a password", "private_key_pem": "a private key", "secret": "a secret"}
_BASE64_KEY = re.compile(r".*private_key_base64")
_SECRET_SETTING = re.compile(r"(?:password|private_key_base64|secret)=[^;]")
_WAY_OUT = "put it into a file that only the router reads (dictionary_file, private_key_file)"


def looks_like(path: Path, head: bytes) -> bool:
    """Whether a file begins like the configuration of a Zenoh node."""
    return path.suffix == ".json5" or bool(_HEAD.search(head))


def parse(path: Path) -> Parsed:
    """What the file of a router, peer or client says. Nothing is executed, no plugin is loaded."""
    findings = Findings()
    try:
        text = read_json5(read_text(path), str(path))
        if not isinstance(text.root.value, dict):
            raise UnreadableError(
                "the configuration of a Zenoh node is a map; correct the file", text.root.place
            )
    except UnreadableError as error:
        findings.unreadable(error)
        return findings.parsed
    findings.comments(text.comments)
    _check_keys(text.root, findings)
    _check_types(text.root, findings)
    _check_secrets(text.root, findings)
    _Node(path, text.root, findings).read()
    return findings.parsed


class _Node:
    """One node's configuration, as a broker with flows."""

    def __init__(self, path: Path, root: Node, findings: Findings) -> None:
        self._root = root
        self._findings = findings
        self._name = root.within("metadata", "name").text or root.at("id").text or str(path)
        self._mode = self._checked_mode()
        self._door = door_of(root, findings)

    def read(self) -> None:
        parsed = self._findings.parsed
        doors = () if self._door is None else (self._door,)
        addresses = tuple(dict.fromkeys(self._addresses()))
        broker = Broker(self._name, "zenoh", self._root.place, addresses, doors=doors)
        is_client, is_router = self._mode == "client", self._mode == "router"
        broker = broker._replace(relays=is_router, is_client=is_client, gossips=self._gossips())
        broker = broker._replace(scouts=self._scouts())
        parsed.brokers.append(broker)
        parsed.flows.extend(self._flows())
        self._say_what_is_not_followed()

    def _checked_mode(self) -> str:
        mode = self._root.at("mode")
        if mode.value is not None and mode.text not in _MODES:
            message = f"the mode {quoted(mode.text)} is none of {', '.join(_MODES)}; lint takes it for a peer"
            self._findings.say("unreadable", "error", message, mode.place)
        return mode.text if mode.text in _MODES else "peer"

    def _gossips(self) -> bool:
        """Whether it is a peer that connects to others of which it hears, as it does by default."""
        gossip = self._root.within("scouting", "gossip")
        autoconnect = self._of_mode(gossip.at("autoconnect"))
        wanted = autoconnect.texts if autoconnect.value is not None else ["peer"]
        enabled = self._of_mode(gossip.at("enabled")).value is not False
        return self._mode == "peer" and enabled and "peer" in wanted

    def _of_mode(self, node: Node) -> Node:
        """A value that may differ by mode."""
        return node.at(self._mode) if node.entries else node

    def _addresses(self) -> Iterator[str]:
        endpoints = self._of_mode(self._root.within("listen", "endpoints"))
        texts = endpoints.texts
        if endpoints.value is None and self._mode == "router":
            texts = [_DEFAULT_LISTENER]
        for text in texts:
            found = listener(_locator(text))
            if found and not found.endswith(":0"):
                yield found

    def _flows(self) -> Iterator[Flow]:
        endpoints = self._of_mode(self._root.within("connect", "endpoints")).elements
        ends = [(self._address(each), each.place) for each in endpoints]
        if self._mode == "client" and ends:
            ends = [(alternatives(end for end, _ in ends), ends[0][1])]
        for number, (end, place) in enumerate(ends, 1):
            if end:
                yield from self._link(end, f"{self._name} connects {number}", place)
            else:
                self._findings.not_decided(
                    "lint does not follow this endpoint: it has no host and port", place
                )

    def _address(self, endpoint: Node) -> str:
        """The address of an endpoint, or those of a group of which one is in use."""
        texts = endpoint.at("locators").texts if endpoint.entries else endpoint.texts
        return alternatives(url.address for text in texts if (url := url_of(_locator(text))))

    def _link(self, end: str, link: str, place: Place) -> Iterator[Flow]:
        door = self._door or Door()
        out = Flow(self._name, end, "**", "", "", link, place, once=True, on_demand=True)
        back = out._replace(source=end, target=self._name, pulls=True)
        yield from _limited(out, door.gives, door.gives_not)
        yield from _limited(back, door.takes, door.takes_not)

    def _say_what_is_not_followed(self) -> None:
        routing = self._root.within("routing", "peer", "mode")
        if routing.text == "linkstate" and self._mode == "peer":
            message = "lint takes a peer with linkstate routing for one without, as Zenoh 1.10.2 does"
            self._findings.not_decided(message, routing.place)
        if self._scouts():
            message = "this node also finds others by multicast; lint sees only the links that files name"
            self._findings.not_decided(message, self._root.within("scouting", "multicast").place)

    def _scouts(self) -> bool:
        """Whether it connects to others that it finds by multicast."""
        multicast = self._root.within("scouting", "multicast")
        enabled, autoconnect = multicast.at("enabled"), self._of_mode(multicast.at("autoconnect"))
        if self._of_mode(enabled).value is False:
            return False
        return self._mode != "router" or bool(autoconnect.elements or autoconnect.entries)


def _limited(flow: Flow, allowed: tuple[str, ...] | None, denied: tuple[str, ...]) -> Iterator[Flow]:
    for text in (flow.filter,) if allowed is None else dict.fromkeys(allowed):
        yield flow._replace(filter=text if text == flow.filter else Filter(text, "zenoh").text, denies=denied)


def _locator(endpoint: str) -> str:
    """`host:port` of `protocol/host:port?metadata#settings`."""
    return re.split("[?#]", endpoint.partition("/")[2], maxsplit=1)[0]


def _check_keys(root: Node, findings: Findings) -> None:
    for where, (path, known) in _KEYS.items():
        names = known.split()
        for key, node in root.within(*path).entries.items():
            if key not in names:
                findings.unknown(key, where, names, node.place)


def _check_types(root: Node, findings: Findings) -> None:
    """Report values of other types than Zenoh 1.x reads: a node does not start with them."""
    for path in sorted(_MAPS):
        _check_type(path, root, dict, findings)
    for path in sorted(_LISTS_OF_MAPS):
        _check_type(path, root, list, findings)
        for each in root.within(*path).elements:
            if not isinstance(each.value, dict):
                findings.wrong_type(f"an entry of {'.'.join(path)}", each, "a map", _NO_START)
    for key in ("connect", "listen"):
        endpoints = root.within(key, "endpoints")
        for each in endpoints.entries.values() if endpoints.entries else [endpoints]:
            _check_endpoints(f"{key}.endpoints", each, findings)


def _check_type(path: tuple[str, ...], root: Node, wanted: type, findings: Findings) -> None:
    node = root.within(*path)
    if node.value is not None and not isinstance(node.value, wanted):
        findings.wrong_type(".".join(path), node, TYPE_WORDS[wanted], _NO_START)


def _check_endpoints(what: str, node: Node, findings: Findings) -> None:
    if node.value is not None and not isinstance(node.value, list):
        findings.wrong_type(what, node, 'a list of texts such as ["tcp/HOST:PORT"]', _NO_START)
        return
    for each in node.elements:
        for text in [each] if not each.entries else each.at("locators").elements:
            if not isinstance(text.value, str):
                findings.wrong_type(
                    f"an endpoint of {what}", text, 'a text such as "tcp/HOST:PORT"', _NO_START
                )
            elif "/" not in text.value:
                message = f'an endpoint of {what} has no protocol, and {_NO_START}; write "tcp/HOST:PORT"'
                findings.say("unreadable", "error", message, text.place)


def _check_secrets(root: Node, findings: Findings) -> None:
    for key, node in root.walk():
        what = "a private key" if _BASE64_KEY.fullmatch(key) else _SECRETS.get(key)
        if what and node.text:
            findings.secret(what, _WAY_OUT, node.place)
    for place in (root.at("connect"), root.at("listen")):
        for each in _scalars(place):
            if holds_password(each.text or "") or _SECRET_SETTING.search(each.text or ""):
                findings.secret("a secret of an endpoint", _WAY_OUT, each.place)


def _scalars(node: Node) -> Iterator[Node]:
    """All values inside that are no maps or lists."""
    inside = node.entries.values() if node.entries else node.elements
    for each in inside:
        yield from (each,) if each is node else _scalars(each)
