"""Work that a time limit has to end."""

import time

PATIENCE = 60
"""Seconds after which nothing has ended it."""


def compute_for_ever(*_: object) -> None:
    """Compute until stopped, or until it is clear that nothing does."""
    until = time.process_time() + PATIENCE
    while time.process_time() < until:
        pass
    raise AssertionError("nothing has stopped it")
