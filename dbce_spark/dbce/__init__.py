"""Diff Based Content Extraction: the method in plain Python. `local.py` holds all of it on one screen."""
