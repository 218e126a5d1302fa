# Sourced by the launchers, with $root set to the checkout.

fail() {
    printf 'meshwright: %s\n' "$1" >&2
    exit 2
}

# Prints what the Python $1 lacks to make the environment; nothing if it will do.
python_lacks() {
    "$1" -c 'import sys
if sys.version_info < (3, 11):
    sys.exit(print("is Python %d.%d, older than 3.11" % sys.version_info[:2]))
try:
    import ensurepip, venv
except ImportError:
    print("has no venv and ensurepip modules (Debian, Ubuntu: apt install python3-venv)")' 2>/dev/null ||
        echo "does not start"
}

# Sets $python to the first Python that will do.
find_python() {
    if [ -n "${MESHWRIGHT_PYTHON:-}" ]; then
        python=$MESHWRIGHT_PYTHON
        lacks=$(python_lacks "$python")
        [ -z "$lacks" ] || fail "MESHWRIGHT_PYTHON is $python, which $lacks; set it to a Python from 3.11 on, or unset it"
        return
    fi
    first=
    for python in python3 python3.15 python3.14 python3.13 python3.12 python3.11; do
        command -v "$python" >/dev/null || continue
        lacks=$(python_lacks "$python")
        [ -n "$lacks" ] || return 0
        [ -n "$first" ] || first="; $(command -v "$python") $lacks"
    done
    fail "needs Python 3.11 or newer$first; install one, or set MESHWRIGHT_PYTHON to its path"
}

# Makes sure that .venv holds the locked dependencies: $1 is runtime, or dev for the test tools too.
# The stamp is there only while .venv is whole; it names the set, the lock and the place.
ensure_environment() {
    key="$(cat "$root/pyproject.toml" "$root/uv.lock" | cksum) $root"
    if [ -x "$root/.venv/bin/python" ]; then
        stamp=$(cat "$root/.venv/meshwright-stamp" 2>/dev/null || :)
        case $stamp in "$1 $key" | "dev $key") return ;; esac
    fi
    find_python
    "$python" "$root/scripts/setup.py" "$root" "$1" "$key"
}
