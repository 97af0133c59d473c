"""Find the main content of every page in a web archive by comparing it with its siblings, its past and its future."""

__version__ = "0.1.0"
