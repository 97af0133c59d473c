"""Ways of Spark to spread its rows, as a test chooses."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from dbce_spark.spark.engine.session import applied_settings
from dbce_spark.spark.engine.small_run_settings import ADAPTIVE, PARTITIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COMPILED = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}
"""Spark's own way with plans, which the session of the tests interprets."""


def spread_over(spark: "SparkSession", partitions: int) -> AbstractContextManager[None]:
    """Every shuffle has this many partitions, and adaptive execution does not put them together again."""
    return applied_settings(spark, settings(partitions))


def settings(partitions: int) -> dict[str, str]:
    """Return Spark's settings for that."""
    return {PARTITIONS: str(partitions), ADAPTIVE: "false"}
