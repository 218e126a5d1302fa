"""Duality: prices that topics pay for edges, the bound that they prove, and overlays guided by them."""
