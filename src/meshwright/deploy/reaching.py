"""How files get to brokers: by shell commands, run here, by ssh, or by a command of the operator's."""

import json
import os
import re
import shlex
import subprocess
import time
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from socket import create_connection
from typing import Any, Protocol
from urllib.request import urlopen

from meshwright.deploy.drivers.driver import Session, reference, references
from meshwright.deploy.hosts import Host
from meshwright.runtime.errors import InputError, NetworkError, quoted

_NOTHING_THERE = 44
_SECONDS = 120
_LISTENING_SECONDS = 30.0
_LOADING_SECONDS = 10.0
_SECRETS = re.compile(r"(?m)(?<=^remote_password ).*$|(?<=password: \")[^\"\n]*|(?<=:)[^:@/\"\n]+(?=@)")
"""Passwords in lines of Mosquitto, in strings and in addresses of NATS and RabbitMQ."""
_TOPIC = "topic "
"""How lines of Mosquitto begin that hold names: whatever these look like, they are no passwords."""
_SAFE_SECRET = re.compile(r"[A-Za-z0-9_.~!*+,=^-]+")


class Reach(Protocol):
    """What can be done at a broker."""

    in_parts: bool
    """Whether something may be written in part when it is stopped."""

    def read(self, host: Host) -> str | None:
        """Its file, with passwords masked; None where there is none."""

    def check(self, host: Host, text: str | None) -> None:
        """Refuse a broker that can't be written to, or a text whose passwords can't be looked up."""

    def check_forget(self, host: Host) -> None:
        """Refuse a broker that can't be asked to drop sessions, as far as can be told from here."""

    def version(self, host: Host) -> str:
        """The version that a broker tells; empty where it tells none."""

    def write(self, host: Host, text: str | None) -> None:
        """Put a file in place, whole, with passwords filled in; None removes it."""

    def reload(self, host: Host) -> None:
        """Let the broker read its files, and wait until it listens again."""

    def forget(self, host: Host, session: Session) -> None:
        """Drop what a broker keeps for a link that is gone."""

    def listens(self, host: Host) -> bool | None:
        """Whether a broker accepts connections; None where nobody can tell."""


def masked(text: str) -> str:
    """A file without its passwords, or the references to them."""
    for each in set(references(text)):
        text = text.replace(reference(each), "(not shown)")
    lines = (
        line if line.startswith(_TOPIC) else _SECRETS.sub("(not shown)", line) for line in text.split("\n")
    )
    return "\n".join(lines)


