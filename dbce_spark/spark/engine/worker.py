"""Settings of a process that reads pages: a Python worker of Spark, or that of a run without Spark."""

import gc
from functools import cache

_CONTAINERS = 50_000
"""New lists, dicts and tuples behind which Python looks for cycles. After each 700, as it does of itself, a walk over a
page would be searched a dozen times; it leaves none. A tenth of the time of reading goes into that."""


@cache
def prepare() -> None:
    """Set up garbage collection, once in each process."""
    gc.freeze()  # libraries, which stay
    gc.set_threshold(_CONTAINERS, 20, 100)
