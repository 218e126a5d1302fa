"""The folder of a plan: plan.json to read and review, the files of all brokers, and an inventory for lint.

plan.json                            the plan, and its checksum
lint.json                            an inventory for meshwright lint
brokers/NODE/conf.d/meshwright.conf  what the node's broker gets
manifest.json                        size and checksum of every file
"""

import json
from pathlib import Path

from meshwright.deploy.drivers import driver_of
from meshwright.deploy.drivers.driver import Driver, safe_name
from meshwright.deploy.inventory import Entry, read_inventory
from meshwright.deploy.lint.findings import Finding
from meshwright.deploy.lint.linting import lint
from meshwright.deploy.plan.plan import FILE, Plan
from meshwright.model.storage.dataset import check_free, draft, writing
from meshwright.model.storage.manifest import make_manifest, write_manifest
from meshwright.runtime.errors import InputError
from meshwright.runtime.progress import Progress, stage

LINT = "lint.json"


def own_file(driver: Driver, node: str) -> str:
    """Where the file of a node is in the folder of a plan."""
    return f"brokers/{safe_name(node)}/conf.d/{driver.file}"


def write_plan(plan: Plan, out: Path, *, force: bool = False, progress: Progress | None = None) -> None:
    """Write the folder of a plan, after lint has found nothing wrong with the files.

    Raises:
        InputError: the brokers can't express the plan.
    """
    check_free(out, force, [])
    driver = driver_of(plan.driver)
    driver.check(plan)
    with draft(out, force) as folder, writing(out):
        with stage(progress, "writing files", len(plan.hosts)):
            _write_files(plan, driver, folder)
        with stage(progress, "linting the files"):
            found = findings(folder)
        if found:
            raise InputError(
                f"lint says of the rendered files: {found[0].message} [{found[0].rule}]; please report this, "
                f"with the overlay"
            )
        write_manifest(folder, make_manifest("plan", counts_of(plan), {}, {}, {"command": "deploy plan"}))


def _write_files(plan: Plan, driver: Driver, folder: Path) -> None:
    texts = {FILE: plan.text(), LINT: _lint_inventory(plan, driver), **driver.bundle(plan)}
    texts |= {own_file(driver, host.node): driver.render(plan, host.node) for host in plan.hosts}
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")


def findings(folder: Path) -> list[Finding]:
    """What lint has to say of the files of a plan, but for notes, and for passwords: those are references."""
    entries = [entry for entry in read_inventory(folder / LINT) if any(_links(entry))]
    if not entries:
        return []
    known = read_inventory(folder / LINT)
    report = lint([file for entry in entries for file in entry.files], known)
    return [each for each in report.findings if each.severity != "note" and each.rule != "secret"]


def _links(entry: Entry) -> list[bool]:
    """Whether files of a broker say more than whose they are."""
    return [True for file in entry.files if file.read_text(encoding="utf-8").count("\n") > 1]


def _lint_inventory(plan: Plan, driver: Driver) -> str:
    """All brokers with their addresses, and their filters as what clients there subscribe to and publish."""
    brokers = [
        {
            "name": host.node,
            "kind": driver.broker,
            "files": [own_file(driver, host.node)],
            "addresses": [f"{host.host}:{host.port}"],
            "version": host.version or "2.0",
            "subscribes": list(plan.wants[host.node]),
            "publishes": list(plan.wants[host.node]),
        }
        for host in plan.hosts
    ]
    return f"{json.dumps({'brokers': brokers}, indent=1, ensure_ascii=False)}\n"


def counts_of(plan: Plan) -> dict[str, int]:
    """How large a plan is."""
    return {
        "brokers": len(plan.hosts),
        "links": len(plan.links),
        "topics": len(plan.topics),
        "lines": sum(len(link.lines) for link in plan.links),
        "relays": sum(len(topic.relays) for topic in plan.topics),
        "unused": len(plan.unused),
        "standby": len({frozenset((link.opens, link.to)) for link in plan.standby}),
    }
