"""Lint finds in every mesh of the corpus just what its brokers bear out."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from meshwright.cli import app
from tests.brokers.corpus import CORPUS, Line, Mesh


@pytest.mark.parametrize("mesh", CORPUS, ids=lambda mesh: mesh.name)
def test_lint_finds_just_what_the_brokers_bear_out(mesh: Mesh, tmp_path: Path) -> None:
    mesh.write(tmp_path, {name: port for port, name in enumerate(mesh.ports, start=20_000)})
    inventory = tmp_path / "inventory.json"
    known = ["--inventory", str(inventory)] if inventory.exists() else []
    result = CliRunner().invoke(app, ["lint", str(tmp_path), *known, "--json"])
    found = [each for each in json.loads(result.stdout)["findings"] if each["severity"] != "note"]
    assert {each["rule"] for each in found} == mesh.findings, mesh.about
    assert result.exit_code == bool(mesh.findings)
    useless = [
        Line(Path(each["file"]).name, each["line"]) for each in found if each["rule"] == "useless-line"
    ]
    assert useless == ([mesh.useless] if mesh.useless else [])
