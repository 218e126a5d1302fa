"""A folder that only this user can look into, for what Spark writes while it runs."""

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from stat import S_IMODE

from meshwright.errors import SparkError


def private_folder() -> Path:
    """`meshwright-UID` in the folder for temporary files, made on first use: mode 0700, whatever the umask.

    Its name can be known beforehand, so what is there already is used only if it is a folder and this
    user's, and no link: anything else is a SparkError. Spark itself makes the folders of blocks, which hold
    rows of the data, readable by all.
    """
    folder = Path(tempfile.gettempdir()) / f"meshwright-{os.getuid()}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise _refusal(folder, f"is a link, no folder, or closed to you ({error.strerror})") from None
    try:
        if os.fstat(opened).st_uid != os.getuid():
            raise _refusal(folder, "belongs to another user")
        os.fchmod(opened, 0o700)
    finally:
        os.close(opened)
    return folder


def is_safe(*paths: Path) -> bool:
    """Whether nobody but this user and root can have made these, or can change them; a link never is."""
    return all(
        not path.is_symlink()
        and (found := path.lstat()).st_uid in (0, os.getuid())
        and not S_IMODE(found.st_mode) & 0o022
        for path in paths
    )


def _refusal(folder: Path, why: str) -> SparkError:
    return SparkError(
        f"{folder}, where Spark would put its scratch files, {why}; remove it, or set TMPDIR to a folder "
        f"of your own"
    )
