"""Protocols on real sockets."""
