"""Accounts of a NATS server: who belongs to which, what they import from each other, what users may do."""

import re
from collections.abc import Iterable, Iterator, Mapping

from meshwright.deploy.configs.nats_cycles import Import, TooManyImportsError, cycles
from meshwright.deploy.configs.source import Findings
from meshwright.deploy.configs.subjects import checked, covers
from meshwright.deploy.configs.tree import Node
from meshwright.deploy.mesh import SERVICE_STAGE, STREAM_STAGE, Door, Flow
from meshwright.runtime.errors import quoted

GLOBAL = "$G"
"""The account of those that name none."""

_PLACEHOLDER = re.compile(r"\$(\d+)|\{\{\s*wildcard\((\d+)\)\s*\}\}", re.IGNORECASE)
_MOST_SHOWN = 5

Accounts = Mapping[str, Node]


def accounts_of(node: Node) -> Accounts:
    """By name, the accounts of a server; a list of names is a way to write accounts without anything."""
    if isinstance(node.value, list):
        return {name: each for each in node.elements if (name := each.text)}
    return {name: lowered(account) for name, account in node.entries.items()}


def lowered(node: Node) -> Node:
    """A map whose keys are in lower case, as the server reads directives."""
    if not node.entries:
        return node
    return node._replace(value={key.lower(): value for key, value in node.entries.items()})


def doors_of(root: Node, leaf: Node, accounts: Accounts, findings: Findings) -> tuple[Door, ...]:
    """What leaf nodes join here, by user; nothing where the file does not tell (operators, callouts)."""
    own = lowered(leaf.at("authorization"))
    doors = list(_own_doors(own))
    if doors:
        return tuple(doors)
    common = lowered(root.at("authorization"))
    if has_operator(root) or common.at("auth_callout", "auth_hook").value is not None:
        return ()
    named = {door.user: door for door in _client_doors(common, accounts, findings)}
    if not named:
        return (Door(account=own.at("account").text or GLOBAL),)
    anybody = named.get(root.at("no_auth_user").text)
    if anybody is None and _only_system_has_users(root, accounts, named.values()):
        anybody = Door(account=GLOBAL)
    return (*named.values(), *([anybody._replace(user=None)] if anybody else []))


def _only_system_has_users(root: Node, accounts: Accounts, doors: Iterable[Door]) -> bool:
    """Whether links without a user join the global account: there is no other one but that of the system.

    Measured with nats-server 2.15. Beside one more account, even without users, it refuses such links.
    """
    system = root.at("system_account", "system").text or "$SYS"
    return set(accounts) == {system} and all(door.account == system for door in doors)


def has_operator(root: Node) -> bool:
    """Whether accounts come from operators, and not from the file."""
    return root.at("operator", "operators", "root_operators", "trusted", "trusted_keys").value is not None


def _own_doors(own: Node) -> Iterator[Door]:
    """Users who are for leaf nodes alone."""
    for each in (own, *map(lowered, own.at("users").elements)):
        user = each.at("user", "username", "nkey").text
        if user is not None:
            yield Door(user, each.at("account").text or GLOBAL)


def _client_doors(common: Node, accounts: Accounts, findings: Findings) -> Iterator[Door]:
    """Users whom clients and leaf nodes share."""
    token = common.at("token").text
    if token is not None:
        yield Door(token, GLOBAL)
    for account, holder in ((GLOBAL, common), *accounts.items()):
        defaults = holder.at("default_permissions")
        for each in (holder, *map(lowered, holder.at("users").elements)):
            user = each.at("user", "username").text
            user = each.at("nkey").text if user is None and each is not holder else user
            if user is not None:
                yield _limited(Door(user, account), _permissions(each, defaults), findings)


def _permissions(user: Node, defaults: Node) -> Node:
    own = user.at("permissions", "permission", "authorization")
    return lowered(own if own.entries else defaults)


def _limited(door: Door, permissions: Node, findings: Findings) -> Door:
    """A door through which only what a user may publish comes in, and what it may subscribe to goes out."""
    takes, takes_not = _subjects(permissions.at("publish", "pub", "import"), findings)
    gives, gives_not = _subjects(permissions.at("subscribe", "sub", "export"), findings)
    return door._replace(takes=takes, gives=gives, takes_not=takes_not, gives_not=gives_not)


def _subjects(node: Node, findings: Findings) -> tuple[tuple[str, ...] | None, tuple[str, ...]]:
    """The subjects that a permission allows (None: all) and denies."""
    rules = lowered(node)
    allow = rules.at("allow") if rules.entries else node
    allowed = None if allow.value is None else checked(allow, "nats", findings)
    return allowed, checked(rules.at("deny"), "nats", findings)


def import_flows(server: str, accounts: Accounts, findings: Findings) -> Iterator[Flow]:
    """What goes from account to account inside a server.

    A stream goes from the exporter to the importer, a request for a service the other way. Imports that the
    server refuses carry nothing.
    """
    exported = list(_each_once(_exported_imports(accounts, findings), findings))
    refused = _refused_cycles(exported, accounts, findings)
    for found in exported:
        flow = _import_flow(server, found)
        if found in refused:
            continue
        if flow is None:
            what = f"the import of {quoted(found.subject)} as {quoted(found.local)}"
            findings.not_decided(f"lint does not follow {what}, which moves words", found.place)
        else:
            yield flow


