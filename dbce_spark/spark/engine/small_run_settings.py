"""Spark settings for small runs, where planning costs more than work: Spark plans each of many small shuffles alone,
and compiles what sees a hundred rows once. docs/architecture.md has the share of their time that this takes."""

from contextlib import AbstractContextManager, nullcontext

from pyspark.sql import SparkSession

from dbce_spark.spark.engine.session import applied_settings, defaults

FEW = "spark.dbce.fewCaptures"
ADAPTIVE, PARTITIONS = "spark.sql.adaptive.enabled", "spark.sql.shuffle.partitions"
_SETTINGS = {
    # Each shuffle of a query is a job of its own, and the rest of the query is planned again behind it.
    ADAPTIVE: "false",
    # Java compiles each plan, which takes longer than to interpret it for few rows.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def are_few(spark: SparkSession, captures: int) -> bool:
    """Return whether a run over so many captures is over little."""
    return captures <= int(spark.conf.get(FEW, defaults()[FEW]) or 0)


def settings(spark: SparkSession, captures: int) -> AbstractContextManager[None]:
    """Set Spark up for so many captures within the block; the rows are the same.

    Where adaptive execution is off already, somebody has chosen the settings, and they stay.
    """
    if not are_few(spark, captures) or spark.conf.get(ADAPTIVE) != "true":
        return nullcontext()
    partitions = min(spark.sparkContext.defaultParallelism, int(spark.conf.get(PARTITIONS) or 1))
    return applied_settings(spark, {**_SETTINGS, PARTITIONS: str(partitions)})
