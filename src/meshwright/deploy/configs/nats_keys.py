"""Which directives nats-server knows, and which of their values are secrets."""

import re
from collections.abc import Iterator

from meshwright.deploy.configs.source import Findings, holds_password
from meshwright.deploy.configs.tree import TYPE_WORDS, Node, Outside

_TOP = """
    listen client_advertise port server_name host net debug trace trace_verbose trace_headers logtime
    logtime_utc mappings maps disable_sublist_cache accounts authorization http https http_port
    monitor_port http_base_path https_port cluster gateway leaf leafnodes store_dir storedir jetstream
    logfile log_file logfile_size_limit log_size_limit logfile_max_num log_max_num syslog remote_syslog
    pidfile pid_file ports_file_dir prof_port max_control_line max_payload max_pending max_connections
    max_conn max_traced_msg_len max_subscriptions max_subs max_subscription_tokens max_sub_tokens
    ping_interval ping_max tls allow_non_tls write_deadline write_timeout lame_duck_duration
    lame_duck_grace_period operator operators roots root root_operators root_operator resolver
    resolver_tls resolver_preload resolver_pinned_accounts no_auth_user system_account system
    no_system_account no_system no_sys_acc no_header_support trusted trusted_keys connect_error_reports
    reconnect_error_reports websocket ws mqtt server_tags default_js_domain default_sentinel ocsp
    ocsp_cache feature_flags account_resolver prof_block_rate no_fast_producer_stall max_closed_clients
    proxies server_metadata
"""
_LEAFNODES = """
    port listen host authorization remotes reconnect reconnect_delay reconnect_interval tls no_advertise
    advertise min_version minimum_version compression isolate_leafnode_interest isolate write_deadline
    write_timeout
"""
_REMOTE = """
    no_randomize dont_randomize url urls account local creds credentials nkey seed tls hub deny_imports
    deny_import deny_exports deny_export ws_compress ws_compression ws_no_masking websocket_no_masking
    jetstream_cluster_migrate js_cluster_migrate compression first_info_timeout
    isolate_leafnode_interest isolate request_isolation disabled ignore_discovered_servers proxy
"""
_ACCOUNT = """
    nkey imports exports jetstream users default_permissions mappings maps limits msg_trace trace_dest
"""
_CLUSTER = """
    name listen port host authorization routes tls cluster_advertise advertise no_advertise
    connect_retries permissions pool_size accounts compression ping_interval connect_backoff
    write_deadline write_timeout
"""
_GATEWAY = """
    name listen port host authorization tls advertise connect_retries connect_backoff gateways
    reject_unknown reject_unknown_cluster write_deadline write_timeout
"""
_IMPORT = """
    stream service prefix to share allow_trace
"""
_EXPORT = """
    stream service response response_type threshold response_threshold response_max_time response_time
    accounts latency account_token_position allow_trace
"""
_AUTHORIZATION = """
    user username pass password token users timeout permissions default_permission default_permissions
    auth_callout auth_hook proxy_required
"""
_LEAF_AUTHORIZATION = "user username pass password nkey account users timeout proxy_required"
_USER = """
    user username pass password nkey permission permissions authorization allowed_connection_types
    connection_types clients proxy_required
"""
_LEAF_USER = "user username pass password account proxy_required"
_PERMISSIONS = """
    pub publish import sub subscribe export publish_allow_responses allow_responses
"""
_SUBJECTS = "allow deny"
_MAPS = ("cluster", "gateway", "leafnodes", "leaf", "authorization", "websocket", "mqtt")
_NO_START = "nats-server does not start with it"

_SECRETS = {"password": "a password", "pass": "a password", "token": "a token", "seed": "a seed"}
_STORE_KEYS = ("key", "ek", "encryption_key", "prev_key", "prev_ek", "prev_encryption_key")
_HASH = re.compile(r"\$2[abxy]\$")
_SEED = re.compile(r"S[UAONCX][A-Z2-7]{40,}")
_URLS = ("url", "urls", "routes")
_STORE_WAY_OUT = "take it from the environment ($NAME)"
_WAY_OUT = "take it from the environment ($NAME) or from a credentials file, or give its bcrypt hash"


