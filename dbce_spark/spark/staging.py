"""What the stages hand on: Parquet folders under the output, removed when the run has ended well."""

from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

FOLDER = "_staging"
REJECTS = "rejects"
REVISITS, SHARED, UNRESOLVED = "revisits", "shared", "unresolved"


def schema(arrow: pa.Schema) -> StructType:
    """The Spark schema of a table."""
    return from_arrow_schema(arrow)


def path(output: str, name: str) -> str:
    return f"{output.rstrip('/')}/{FOLDER}/{name}"


def file(output: str, name: str, file_no: int) -> str:
    """Where the task that read an input file, by its number among the sorted inputs, stages what it found."""
    return f"{path(output, name)}/{file_no:08}.parquet"


def prepare(output: str) -> None:
    """Makes the folders that a stage may leave without a file."""
    for name in ("pages", REJECTS, REVISITS, SHARED, UNRESOLVED, "selected"):
        Path(path(output, name)).mkdir(parents=True, exist_ok=True)


def read(spark: SparkSession, output: str, name: str, arrow: pa.Schema) -> DataFrame:
    return spark.read.schema(schema(arrow)).parquet(path(output, name))


def write(rows: DataFrame, output: str, name: str) -> None:
    rows.write.mode("overwrite").option("compression", "lz4").parquet(path(output, name))
