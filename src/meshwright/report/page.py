"""The pages as files: written whole, or not at all."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from meshwright.report.contents import Contents


def write_report(path: Path, contents: Contents) -> None:
    """Write the report of a run to `path`, in place of what is there."""
    raise NotImplementedError


def write_profile_page(path: Path, profile: Mapping[str, Any]) -> None:
    """Write the page of a dataset's profile to `path`, in place of what is there."""
    raise NotImplementedError
