"""Gossip overlays: a random view for each topic, and StaN, which lets the views of a node share links.

Four protocols without I/O, each on `net.Protocol`: `membership.Scamp` (who is in whose view),
`keep_alive.KeepAlive` (who is still there), `stan.Stan` (which links are shared) and
`dissemination.Dissemination` (events). `peer.Peer` is what runs on a node: all of them over the same views.
"""
