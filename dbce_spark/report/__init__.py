"""Report on a run: static HTML that shows what was read, what was found, and some pages with their labels."""

from dbce_spark.report.report_folder import write_report

__all__ = ["write_report"]
