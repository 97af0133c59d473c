"""Extractors under one signature: our own, those of other people, and those made of extractors."""
