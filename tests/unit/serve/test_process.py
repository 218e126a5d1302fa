"""The command itself: killed under load, with another process standing by; then ended cleanly."""

import http.client
import json
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from meshwright.model.overlay import Overlay
from tests.patience import PATIENCE, wait_for


class Process:
    """`meshwright serve` on a state, and what it prints."""

    def __init__(self, state: Path, *options: str) -> None:
        command = [sys.executable, "-m", "meshwright", "serve", str(state), "--port", "0", *options]
        self.popen = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.printed: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.popen.stdout is not None
        self.printed.extend(self.popen.stdout)

    def port(self) -> int:
        def found() -> int | None:
            assert self.popen.poll() is None, self.popen.stderr
            line = next((line for line in self.printed if " at http://" in line), None)
            return None if line is None else int(line.rpartition(":")[2])

        assert self.popen.stdout is not None
        port = wait_for(found, "the server listens")
        assert port is not None
        return port

    def end(self, number: int) -> int:
        self.popen.send_signal(number)
        code = self.popen.wait(PATIENCE)
        self._reader.join()
        for stream in (self.popen.stdout, self.popen.stderr):
            assert stream is not None
            stream.close()
        return code


def ask(port: int, token: str, method: str, path: str, value: Any = None) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        connection.request(method, path, None if value is None else json.dumps(value), headers)
        answer = connection.getresponse()
        assert answer.status == 200, answer.read()
        return json.loads(answer.read())
    finally:
        connection.close()


def send_until_it_dies(port: int, token: str, sender: int, acknowledged: list[dict[str, Any]]) -> None:
    for number in range(1_000_000):
        event = {
            "event": "join",
            "node": f"s{sender}-{number}",
            "topics": ["t/0"],
            "id": f"{sender}-{number}",
        }
        try:
            receipt = ask(port, token, "POST", "/v1/events", event)
        except (OSError, http.client.HTTPException):
            return
        acknowledged.append(receipt | {"node": event["node"]})


def test_what_was_acknowledged_survives_a_kill_and_another_process_takes_over(
    tmp_path: Path, overlay: Overlay
) -> None:
    overlay.write(tmp_path / "overlay")
    state = tmp_path / "state"
    first = Process(state, "--overlay", str(tmp_path / "overlay"))
    port = first.port()
    token = first.printed[0].removeprefix("token: ").strip()
    second = Process(state, "--standby")
    acknowledged: list[list[dict[str, Any]]] = [[] for _ in range(3)]
    senders = [
        threading.Thread(target=send_until_it_dies, args=(port, token, sender, own))
        for sender, own in enumerate(acknowledged)
    ]
    for sender in senders:
        sender.start()
    wait_for(
        lambda: sum(map(len, acknowledged)) >= 60 or not all(sender.is_alive() for sender in senders),
        "events are acknowledged",
    )
    assert all(sender.is_alive() for sender in senders)
    assert second.printed == []
    assert first.end(signal.SIGKILL) == -signal.SIGKILL
    for sender in senders:
        sender.join()
    port = second.port()
    steps = ask(port, token, "GET", "/v1/changes?since=0&limit=1000")["steps"]
    by_revision = {step["revision"]: step for step in steps}
    for receipt in (one for own in acknowledged for one in own):
        step = by_revision[receipt["revision"]]
        assert (step["cause"], step["opened"]) == (f"join {receipt['node']}", receipt["opened"])
    assert [step["since"] for step in steps] == list(range(len(steps)))
    assert len({step["cause"] for step in steps}) == len(steps)  # none twice
    assert ask(port, token, "GET", "/v1/evaluation")["topic_connected"]
    assert not any(line.startswith("token") for line in second.printed)
    assert second.end(signal.SIGTERM) == 0
    assert "everything is on disk" in second.printed[-1]
