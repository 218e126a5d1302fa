"""The settings that Spark starts with, and a private folder for what it writes while it runs.

Each setting has a reason, and none replaces what the user set.
"""

import os
import re
import socket
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from stat import S_IMODE
from typing import TYPE_CHECKING

from meshwright.runtime.disk import check_disk
from meshwright.runtime.errors import OptionError, SparkError
from meshwright.runtime.machine import cores
from meshwright.runtime.memory import free_memory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
        raise _scratch_refusal(
            folder, f"is a link, is not a folder, or can't be opened ({error.strerror})"
        ) from None
    try:
        if os.fstat(opened).st_uid != os.getuid():
            raise _scratch_refusal(folder, "belongs to another user")
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


def _scratch_refusal(folder: Path, why: str) -> SparkError:
    return SparkError(
        f"{folder}, where Spark would put its scratch files, {why}; remove it, or set TMPDIR to a folder "
        f"of your own"
    )


_DAEMON = "meshwright.pipeline.spark.python_daemon"
_LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")
_LOCAL = re.compile(r"local(?:\[(\*|[1-9]\d*)(?:, *[1-9]\d*)?\])?")
_STANDALONE = re.compile(r"spark://[^\s/,]+:\d+(?:,[^\s/,]+:\d+)*")
_OTHERS = re.compile(r"yarn|k8s://\S+|local-cluster\[[\d, ]+\]")
_SECONDS_TO_ANSWER = 5

_MEGABYTE = 1 << 20
_SHARE_OF_MEMORY = 0.25
_LEAST_HEAP, _MOST_HEAP = 512 * _MEGABYTE, 6144 * _MEGABYTE


def check_master(master: str) -> None:
    """Refuse an address that Spark would not understand, or at which no standalone master answers.

    Spark itself tries an address in vain for a minute.
    """
    if _LOCAL.fullmatch(master) or _OTHERS.fullmatch(master):
        return
    if not _STANDALONE.fullmatch(master):
        raise OptionError(
            f"--master {master!r} is not a Spark master; give local[*], local[2], spark://host:7077, yarn "
            f"or k8s://https://host:443"
        )
    refused = [_master_refusal(address) for address in master.removeprefix("spark://").split(",")]
    if all(refused):
        raise SparkError(
            f"no Spark master answers at {master} ({refused[0]}); "
            f"check the address, and whether the master runs"
        )


def _master_refusal(address: str) -> str:
    """Why nobody answers at an address; nothing if somebody does."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _SECONDS_TO_ANSWER).close()
    except (OSError, OverflowError) as error:
        return str(getattr(error, "strerror", None) or error).lower()
    return ""


def is_local_master(master: str) -> bool:
    """Whether this process's machine does all the work, in one Java."""
    return bool(_LOCAL.fullmatch(master))


def launch_settings(given: dict[str, str]) -> dict[str, str]:
    """The settings that Java must be started with, and those given; all others can be made afterwards."""
    ours = {"spark.master": "local[*]", "spark.app.name": "meshwright"}
    if is_local_master((ours | given)["spark.master"]):
        # Java holds shuffles and joins; kernels and Arrow live in Python beside it and need the larger share.
        heap = min(max(int(_SHARE_OF_MEMORY * free_memory()), _LEAST_HEAP), _MOST_HEAP)
        ours["spark.driver.memory"] = f"{heap // _MEGABYTE}m"
    # Warnings and errors only, without which an error of Spark's says little; they go to the log file.
    options = f'-Dlog4j2.configurationFile={_LOG_SETTINGS.as_uri()} "-Djava.io.tmpdir={private_folder()}"'
    theirs = given.get("spark.driver.extraJavaOptions", "")
    return ours | given | {"spark.driver.extraJavaOptions": f"{options} {theirs}".strip()}


def session_settings(master: str) -> dict[str, str]:
    """What holds where neither the user nor the cluster says otherwise."""
    return _GENERAL | (_local_settings(master) if is_local_master(master) else {})


_GENERAL = {
    # No web server, so no port is fought for; the command line shows the progress itself.
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Kernels of one task use one core: Spark fills the cores with tasks.
    "spark.executorEnv.NUMBA_NUM_THREADS": "1",
    # Rows of lists are long; fewer in a batch keep batches of Arrow at some megabytes.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "8192",
    # What comes to the driver is some bytes per node or topic, which it is told to have room for.
    "spark.driver.maxResultSize": "0",
    # What does cross to pandas crosses as Arrow.
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # A task's Python ends with a traceback that names the line at fault, not Spark's own lines.
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "true",
    # The manifest says what is finished; files that are no table would only be in the way.
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    # Spark writes a checksum with every page; looking at it notices a changed file, which decoding may not.
    "spark.hadoop.parquet.page.verify-checksum.enabled": "true",
    # Lists of ids: half the size of snappy, the default, at the same speed of reading.
    "spark.sql.parquet.compression.codec": "zstd",
    # Times in inputs are read the same on every machine.
    "spark.sql.session.timeZone": "UTC",
}


def _local_settings(master: str) -> dict[str, str]:
    slots = _slots(master)
    # Another Python may lack Meshwright, which is told when it is asked for its versions.
    ours = os.environ.get("PYSPARK_PYTHON", sys.executable) == sys.executable
    return ({"spark.python.daemon.module": _DAEMON} if ours else {}) | {
        # Nothing listens beyond this machine, whatever its host name resolves to.
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        # Other users of this machine can reach that port too; Spark makes a secret for each local session.
        "spark.authenticate": "true",
        # Blocks and tables of other users' making stay out, and theirs can't look at ours.
        "spark.local.dir": str(private_folder()),
        "spark.sql.warehouse.dir": (private_folder() / "warehouse").as_uri(),
        # 200, the default, is for clusters; here each task would be over in milliseconds.
        "spark.sql.shuffle.partitions": str(4 * slots),
        "spark.default.parallelism": str(2 * slots),
    }


def check_scratch(session: "SparkSession", what: str, estimate: int) -> None:
    """Refuse work whose scratch files don't fit on this machine's disk; a cluster has disks of its own."""
    if is_local_master(session.sparkContext.master or ""):
        folders = session.conf.get("spark.local.dir", "") or str(private_folder())
        check_disk(what, estimate, Path(folders.partition(",")[0]))


def short_settings(master: str | None) -> dict[str, str]:
    """What makes little work on this machine faster, and much work slower; nothing for a cluster.

    Measured with an ingest of 10,000 rows: 19 s of processor time, start of Java included, instead of 33.
    """
    if master is not None and not is_local_master(master):
        return {}
    slots = str(_slots(master or "local[*]"))
    return {
        # To compile methods well, and each query into a class of its own, takes longer than to run them.
        "spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.shuffle.partitions": slots,
        "spark.default.parallelism": slots,
    }


def _slots(master: str) -> int:
    """How many tasks run at a time."""
    matched = _LOCAL.fullmatch(master)
    threads = matched[1] if matched else None
    return cores() if threads == "*" else int(threads or 1)
