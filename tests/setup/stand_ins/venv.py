"""Stands in for `python -m venv --clear FOLDER`: just a python that sees the stand-ins too."""

import os
import shutil
import sys
from pathlib import Path

if __name__ == "__main__":
    folder = Path(sys.argv[-1])
    with open(os.environ["STEPS"], "a") as steps:
        steps.write("venv\n")
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
