"""`meshwright check-certificate`: whether a certificate proves its lower bound."""

from pathlib import Path
from typing import Annotated

import typer

from meshwright.cli.common import Json, print_json
from meshwright.runtime.errors import InputError
from meshwright.runtime.places import local_path
from meshwright.runtime.wording import count

EPILOG = """The exit code is 1 if the certificate does not prove its bound.

**Examples**

`meshwright evaluate overlay --bound tight --certificate bound.json`

`meshwright check-certificate overlay bound.json`
"""


def check_certificate(
    dataset: Annotated[str, typer.Argument(metavar="DIR", help="A dataset with the interests.")],
    certificate: Annotated[
        Path, typer.Argument(metavar="FILE", help="A certificate that evaluate --certificate has written.")
    ],
    as_json: Json = False,
) -> None:
    """Check the proof of a lower bound, in exact arithmetic and apart from the code that found it."""
    from meshwright.metrics.certificate_checker import NoCertificateError, RefutedError, check_files
    from meshwright.model.storage.manifest import read_manifest

    folder = local_path(dataset)
    read_manifest(folder)
    reason, edges, cost = None, None, None
    try:
        edges, cost = check_files(folder, certificate)
    except NoCertificateError as error:
        raise InputError(
            f"{certificate} is no certificate for {dataset}: {error}; write one with evaluate --certificate",
            path=certificate,
        ) from None
    except RefutedError as error:
        reason = str(error)
    if as_json:
        least = {} if cost is None else {"cost": float(cost)}
        print_json({"valid": reason is None, "edges": edges, **least, "reason": reason})
    elif reason is None:
        print(f"Proven: every topic-connected overlay of {dataset} has at least {count(edges or 0, 'link')}.")
        if cost is not None:
            print(f"Proven: its links cost at least {float(cost):,.6g} together.")
    else:
        print(f"Not proven: {reason}.")
    if reason is not None:
        raise typer.Exit(1)
