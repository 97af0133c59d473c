"""`spark.read.format("warc")`: archives as a DataFrame, a row for each record. docs/source.md defines every column."""

from pyspark.sql import SparkSession

from dbce_spark.spark.source.reader import WarcDataSource

__all__ = ["WarcDataSource", "register"]

_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"


def register(spark: SparkSession) -> None:
    """Register the format "warc" with a session, and let it hand filters to data sources in Python."""
    spark.dataSource.register(WarcDataSource)
    spark.conf.set(_PUSHDOWN, "true")
