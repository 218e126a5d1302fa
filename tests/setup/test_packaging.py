"""What is in packaging/: it can be parsed, fits together, and names commands and metrics that exist."""

import configparser
import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import typer
import yaml

from meshwright.cli import app
from meshwright.deploy.fleet.processes import reserved_ports
from meshwright.deploy.fleet.programs import program_of
from meshwright.deploy.hosts import read_hosts
from meshwright.deploy.reaching import Commands
from meshwright.serve.api import GAUGES
from meshwright.serve.reconciling import gauges
from meshwright.serve.telemetry import Telemetry
from tests.patience import wait_for

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
COMPOSE = PACKAGING / "compose"


def check_command(words: list[str]) -> None:
    """The command line takes these words, whatever files they name."""
    command = typer.main.get_command(app)
    context = command.make_context("meshwright", list(words), resilient_parsing=True)
    name, sub, rest = command.resolve_command(context, list(words))  # type: ignore[attr-defined]
    assert name == words[0]
    sub.make_context(name, list(rest), parent=context, resilient_parsing=True)
    known = {flag for parameter in sub.params for flag in parameter.opts}
    assert {word for word in rest if word.startswith("--")} <= known


def test_the_image_has_what_the_command_needs() -> None:
    lines = (PACKAGING / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    steps = [line.split(None, 1) for line in lines if line and not line.startswith("#")]
    known = "FROM WORKDIR COPY RUN USER VOLUME EXPOSE HEALTHCHECK STOPSIGNAL ENTRYPOINT CMD"
    assert {word for word, _ in steps} == set(known.split())
    for source in ("pyproject.toml", "README.md", "LICENSE", "src"):
        assert (ROOT / source).exists()
    assert dict(steps)["USER"] not in ("root", "0")
    assert json.loads(dict(steps)["ENTRYPOINT"]) == ["meshwright"]
    check_command(json.loads(dict(steps)["CMD"]))


def test_compose_has_three_brokers_and_a_control_plane_that_reaches_them() -> None:
    found = yaml.safe_load((COMPOSE / "compose.yaml").read_text())
    services = found["services"]
    hosts = read_hosts(COMPOSE / "inventory.csv")
    assert hosts.keys() == services.keys() - {"prepare", "control"}
    assert len(hosts) == 3
    for name, service in services.items():
        assert "image" in service or "build" in service
        for volume in service["volumes"]:
            source, target, *_ = volume.split(":")
            assert source in found["volumes"] or (COMPOSE / source).exists(), (name, volume)
            assert target.startswith("/")
    for node, host in hosts.items():
        assert services[node]["command"] == [f"/fleet/{node}"]
        assert host.config == f"/fleet/{node}/conf.d/meshwright.conf"
    assert services["control"]["ports"] == ["127.0.0.1:8470:8470"]
    check_command(services["control"]["command"])
    for script in ("run-broker.sh", "prepare.sh"):
        subprocess.run(["sh", "-n", COMPOSE / script], check=True)
    prepare = (COMPOSE / "prepare.sh").read_text()
    for line in re.findall(r"^  meshwright (.*)$", prepare, re.MULTILINE):
        check_command(line.split())


def test_the_broker_of_compose_runs_what_was_written_when_a_reload_returns(tmp_path: Path) -> None:
    home = tmp_path / "north"
    with reserved_ports(1) as (port,):
        given = {
            **os.environ,
            "MESHWRIGHT_MOSQUITTO": str(program_of("mosquitto")),
            "MESHWRIGHT_PORT": str(port),
            "MESHWRIGHT_BIND": "127.0.0.1",
            "MESHWRIGHT_MORE": "user root" if os.geteuid() == 0 else "",
        }
        with (tmp_path / "log").open("wb") as log:
            broker = subprocess.Popen(
                ["sh", COMPOSE / "run-broker.sh", home], env=given, stderr=log, stdout=log, process_group=0
            )
        try:
            wait_for((home / "running").exists, "the broker starts")
            host = read_hosts(COMPOSE / "inventory.csv")["north"]
            own = home / "conf.d" / "meshwright.conf"
            host = host._replace(
                host="127.0.0.1",
                port=port,
                config=str(own),
                reload=host.reload.replace("/fleet", str(tmp_path)),
            )
            reach = Commands()
            for text in ("# Made by Meshwright\n", "# Made by Meshwright, again\n", None):
                reach.write(host, text)
                reach.reload(host)
                running = (home / "running").read_text().split()[0]
                assert running == ("none" if text is None else _sum(text))
        finally:
            os.killpg(broker.pid, signal.SIGKILL)
            broker.wait()


def _sum(text: str) -> str:
    return subprocess.run(["cksum"], input=text, capture_output=True, text=True, check=True).stdout.split()[0]


def test_the_unit_starts_a_command_that_exists_and_keeps_tokens_out_of_logs() -> None:
    unit = configparser.ConfigParser(interpolation=None, strict=False)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read(PACKAGING / "meshwright.service")
    assert unit.sections() == ["Unit", "Service", "Install"]
    service = unit["Service"]
    program, *words = service["ExecStart"].split()
    assert program.endswith("/bin/meshwright")
    check_command(words)
    assert service["Restart"] == "always"
    assert service["StandardOutput"] == "null"
    assert service["User"] != "root"


def test_the_manifest_fits_together() -> None:
    found: dict[str, Any] = {
        own["kind"]: own for own in yaml.safe_load_all((PACKAGING / "kubernetes.yaml").read_text())
    }
    assert all({"apiVersion", "metadata"} <= own.keys() for own in found.values())
    spec = found["StatefulSet"]["spec"]
    assert spec["replicas"] == 1
    assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    assert found["Service"]["spec"]["selector"] == spec["selector"]["matchLabels"]
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]
    check_command(container["args"])
    there = {own["name"] for own in pod["volumes"]}
    there |= {own["metadata"]["name"] for own in spec["volumeClaimTemplates"]}
    assert {own["name"] for own in container["volumeMounts"]} == there
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["httpHeaders"] == [{"name": "Host", "value": "localhost"}]
    (building,) = pod["initContainers"]
    for line in re.findall(r"meshwright ([^&;]*)", building["args"][0]):
        check_command(line.split())
    assert set(found["ConfigMap"]["data"]) == {"brokers.csv", "subscriptions.csv"}


def test_the_dashboard_asks_for_metrics_that_exist() -> None:
    board = json.loads((PACKAGING / "grafana.json").read_text())
    asked = {
        name
        for panel in board["panels"]
        for target in panel["targets"]
        for name in re.findall(r"meshwright_\w+", target["expr"])
    }
    counted = re.findall(r"^# TYPE (meshwright_\w+) (\w+)", Telemetry().exposition({}), re.MULTILINE)
    known = {f"{name}_bucket" if kind == "histogram" else name for name, kind in counted}
    known |= {f"meshwright_{name}" for name in {*GAUGES, *gauges.GAUGES, "drift_from_bound"}}
    assert asked <= known
    assert {f"meshwright_{name}" for name in gauges.GAUGES.keys() - {"brokers"}} <= asked
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
