"""The seconds that each phase of the method takes (thesis 4.3, figures 4.4 to 4.6)."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

PHASES = ("prepare", "annotate", "classify", "classify_pp", "learn", "reclassify", "merge")
"""Stage 1 (parsing, the DOM and its metrics), the five phases of stage 2 that the thesis times, and stage 3."""


class Clock:
    """Seconds of CPU by phase, summed over all that was timed with it."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(PHASES, 0.0)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        started = time.process_time()
        try:
            yield
        finally:
            self.seconds[name] += time.process_time() - started