def _each_once(imports: Iterable[Import], findings: Findings) -> Iterator[Import]:
    """The imports without those that stand twice, with which the server does not start."""
    seen = set()
    for found in imports:
        name = found.local if found.service else found.subject
        key = found.service, found.importer, found.exporter, name
        if key in seen:
            what = "service" if found.service else "stream"
            message = (
                f"account {quoted(found.importer)} imports the {what} {quoted(name)} from "
                f"{quoted(found.exporter)} twice, and nats-server does not start with it; remove one"
            )
            findings.say("unreadable", "error", message, found.place)
            continue
        seen.add(key)
        yield found


def _exported_imports(accounts: Accounts, findings: Findings) -> Iterator[Import]:
    """The imports of what another account exports; the others are told."""
    for found in _imports(accounts, findings):
        if _is_exported(found, accounts):
            yield found
            continue
        what = f"{quoted(found.importer)} imports {quoted(found.subject)} from {quoted(found.exporter)}"
        message = f"account {what}, which does not export it; nats-server refuses this: add the export"
        findings.say("useless-line", "error", message, found.place)


def _refused_cycles(imports: list[Import], accounts: Accounts, findings: Findings) -> set[Import]:
    """The imports that form cycles; each cycle is told, also where new names may save it."""
    streams = {
        name: [text for each in account.at("exports").elements if (text := lowered(each).at("stream").text)]
        for name, account in accounts.items()
    }
    refused: set[Import] = set()
    try:
        for cycle in cycles(imports, streams):
            renames = any(each.local != each.subject for each in cycle)
            refused.update(() if renames else cycle)
            severity, starts = ("warning", "may not start") if renames else ("error", "does not start")
            message = f"nats-server {starts}: {_cycle_message(cycle)}"
            findings.say("unreadable", severity, message, cycle[0].place)
    except TooManyImportsError:
        message = "lint does not look for cycles among so many imports of accounts; try nats-server -t"
        findings.not_decided(message, imports[0].place)
    return refused


def _cycle_message(cycle: list[Import]) -> str:
    shown = [
        f"{quoted(each.importer)} imports from {quoted(each.exporter)} (line {each.place.line})"
        for each in cycle[:_MOST_SHOWN]
    ]
    more = f" and {len(cycle) - _MOST_SHOWN} more" if len(cycle) > _MOST_SHOWN else ""
    what = "services" if cycle[0].service else "streams"
    return (
        f"imports of {what} form a cycle of accounts: "
        f"{', '.join(shown)}{more}; remove one of them, or narrow its subject"
    )


def _imports(accounts: Accounts, findings: Findings) -> Iterator[Import]:
    for importer, account in accounts.items():
        for each in map(lowered, account.at("imports").elements):
            kind = "service" if "service" in each.entries else "stream"
            source = lowered(each.at(kind))
            subjects = checked(source.at("subject"), "nats", findings)
            exporter = source.at("account").text
            if not subjects or exporter is None:
                continue
            subject, prefix = subjects[0], each.at("prefix").text
            local = _normal(each.at("to").text or (f"{prefix}.{subject}" if prefix else subject))
            prefixed = bool(prefix) and each.at("to").text is None
            yield Import(kind == "service", importer, exporter, subject, local, each.place, prefixed)


def _normal(subject: str) -> str:
    """A subject whose places for wildcards are wildcards again, if they come in their order."""
    found = list(_PLACEHOLDER.finditer(subject))
    numbers = [int(each[1] or each[2]) for each in found]
    return _PLACEHOLDER.sub("*", subject) if numbers == list(range(1, len(found) + 1)) else subject


def _is_exported(found: Import, accounts: Accounts) -> bool:
    kind = "service" if found.service else "stream"
    if found.exporter not in accounts:
        return False
    for each in map(lowered, accounts[found.exporter].at("exports").elements):
        exported, to = each.at(kind).text, each.at("accounts").texts
        if exported and covers(exported, found.subject, "nats") and (not to or found.importer in to):
            return True
    return False


def _import_flow(server: str, found: Import) -> Flow | None:
    old, new = (found.local, found.subject) if found.service else (found.subject, found.local)
    prefixes = _prefixes(old, new)
    if prefixes is None:
        return None
    strip, add, becomes = prefixes
    ends = (found.importer, found.exporter) if found.service else (found.exporter, found.importer)
    link = f"{server} service {found.importer} {found.local}" if found.service else f"{server} imports"
    return Flow(
        source=server,
        target=server,
        filter=old,
        strip=strip,
        add=add,
        link=link,
        place=found.place,
        account=ends[0],
        target_account=ends[1],
        becomes=becomes,
        on_demand=True,
        stage=SERVICE_STAGE if found.service else STREAM_STAGE,
    )


def _prefixes(old: str, new: str) -> tuple[str, str, str | None] | None:
    """The prefixes by which two subjects differ, or the name that a name becomes; None if more differs."""
    (old_start, old_tail), (new_start, new_tail) = _split(old), _split(new)
    if old_tail != new_tail:
        return None
    if old == new:
        return "", "", None
    return (old_start, new_start, None) if old_tail else ("", "", new)


def _split(subject: str) -> tuple[str, str]:
    """The words before the first wildcard, with their points, and the rest."""
    words = subject.split(".")
    wild = next((place for place, word in enumerate(words) if word in ("*", ">")), len(words))
    return "".join(f"{word}." for word in words[:wild]), ".".join(words[wild:])
