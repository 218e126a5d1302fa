"""Sets of filters, closed under intersection."""
