"""Measurements and programs around the product: what they need is not in a plain install."""
