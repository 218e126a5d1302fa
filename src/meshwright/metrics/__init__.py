"""How good an overlay is: degrees, connectivity, diameters, clustering, and how far from optimal."""

from meshwright.metrics.evaluation import Evaluation, evaluate

__all__ = ["Evaluation", "evaluate"]
