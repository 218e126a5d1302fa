"""What may import what: import-linter's contracts in pyproject.toml, and what `import meshwright` loads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFIG = Path(__file__).parents[2] / "pyproject.toml"
LINTER = Path(sys.executable).with_name("lint-imports")


def lint_imports(source: Path) -> subprocess.CompletedProcess[str]:
    command = [str(LINTER), "--config", str(CONFIG), "--no-cache", "--no-logo"]
    env = os.environ | {"PYTHONPATH": str(source)}
    return subprocess.run(command, cwd=source, env=env, capture_output=True, text=True, check=False)


def package_with(folder: Path, module: str, statement: str) -> Path:
    """A package of empty modules, with one statement in one of them."""
    package = folder / "meshwright"
    parts = ("cli", "construct", "metrics", "model", "runtime", "workloads")
    for name in parts:
        (package / name).mkdir(parents=True)
    for name in ("", *parts):
        (package / name / "__init__.py").touch()
    (package / "runtime" / "errors.py").touch()
    (package / module).write_text(statement + "\n")
    return folder


def test_every_module_imports_only_from_the_layers_below() -> None:
    done = lint_imports(CONFIG.parent / "src")
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("module", "statement"),
    [
        pytest.param("model/costs.py", "import meshwright.cli", id="upwards"),
        pytest.param("construct/gm.py", "import meshwright.workloads", id="a peer"),
        pytest.param("construct/gm.py", "import meshwright.metrics", id="one line up"),
        pytest.param("model/costs.py", "from meshwright import __doc__", id="the public face"),
        pytest.param("helpers.py", "", id="a module in no layer"),
    ],
)
def test_the_contracts_refuse_what_the_layers_forbid(tmp_path: Path, module: str, statement: str) -> None:
    assert "1 broken" in lint_imports(package_with(tmp_path, module, statement)).stdout


def test_the_contracts_accept_an_import_of_a_lower_layer(tmp_path: Path) -> None:
    package = package_with(tmp_path, "cli/build.py", "import meshwright.model, meshwright.runtime.errors")
    assert "0 broken" in lint_imports(package).stdout


def test_importing_the_package_imports_no_heavy_module() -> None:
    heavy = {"networkx", "numba", "pandas", "pyspark"}
    program = f"import sys, meshwright; print(*sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
