"""Runs over few captures, of which Spark makes more than there is to do: it plans each of their many small shuffles
anew, and compiles what sees a hundred rows once. A quarter to a third of their time goes so (docs/operations.md)."""

from contextlib import AbstractContextManager, nullcontext

from pyspark.sql import SparkSession

from dbce_spark.spark.session import defaults, under

FEW = "spark.dbce.fewCaptures"
ADAPTIVE, PARTITIONS = "spark.sql.adaptive.enabled", "spark.sql.shuffle.partitions"
_SETTINGS = {
    # Each shuffle of a query is a job of its own, and the rest of the query is planned again behind it.
    ADAPTIVE: "false",
    # Java compiles each plan, which takes longer than to interpret it for few rows.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def work(spark: SparkSession, captures: int) -> AbstractContextManager[None]:
    """Within the block Spark goes about its work as so many captures are best served; the rows are the same.

    Who has turned adaptive execution off has chosen himself how, and is left to it.
    """
    few = int(spark.conf.get(FEW, defaults()[FEW]) or 0)
    if captures > few or spark.conf.get(ADAPTIVE) != "true":
        return nullcontext()
    partitions = min(spark.sparkContext.defaultParallelism, int(spark.conf.get(PARTITIONS) or 1))
    return under(spark, {**_SETTINGS, PARTITIONS: str(partitions)})
