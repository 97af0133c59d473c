"""What the stages hand on: Parquet folders under the output, removed when the run has ended well."""

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

FOLDER = "_staging"


def schema(arrow: pa.Schema) -> StructType:
    """The Spark schema of a table."""
    return from_arrow_schema(arrow)


def path(output: str, name: str) -> str:
    return f"{output.rstrip('/')}/{FOLDER}/{name}"


def read(spark: SparkSession, output: str, name: str, arrow: pa.Schema) -> DataFrame:
    return spark.read.schema(schema(arrow)).parquet(path(output, name))


def is_kind(kind: str) -> Column:
    return F.col("kind") == kind
