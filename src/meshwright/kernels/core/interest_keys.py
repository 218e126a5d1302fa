"""An interest as one number, the key of its topic and its node, inside kernels."""

from meshwright.kernels.compiling import inlined
from meshwright.runtime.packing import first_of, pack, second_of

interest_key, topic_of, node_of = inlined(pack), inlined(first_of), inlined(second_of)
