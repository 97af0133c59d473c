"""Main-content extraction for web archives, by setting each page beside its siblings and its own past and future."""

__version__ = "0.1.0"
