"""Machine code is kept between processes, and never used for another source than its own."""

import ast
import os
import pkgutil
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import meshwright.kernels
from meshwright.kernels import compiling
from meshwright.runtime import compilation

_PACKAGE = compiling.__name__.rpartition(".")[0]

_CALLED = f"""
from typing import NamedTuple
from {compiling.__name__} import inner
class Pair(NamedTuple):
    left: int
    right: int
@inner
def total(pair):
    return pair.left + pair.right
"""
_CALLER = f"""
from {_PACKAGE}.called import Pair, total
from {compiling.__name__} import kernel
@kernel
def ask(pair):
    return total(pair)
"""
_ASK = f"""
from {_PACKAGE}.caller import Pair, ask
print(ask(Pair(2, 3)), sum(ask.stats.cache_hits.values()))
"""


class Copy:
    """A package of the same name with the decorators, a kernel and what it calls, to be changed at will."""

    def __init__(self, folder: Path) -> None:
        self.root, self.package = folder, folder.joinpath(*_PACKAGE.split("."))
        for module in (compiling, compilation):
            target = folder.joinpath(*module.__name__.split(".")).with_suffix(".py")
            target.parent.mkdir(parents=True)
            shutil.copy(str(module.__file__), target)
            for place in target.relative_to(folder).parents[:-1]:
                folder.joinpath(place, "__init__.py").touch()
        self.write(_CALLED, _CALLER)

    def write(self, called: str, caller: str) -> None:
        self.package.joinpath("called.py").write_text(called, encoding="utf-8")
        self.package.joinpath("caller.py").write_text(caller, encoding="utf-8")

    def files(self) -> set[str]:
        return {path.name for path in self.root.rglob("*.nb[ci]")}

    def ask(self, script: str = _ASK, **settings: str) -> list[str]:
        """Run a script in a process of its own; what it printed, word by word."""
        settings = {"NUMBA_CACHE_DIR": "", "PYTHONPATH": str(self.root), **settings}
        done = subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_the_same_source_finds_its_machine_code(copy: Copy) -> None:
    assert copy.ask() == ["5", "0"]
    kept = copy.files()
    assert copy.ask() == ["5", "1"]
    assert copy.files() == kept


def test_machine_code_follows_the_files_that_a_kernel_calls(copy: Copy) -> None:
    assert copy.ask() == ["5", "0"]
    copy.write(_CALLED.replace("pair.left + pair.right", "pair.left - pair.right"), _CALLER)
    assert copy.ask() == ["-1", "0"]


def test_a_renamed_tuple_is_compiled_and_not_an_error(copy: Copy) -> None:
    copy.ask()
    copy.write(_CALLED.replace("Pair", "Couple") + "Pair = Couple\n", _CALLER)
    assert copy.ask() == ["5", "0"]


def test_machine_code_of_other_sources_is_removed(copy: Copy) -> None:
    copy.ask()
    first = copy.files()
    copy.write(_CALLED + "# another source\n", _CALLER)
    copy.ask()
    assert len(copy.files()) == len(first)
    assert not copy.files() & first


def test_a_chosen_folder_holds_all_machine_code(copy: Copy, tmp_path_factory: pytest.TempPathFactory) -> None:
    chosen = tmp_path_factory.mktemp("chosen")
    assert copy.ask(NUMBA_CACHE_DIR=str(chosen)) == ["5", "0"]
    assert copy.ask(NUMBA_CACHE_DIR=str(chosen)) == ["5", "1"]
    assert not copy.files()


def test_kernels_run_where_nothing_can_be_written(copy: Copy) -> None:
    copy.package.joinpath("__pycache__").touch()
    nowhere = {"HOME": os.devnull, "XDG_CACHE_HOME": os.devnull, "PYTHONDONTWRITEBYTECODE": "1"}
    assert copy.ask(**nowhere) == ["5", "0"]
    assert not copy.files()


def test_calling_an_inner_function_from_python_is_an_error(copy: Copy) -> None:
    script = f"""
from {_PACKAGE}.caller import Pair, ask, total
ask(Pair(2, 3))
try:
    total(Pair(2, 3))
except TypeError as error:
    print(str(error).split()[0])
"""
    assert copy.ask(script) == ["total"]


def test_every_import_of_a_kernel_module_counts_in_its_digest() -> None:
    names = [
        found.name for found in pkgutil.walk_packages(meshwright.kernels.__path__, "meshwright.kernels.")
    ]
    for name in names:
        path = import_module(name).__file__
        assert path is not None
        source = Path(path).read_text(encoding="utf-8")
        seen = set(compiling._IMPORTED.findall(source))
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.Import):
                assert not any(alias.name.startswith("meshwright") for alias in node.names), name
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("meshwright"):
                assert not node.level
                assert node.module in seen, f"{name} imports {node.module} in a way that the digest misses"
                assert not hasattr(sys.modules[node.module], "__path__"), f"{name} imports from a package"
