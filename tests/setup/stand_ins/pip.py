"""Stands in for `python -m pip install uv==…`: puts a uv there that does what the test wants of `uv sync`."""

import os
import stat
import sys
from pathlib import Path

UV = """#!/bin/sh
case $1 in
--version) echo "uv ${UV_VERSION:-PINNED} (a stand-in)"; exit ;;
pip) echo "uninstall $*" >>"$STEPS"; eval "${UV_UNINSTALL:-}"; exit ;;
esac
echo "uv $*" >>"$STEPS"
for name in meshwright pytest; do
    printf '#!/bin/sh\\necho %s; for word; do echo "<$word>"; done\\n' "$name" >".venv/bin/$name"
    chmod +x ".venv/bin/$name"
done
eval "${UV_SYNC:-}"
"""

if __name__ == "__main__":
    with open(os.environ["STEPS"], "a") as steps:
        steps.write(f"pip {' '.join(sys.argv[1:])}\n")
    if "PIP_SAYS" in os.environ:
        sys.exit(os.environ["PIP_SAYS"])
    uv = Path(sys.executable).parent / "uv"
    uv.write_text(UV.replace("PINNED", sys.argv[-1].removeprefix("uv==")))
    uv.chmod(uv.stat().st_mode | stat.S_IXUSR)