def check_keys(root: Node, variables: set[str], findings: Findings) -> None:
    """Report once each directive that nats-server 2.15 does not know, and that is no variable."""
    for where, known, block in _blocks(root):
        names = {*known.split(), *(name.lower() for name in variables)}
        for key, value in block.entries.items():
            if key.lower() not in names:
                findings.unknown(key, where, names, value.place)


def _blocks(root: Node) -> Iterator[tuple[str, str, Node]]:
    """The blocks whose directives are known, each with its name."""
    leaf = root.at("leafnodes", "leaf")
    yield "the configuration", _TOP, root
    yield "leafnodes", _LEAFNODES, leaf
    yield "cluster", _CLUSTER, root.at("cluster")
    yield "gateway", _GATEWAY, root.at("gateway")
    for remote in leaf.at("remotes").elements:
        yield "a remote of leafnodes", _REMOTE, remote
    yield "authorization of leafnodes", _LEAF_AUTHORIZATION, leaf.at("authorization")
    for user in leaf.at("authorization").at("users").elements:
        yield "a user of leafnodes", _LEAF_USER, user
    yield "authorization", _AUTHORIZATION, root.at("authorization")
    yield from _permission_blocks(root.at("authorization"))
    for account in root.at("accounts").entries.values():
        yield "an account", _ACCOUNT, account
        yield from _permission_blocks(account)
        for key, known in (("imports", _IMPORT), ("exports", _EXPORT)):
            for each in account.at(key).elements:
                yield key, known, each


def _permission_blocks(block: Node) -> Iterator[tuple[str, str, Node]]:
    """The users of an account or of an authorization block, and what they may do."""
    users = block.at("users").elements
    for user in users:
        yield "a user", _USER, user
    owners: list[tuple[Node, tuple[str, ...]]] = [(block, ("default_permissions", "default_permission"))]
    owners += [(user, ("permissions", "permission", "authorization")) for user in users]
    for owner, names in owners:
        permissions = owner.at(*names)
        yield "permissions", _PERMISSIONS, permissions
        for subjects in (("publish", "pub", "import"), ("subscribe", "sub", "export")):
            yield "permissions of subjects", _SUBJECTS, permissions.at(*subjects)


def check_types(root: Node, findings: Findings) -> None:
    """Report blocks and ports of other types than nats-server 2.15 reads: it does not start with them."""
    for key in _MAPS:
        _check_type(key, root.at(key), dict, findings)
    if not isinstance(root.at("accounts").value, list):
        _check_type("accounts", root.at("accounts"), dict, findings)
    _check_type("leafnodes.remotes", root.at("leafnodes", "leaf").at("remotes"), list, findings)
    for where, block in (("", root), *((f"{key}.", root.at(key)) for key in _MAPS)):
        port = block.at("port")
        if port.value is not None and not isinstance(port.value, int | Outside):
            findings.wrong_type(f"{where}port", port, "a number", _NO_START)
    both = root.at("gateway").entries and root.at("leafnodes", "leaf").entries
    if both and not any(key in root.entries for key in ("system_account", "system", "operator")):
        message = (
            "gateways and leaf nodes together need a system account, and nats-server does not start without "
            "it; add system_account"
        )
        findings.say("unreadable", "error", message, root.at("gateway").place)


def _check_type(what: str, node: Node, wanted: type, findings: Findings) -> None:
    if node.value is not None and not isinstance(node.value, wanted | Outside):
        findings.wrong_type(what, node, TYPE_WORDS[wanted], _NO_START)


def check_secrets(root: Node, findings: Findings) -> None:
    """Report secrets in clear text: passwords, tokens, seeds, keys of JetStream, URLs with a password."""
    store = root.at("jetstream")
    for key in (key for key in store.entries if key.lower() in _STORE_KEYS):
        if store.entries[key].text:
            findings.secret("the key of JetStream", _STORE_WAY_OUT, store.entries[key].place)
    for key, node in root.walk():
        name = key.lower()
        what = _SECRETS.get(name)
        if what and node.text and not _HASH.match(node.text):
            findings.secret(what, _WAY_OUT, node.place)
        elif name == "nkey" and _SEED.fullmatch(node.text or ""):
            findings.secret("a seed", _WAY_OUT, node.place)
        else:
            for text, each in ((each.text or "", each) for each in node.elements):
                if (name in _URLS or "://" in text) and holds_password(text):
                    findings.secret("a password", _WAY_OUT, each.place)
