"""How programs are brought, where apt-get, dpkg and ldd are stand-ins: no test needs a network."""

import subprocess
from pathlib import Path

import pytest

from scripts import programs
from scripts.programs import CHROMIUM, MOSQUITTO, NoProgramError, bring

# Packages depend on each other like this: mosquitto, libfirst1, libsecond2.
APT_GET = """
echo "$*" >>"$STEPS"
case "$*" in *" update") touch "$STEPS.updated"; exit ;; esac
[ -z "$OLD_LISTS" ] || [ -e "$STEPS.updated" ] || { echo "E: Unable to locate package" >&2; exit 100; }
while [ "$1" != download ]; do shift; done
shift
for name; do touch "${name}_1_amd64.deb"; done
"""
DPKG = """
case "$1 $2" in
-x\\ *mosquitto_*)
    mkdir -p "$3/usr/sbin"
    printf '#!/bin/sh\\necho "$LD_LIBRARY_PATH $*"\\n' >"$3/usr/sbin/mosquitto"
    chmod +x "$3/usr/sbin/mosquitto" ;;
-x\\ *libfirst1_*) mkdir -p "$3/usr/lib/here"; touch "$3/usr/lib/here/libfirst.so.1" ;;
-x\\ *libsecond2_*) [ -n "$BROKEN" ] || { mkdir -p "$3/lib/there"; touch "$3/lib/there/libsecond.so.2"; } ;;
-f\\ *mosquitto_*) echo "adduser (>= 3.10), libc6 (>= 2.36), libfirst1 (>= 1) | libother, lsb-base" ;;
-f\\ *libfirst1_*) echo "libc6, libsecond2" ;;
esac
"""
LDD = """
for name in $NEEDED; do
    found=
    IFS=:
    for folder in $LD_LIBRARY_PATH; do [ ! -e "$folder/$name" ] || found=$folder/$name; done
    echo "	$name => ${found:-not found} (0x0)"
done
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tools of a machine without Mosquitto that lacks two libraries, in a folder of their own."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, script in {"apt-get": APT_GET, "dpkg": DPKG, "ldd": LDD}.items():
        program(tools / name, script)
    monkeypatch.setattr(programs, "PLACES", ())
    monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
    monkeypatch.setenv("STEPS", str(tmp_path / "steps"))
    monkeypatch.setenv("NEEDED", "libfirst.so.1 libsecond.so.2")
    for name in ("OLD_LISTS", "BROKEN"):
        monkeypatch.setenv(name, "")
    monkeypatch.delenv("MESHWRIGHT_MOSQUITTO", raising=False)
    return tools


@pytest.fixture
def venv(tmp_path: Path) -> Path:
    """An environment, in a folder with a space in its name."""
    (tmp_path / "a venv" / "bin").mkdir(parents=True)
    return tmp_path / "a venv"


def program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}")
    path.chmod(0o755)


def fetched(machine: Path) -> list[str]:
    """What was asked of apt-get."""
    steps = machine.parent / "steps"
    return steps.read_text().splitlines() if steps.exists() else []


def test_the_machines_own_is_taken(machine: Path, venv: Path) -> None:
    program(machine / "mosquitto", "")
    assert bring(MOSQUITTO, venv) == machine / "mosquitto"
    assert fetched(machine) == []


def test_the_one_that_is_named_is_taken(machine: Path, venv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(machine / "mosquitto", "")
    program(machine / "another", "")
    monkeypatch.setenv("MESHWRIGHT_MOSQUITTO", str(machine / "another"))
    assert bring(MOSQUITTO, venv) == machine / "another"


def test_it_is_unpacked_with_the_libraries_that_are_missing(machine: Path, venv: Path) -> None:
    launcher = bring(MOSQUITTO, venv)
    home = venv / "share" / "mosquitto"
    said = subprocess.check_output([launcher, "-c", "a b"], text=True)
    assert said == f"{home}/lib/there:{home}/usr/lib/here -c a b\n"
    assert fetched(machine) == ["download mosquitto", "download libfirst1", "download libsecond2"]


def test_no_library_is_fetched_where_none_is_missing(
    machine: Path, venv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEEDED", "")
    bring(MOSQUITTO, venv)
    assert fetched(machine) == ["download mosquitto"]


def test_it_is_unpacked_once(machine: Path, venv: Path) -> None:
    first = bring(MOSQUITTO, venv)
    before = fetched(machine)
    assert bring(MOSQUITTO, venv) == first
    assert fetched(machine) == before


def test_lists_of_packages_that_are_too_old_are_fetched_aside(
    machine: Path, venv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLD_LISTS", "1")
    bring(MOSQUITTO, venv)
    _, update, download, *_ = fetched(machine)
    assert update.endswith(" update")
    assert f"Dir::State::lists={venv}" in update
    assert update.removesuffix("update") == download.removesuffix("download mosquitto")


@pytest.mark.parametrize("tool", ["apt-get", "dpkg"])
def test_a_machine_without_the_tools_is_told_what_to_do(
    machine: Path, venv: Path, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    (machine / tool).unlink()
    monkeypatch.setenv("PATH", str(machine))
    with pytest.raises(
        NoProgramError, match=rf"no {tool} to bring it; install the package mosquitto, or set"
    ):
        bring(MOSQUITTO, venv)


def test_a_failure_is_told_with_its_reason_and_leaves_nothing(machine: Path, venv: Path) -> None:
    program(machine / "dpkg", "echo 'no space left' >&2; exit 2")
    with pytest.raises(NoProgramError, match=r"dpkg can't bring it \(no space left\); install the package"):
        bring(MOSQUITTO, venv)
    assert not list(venv.glob("bin/*"))
    assert not list(venv.glob("share/*"))


def test_a_library_that_no_package_brings_is_named(
    machine: Path, venv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROKEN", "1")
    with pytest.raises(NoProgramError, match=r"needs libsecond\.so\.2, which can't be found"):
        bring(MOSQUITTO, venv)


def test_every_program_is_tried_and_each_that_is_missing_is_told(
    machine: Path, venv: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MESHWRIGHT_MOSQUITTO", "/nowhere")
    monkeypatch.setenv("MESHWRIGHT_CHROMIUM", "")
    monkeypatch.setenv("PATH", str(machine))
    program(machine / "google-chrome", "")
    assert bring(CHROMIUM, venv) == machine / "google-chrome"
    (machine / "google-chrome").unlink()
    (machine / "dpkg").unlink()
    assert programs.main(venv) == 2
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(",")[0] for line in told] == [
        "meshwright: MESHWRIGHT_MOSQUITTO is /nowhere",
        "meshwright: there is no Chromium",
    ]
    assert told[1].endswith("install the package chromium, or set MESHWRIGHT_CHROMIUM to the program")
