"""Addresses and names of this machine that no other machine can reach."""

from ipaddress import ip_address

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def is_loopback(host: str) -> bool:
    """Whether only this machine can connect to a host."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
