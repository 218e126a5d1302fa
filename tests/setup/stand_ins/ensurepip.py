"""Stands in for `python -m ensurepip`: the stand-in for pip is there already."""

import os

if __name__ == "__main__":
    with open(os.environ["STEPS"], "a") as steps:
        steps.write("ensurepip\n")
