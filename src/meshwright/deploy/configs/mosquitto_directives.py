"""The directives of Mosquitto, up to version 2.1."""

SECRETS = ("remote_password", "password", "local_password", "bridge_psk", "tls_engine_kpass_sha1")
"""Those with a secret as their value."""

PREFIXES = ("auth_opt_", "plugin_opt_")
"""How options of plugins begin."""

_BROKER = """
accept_protocol_versions acl_file allow_anonymous allow_duplicate_messages allow_zero_length_clientid
auth_plugin auth_plugin_deny_special_chars auto_id_prefix autosave_interval autosave_on_changes
check_retain_source clientid_prefixes connection_messages enable_control_api global_max_clients
global_max_connections global_plugin include_dir log_dest log_facility log_timestamp log_timestamp_format
log_type max_inflight_bytes max_inflight_messages max_keepalive max_packet_size max_queued_bytes
max_queued_messages memory_limit message_size_limit packet_buffer_size password_file per_listener_settings
persistence persistence_file persistence_location persistent_client_expiration pid_file plugin plugin_load
plugin_use psk_file queue_qos0_messages retain_available retain_expiry_interval retained_persistence
retry_interval set_tcp_nodelay store_clean_interval sys_interval upgrade_outgoing_qos user
websockets_headers_size websockets_log_level websockets_origin
"""

_LISTENER = """
bind_address bind_interface cafile capath certfile ciphers ciphers_tls1.3 crlfile dhparamfile
disable_client_cert_date_checks enable_proxy_protocol http_dir keyfile listener listener_allow_anonymous
listener_auto_id_prefix max_connections max_qos max_topic_alias max_topic_alias_broker mount_point port
protocol proxy_protocol_v2_require_tls psk_hint require_certificate socket_domain tls_engine
tls_engine_kpass_sha1 tls_keyform tls_version use_identity_as_username use_subject_as_username
use_username_as_clientid
"""

_BRIDGE = """
address addresses bridge_alpn bridge_attempt_unsubscribe bridge_bind_address bridge_cafile bridge_capath
bridge_certfile bridge_ciphers bridge_ciphers_tls1.3 bridge_clean_start bridge_identity bridge_insecure
bridge_keyfile bridge_max_packet_size bridge_max_topic_alias bridge_outgoing_retain bridge_protocol_version
bridge_psk bridge_receive_maximum bridge_reload_type bridge_require_ocsp bridge_session_expiry_interval
bridge_tcp_keepalive bridge_tcp_user_timeout bridge_tls_use_os_certs bridge_tls_version cleansession
clientid connection idle_timeout keepalive_interval local_cleansession local_clientid local_password
local_username notification_topic notifications notifications_local_only password remote_clientid
remote_password remote_username restart_timeout round_robin start_type threshold topic try_private username
"""

_TRUE_OR_FALSE = """
allow_anonymous allow_zero_length_clientid autosave_on_changes check_retain_source connection_messages
log_timestamp per_listener_settings persistence queue_qos0_messages retain_available set_tcp_nodelay
upgrade_outgoing_qos require_certificate use_identity_as_username use_subject_as_username
use_username_as_clientid bridge_insecure bridge_outgoing_retain bridge_require_ocsp cleansession
local_cleansession notifications notifications_local_only round_robin
"""

_ONCE = {
    "broker": """
        acl_file auto_id_prefix clientid_prefixes log_timestamp_format password_file persistence_file
        persistence_location pid_file psk_file user
    """,
    "listener": """
        bind_address bind_interface cafile capath certfile ciphers ciphers_tls1.3 crlfile dhparamfile http_dir
        keyfile mount_point psk_hint tls_engine tls_version
    """,
    "bridge": """
        bridge_alpn bridge_bind_address bridge_cafile bridge_capath bridge_certfile bridge_identity
        bridge_keyfile bridge_psk bridge_tls_version clientid local_clientid local_password local_username
        notification_topic password remote_clientid remote_password remote_username username
    """,
}
ONCE = {name: scope for scope, names in _ONCE.items() for name in names.split()}
"""By directive, where it may stand only once: Mosquitto 2.0.11 does not start with a second one."""

PER_LISTENER = frozenset({"acl_file", "auto_id_prefix", "password_file", "psk_file"})
"""Those of the broker that belong to listeners with `per_listener_settings true`."""

SAME = {"clientid": "remote_clientid", "password": "remote_password", "username": "remote_username"}
"""Old names of directives."""

CHOICES = {
    "log_dest": ("stdout", "stderr", "none", "syslog", "topic", "file", "dlt", "android"),
    "log_facility": tuple("01234567"),
    "log_type": (
        *("none", "all", "error", "warning", "notice", "information", "debug"),
        *("subscribe", "unsubscribe", "internal", "websockets"),
    ),
    "max_qos": tuple("012"),
    "protocol": ("mqtt", "websockets", "http_api"),
    "socket_domain": ("ipv4", "ipv6"),
    "start_type": ("automatic", "lazy", "once"),
}
"""The first words of the values of those that have few; Mosquitto does not start with another."""

BOOLEANS = frozenset(_TRUE_OR_FALSE.split())
"""Those whose value is true or false."""

DIRECTIVES = frozenset((_BROKER + _LISTENER + _BRIDGE).split())
"""All of them."""
