"""A web archive of our own making, with labels: for the demo, the tests and the scale benchmarks."""

from benchmarks.samples.sample_archive import Summary, write_archive
from benchmarks.samples.sample_month import write_month

__all__ = ["Summary", "write_archive", "write_month"]