class Commands:
    """Brokers that are reached as the inventory says."""

    in_parts = False

    def __init__(self, *, check: bool = True, patience: float = _SECONDS) -> None:
        self._check, self._patience = check, patience

    def read(self, host: Host) -> str | None:
        """Its file, with passwords masked; None where there is none."""
        path = shlex.quote(_path(host))
        done = self._run(host, f"if [ -e {path} ]; then cat {path}; else exit {_NOTHING_THERE}; fi")
        if done.returncode == _NOTHING_THERE:
            return None
        return masked(_checked(host, done, "reading its file").stdout)

    def check(self, host: Host, text: str | None) -> None:
        """Refuse a folder that is missing or can't be written to, and passwords that can't be looked up."""
        resolved(text or "")
        folder = shlex.quote(str(PurePosixPath(_path(host)).parent))
        if self._run(host, f"[ -d {folder} ] && [ -w {folder} ]").returncode:
            raise NetworkError(
                f"the folder {folder} of the node {quoted(host.node)} is missing, or can't be written to by "
                f"the account that reaches it; correct that, or config in the inventory; nothing was changed"
            )

    def version(self, host: Host) -> str:
        """The version that the monitor of a NATS server tells."""
        told = _monitored(host) if self._check and host.admin else {}
        return str(told.get("version", ""))

    def check_forget(self, host: Host) -> None:
        """Refuse a broker if its password or certificates can't be read here."""
        if not self._check:
            return
        if host.password:
            secret_of(host.password)
        for path in filter(None, (host.cafile, host.certfile, host.keyfile)):
            if not os.access(path, os.R_OK):
                raise InputError(
                    f"{path} can't be read on this machine, which has to log in at {quoted(host.node)} to "
                    f"drop the sessions of links that are closed; copy it here, or apply with --no-check, "
                    f"which leaves them there; nothing was changed"
                )

    def write(self, host: Host, text: str | None) -> None:
        """Put a file in place, whole, with passwords filled in; None removes it."""
        path = shlex.quote(_path(host))
        if text is None:
            _checked(host, self._run(host, f"rm -f {path}"), "removing its file")
            return
        mask = "077" if references(text) else "022"
        whole = resolved(text)
        # If we are killed, the shell there gets only a part of the file, and must not put that in place.
        is_whole = f"test $(wc -c < {path}.new) -eq {len(whole.encode())}"
        command = f"umask {mask} && cat > {path}.new && {is_whole} && mv {path}.new {path}"
        _checked(host, self._run(host, command, whole), "writing its file")

    def reload(self, host: Host) -> None:
        """Let the broker read its files, and wait until it listens again.

        A NATS server says by its monitor whether it did: a signal is sent, even if it refuses the file.
        """
        before = loaded_at(host) if self._check and host.admin else None
        _checked(host, self._run(host, host.reload), "reloading")
        if self._check and host.accepts:
            wait_until_listening(host)
        if before is not None:
            _wait_until_loaded(host, before)

    def forget(self, host: Host, session: Session) -> None:
        """Drop what a broker keeps for a link that is gone."""
        if self._check:
            forget_session(session, host)

    def listens(self, host: Host) -> bool | None:
        """Whether a broker accepts connections; None where nobody can tell."""
        return listens(host) if self._check else None

    def _run(self, host: Host, command: str, given: str = "") -> "subprocess.CompletedProcess[str]":
        return _run(host, command, given, self._patience)


def _run(
    host: Host, command: str, given: str = "", patience: float = _SECONDS
) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            words_of_reach(host, command),
            input=given,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=patience,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NetworkError(
            f"the node {quoted(host.node)} can't be reached: {error}; check its reach in the inventory"
        ) from None


def output_of(host: Host, command: str, doing: str, advice: str) -> str:
    """What a shell command at a broker prints."""
    return _checked(host, _run(host, command), doing, advice).stdout


def _path(host: Host) -> str:
    if not host.config:
        raise InputError(
            f"the node {quoted(host.node)} has no config in the inventory; give the path of the file that "
            f"Meshwright may write, such as /etc/mosquitto/conf.d/meshwright.conf"
        )
    return host.config


def check_reachable(host: Host) -> None:
    """Refuse a host that the inventory says too little of."""
    _path(host)
    if not host.reload:
        raise InputError(
            f"the node {quoted(host.node)} has no reload in the inventory; give the command that makes its "
            f"broker read its files, such as 'systemctl restart mosquitto'"
        )


def words_of_reach(host: Host, command: str) -> list[str]:
    """The command that runs a shell command at a broker, as words."""
    if host.reach == "local":
        return ["sh", "-c", command]
    if host.reach == "ssh":
        return ["ssh", "-o", "BatchMode=yes", "--", host.host, command]
    values = {"{command}": command, "{node}": host.node, "{host}": host.host}
    return [_filled(word, values) for word in shlex.split(host.reach)]


def _filled(word: str, values: dict[str, str]) -> str:
    return re.sub(r"\{(command|node|host)\}", lambda found: values[found[0]], word)


def _checked(
    host: Host,
    done: "subprocess.CompletedProcess[str]",
    doing: str,
    advice: str = "correct that, and apply again: it goes on from here",
) -> "subprocess.CompletedProcess[str]":
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or "nothing").splitlines()[-1]
        raise NetworkError(
            f"{doing} failed at the node {quoted(host.node)} with exit code {done.returncode}: {said}; "
            f"{advice}"
        )
    return done


