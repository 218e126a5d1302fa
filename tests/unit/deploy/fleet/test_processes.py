"""Processes of the fleet end with the process that started them."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from meshwright.deploy.fleet.processes import group, reserved_ports
from tests.patience import wait_for

ROOT = Path(__file__).parents[4]
STARTS_ONE_AND_WAITS = """
import sys, time
from pathlib import Path
from meshwright.deploy.fleet.processes import group
with group() as processes:
    print(processes.start(["sleep", "1000"], Path(sys.argv[1])).pid, flush=True)
    time.sleep(1000)
"""


def is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has asked for does not."""
    told = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return told.stdout.strip()[:1] not in ("", "Z")


def test_processes_end_with_their_group(tmp_path: Path) -> None:
    with group() as processes:
        process = processes.start(["sleep", "1000"], tmp_path / "log")
        assert is_running(process.pid)
    assert process.returncode == -signal.SIGKILL


def test_processes_end_when_a_test_fails(tmp_path: Path) -> None:
    started = []

    def test() -> None:
        with group() as processes:
            started.append(processes.start(["sleep", "1000"], tmp_path / "log"))
            raise AssertionError

    with pytest.raises(AssertionError):
        test()
    assert started[0].returncode == -signal.SIGKILL


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_processes_end_with_the_process_that_started_them(sent: signal.Signals, tmp_path: Path) -> None:
    command = [sys.executable, "-c", STARTS_ONE_AND_WAITS, tmp_path / "log"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as parent:
        assert parent.stdout
        child = int(parent.stdout.readline())
        assert is_running(child)
        os.kill(parent.pid, sent)
        parent.wait()
    wait_for(lambda: not is_running(child), "the end of the child")


def test_reserved_ports_are_given_once_and_still_serve() -> None:
    with reserved_ports(3) as first, reserved_ports(3) as second:
        assert len({*first, *second}) == 6
        with socket.create_server(("127.0.0.1", first[0])) as server:
            socket.create_connection(server.getsockname()).close()


def test_ports_beside_reserved_ones_are_reserved_as_well() -> None:
    with reserved_ports(2, [4_000]) as first, reserved_ports(2, [4_000]) as second:
        both = [*first, *second]
        assert len({port + far for port in both for far in (0, 4_000)}) == 8
        with socket.socket() as other, pytest.raises(OSError, match="in use"):
            other.bind(("127.0.0.1", first[1] + 4_000))
