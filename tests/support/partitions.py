"""Ways of Spark to spread its rows, as a test chooses."""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from dbce_spark.spark.engine.session import applied_settings
from dbce_spark.spark.engine.small_run_settings import ADAPTIVE, PARTITIONS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def spread_over(spark: "SparkSession", partitions: int) -> AbstractContextManager[None]:
    """Every shuffle has this many partitions, and adaptive execution does not put them together again."""
    return applied_settings(spark, settings(partitions))


def settings(partitions: int) -> dict[str, str]:
    """Return Spark's settings for that. Plans are interpreted: to compile one takes longer than to walk it for a few
    rows."""
    return {
        PARTITIONS: str(partitions),
        ADAPTIVE: "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
