"""Experiments of the publications that the product implements, made again. A plain install does not need them."""
