"""A web archive of our own making, with known labels: for the demo, the tests and the scale benchmarks."""

from dbce_spark.samples.archive import Summary, write_archive
from dbce_spark.samples.month import write_month

__all__ = ["Summary", "write_archive", "write_month"]
