"""Measure how the cost of a run grows with its input, and the effect of difficult shapes: `python -m benchmarks scale`.

Every run is a `dbce extract` of its own, so that each begins with a fresh Java. Seconds of processors are compared, of
one machine within one measurement; they hold still better than the clock, but not well on a machine that others use.
"""

from benchmarks.scale.measurement import PARTS, Measurement, Request

__all__ = ["PARTS", "Measurement", "Request"]