def resolved(text: str) -> str:
    """A file with its passwords."""
    for each in set(references(text)):
        text = text.replace(reference(each), secret_of(each))
    return text


def secret_of(where: str) -> str:
    """The password that a reference means.

    Raises:
        InputError: there is none, or it can't be written on a line.
    """
    kind, _, name = where.partition(":")
    try:
        found = os.environ[name] if kind == "env" else Path(name).read_text(encoding="utf-8").rstrip("\n")
    except (KeyError, OSError, UnicodeDecodeError):
        raise InputError(f"the password {where} can't be read; set the variable, or make the file") from None
    if not _SAFE_SECRET.fullmatch(found):
        raise InputError(
            f"the password {where} is empty, or has a character that a configuration can't hold as it is; "
            f"choose one of letters, digits and _.~!*+,=^-"
        )
    return found


def listens(host: Host) -> bool | None:
    """Whether a broker accepts connections; None where nobody can tell, such as behind a firewall."""
    if not host.accepts:
        return None
    try:
        create_connection((host.host, host.port), timeout=5).close()
    except ConnectionRefusedError:
        return False
    except OSError:
        return None
    return True


def loaded_at(host: Host) -> str | None:
    """When a NATS server has read its configuration, as its monitor says; None if it does not answer."""
    return _monitored(host).get("config_load_time")


def _monitored(host: Host) -> dict[str, Any]:
    """What the monitor of a NATS server says of it; nothing if it does not answer."""
    try:
        with urlopen(f"{host.admin.rstrip('/')}/varz", timeout=5) as answer:
            found = json.load(answer)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _wait_until_loaded(host: Host, before: str) -> None:
    end = time.monotonic() + _LOADING_SECONDS
    while loaded_at(host) in (before, None):
        if time.monotonic() > end:
            raise NetworkError(
                f"the server of {quoted(host.node)} has not taken its file, as its monitor {host.admin} "
                f"says; look at its log, and apply again; a server that did not listen for leaf nodes has to "
                f"be restarted once"
            )
        time.sleep(0.05)


def wait_until_listening(host: Host) -> None:
    """Wait until a broker accepts connections."""
    end = time.monotonic() + _LISTENING_SECONDS
    while True:
        try:
            create_connection((host.host, host.port), timeout=5).close()
            return
        except OSError as error:
            if time.monotonic() > end:
                raise NetworkError(
                    f"the broker of {quoted(host.node)} does not listen at {host.host}:{host.port} after its "
                    f"reload ({error}); look at its log, and apply again; with --no-check it is not asked"
                ) from None
            time.sleep(0.05)


def forget_session(session: Session, host: Host) -> None:
    """Connect once in the place of a link with a clean session, which drops what was kept for it."""
    from meshwright.deploy.fleet.mqtt_ears import paho

    library = paho()
    client = library.Client(
        library.CallbackAPIVersion.VERSION2, session.client, clean_session=True, protocol=library.MQTTv311
    )
    answers: list[int] = []
    client.on_connect = lambda *given: answers.append(given[3].value)
    try:
        log_in(client, host)
        client.connect(session.host, session.port, keepalive=60)
        _loop(client.loop, answers)
    except OSError as error:
        raise NetworkError(
            f"{session.host}:{session.port} keeps a session {session.client} of a link that is gone, and "
            f"can't be asked to drop it: {error}; apply again when it can be reached"
        ) from None
    client.disconnect()


def log_in(client: Any, host: Host) -> None:
    """Let a client of paho log in as the inventory says, with files of this machine.

    Raises:
        OSError: a certificate can't be read.
    """
    if host.user:
        client.username_pw_set(host.user, secret_of(host.password) if host.password else None)
    if host.cafile:
        client.tls_set(host.cafile, host.certfile or None, host.keyfile or None)


def _loop(turn: Callable[[float], object], answers: list[int]) -> None:
    end = time.monotonic() + 10
    while not answers and time.monotonic() < end:
        turn(0.1)
    if not answers or answers[0]:
        raise OSError(f"refused with code {answers[0]}" if answers else "no answer in 10 s")
