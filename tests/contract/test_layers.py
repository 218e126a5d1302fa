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
        pytest.param("construct/greedy.py", "import meshwright.workloads", id="a peer"),
        pytest.param("construct/greedy.py", "import meshwright.metrics", id="one line up"),
        pytest.param("model/costs.py", "from meshwright import __doc__", id="the public face"),
        pytest.param("helpers.py", "", id="a module in no layer"),
    ],
)
def test_the_contracts_refuse_what_the_layers_forbid(tmp_path: Path, module: str, statement: str) -> None:
    assert "1 broken" in lint_imports(package_with(tmp_path, module, statement)).stdout


def test_the_contracts_accept_an_import_of_a_lower_layer(tmp_path: Path) -> None:
    package = package_with(tmp_path, "cli/build.py", "import meshwright.model, meshwright.runtime.errors")
    assert "0 broken" in lint_imports(package).stdout


def heavy_modules(program: str) -> list[str]:
    """Which modules that take long to import a program has imported at its end."""
    heavy = {"networkx", "numba", "numpy", "pandas", "pyarrow", "pyspark", "scipy"}
    told = f"{program}; print('imported', *sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()[1:]


def test_importing_the_package_imports_no_heavy_module() -> None:
    assert heavy_modules("import sys, meshwright") == []


@pytest.mark.parametrize("call", ["--version", "--help", "build --help", "build --nope", "nope"])
def test_help_version_and_wrong_calls_import_no_heavy_module(call: str) -> None:
    command = ["meshwright", *call.split()]
    assert heavy_modules(f"import sys; from meshwright.cli import main; sys.argv = {command}; main()") == []


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("small") / "data"
    made = ["generate", "unif", "--nodes", "9", "--topics", "3", "--subscriptions", "2", "--out", str(path)]
    subprocess.run([sys.executable, "-m", "meshwright", *made], capture_output=True, check=True)
    return path


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["for people", "for machines"])
def test_build_and_evaluate_import_neither_networkx_nor_pandas_nor_spark(
    dataset: Path, tmp_path: Path, form: list[str]
) -> None:
    out = str(tmp_path / "overlay")
    commands = ["build", str(dataset), "--algorithm", "gm", "--out", out, *form], ["evaluate", out, *form]
    calls = "; ".join(f"sys.argv = {['meshwright', *command]}; done = main() == 0" for command in commands)
    found = heavy_modules(f"import sys; from meshwright.cli import main; {calls}; assert done")
    assert {"networkx", "pandas", "pyspark"}.isdisjoint(found)
