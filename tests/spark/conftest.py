"""Fixtures of the tests on Spark: runs that many of them read, and a bucket."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from dbce_spark.dbce import local
from tests.support import bucket, spark_collections, spark_runs
from tests.support.spark_collections import Grown
from tests.support.spark_runs import Input, Runs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def whole_input(tmp_path_factory: pytest.TempPathFactory) -> Input:
    """An archive with all that a run can meet."""
    return spark_runs.write(tmp_path_factory.mktemp("whole-input"))


@pytest.fixture(scope="session")
def expected(whole_input: Input) -> local.Result:
    """The result of the plain engine over that archive."""
    return local.extract(whole_input.files, spark_runs.settings(), whole_input.indexes)


@pytest.fixture(scope="session")
def runs(spark: "SparkSession", whole_input: Input, tmp_path_factory: pytest.TempPathFactory) -> Runs:
    """Runs over that archive, each made once; tests leave them as they are."""
    return Runs(spark, whole_input, tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="session")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Four files of three crawls of the same sites."""
    return spark_collections.write_crawls(tmp_path_factory.mktemp("crawls"))


@pytest.fixture(scope="session")
def grown_in_time(spark: "SparkSession", crawls: list[str], tmp_path_factory: pytest.TempPathFactory) -> Grown:
    """A collection of these crawls as they came; tests leave it as it is."""
    return spark_collections.grow_in_time(spark, tmp_path_factory.mktemp("grown") / "in-time", crawls)


@pytest.fixture(scope="session")
def grown_late(spark: "SparkSession", crawls: list[str], tmp_path_factory: pytest.TempPathFactory) -> Grown:
    """A collection of these crawls in another order; tests leave it as it is."""
    return spark_collections.grow_late(spark, tmp_path_factory.mktemp("grown") / "late", crawls)


@pytest.fixture
def bucket_folder() -> Iterator[str]:
    """A folder in a bucket of a server that speaks S3."""
    with bucket.served() as url:
        yield f"{url}/in"
