"""Gossip overlays: a random view for each topic, and StaN, which lets the views of a node share links.

Five protocols without I/O, each on `net.Protocol`: `membership.Scamp` and `membership.Leases` (who is in
whose view), `peer.KeepAlive` (who is still there), `peer.Stan` (which links are shared) and
`peer.Dissemination` (events). `peer.Peer` runs all of them on a node, over the same views.
"""
