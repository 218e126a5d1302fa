"""How good an overlay is: degrees, connectivity, diameters, clustering, and how far from optimal."""
