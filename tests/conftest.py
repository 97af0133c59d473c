"""What all tests share: the order they run in, one Spark, and the folder of real archives."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REPOSITORY = Path(__file__).parents[1]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with Spark last: what is wrong in plain Python shows after seconds. Where several processes share the
    tests, one of them has all with Spark, from the start: they are most of the time, and have one session."""
    items.sort(key=lambda item: item.get_closest_marker("spark") is not None)
    for item in items:
        if item.get_closest_marker("spark") is not None:
            item.add_marker(pytest.mark.xdist_group("spark"))


@pytest.fixture(scope="session")
def spark() -> Iterator["SparkSession"]:
    """A local Spark on two cores, small and with few partitions, one for all tests."""
    from dbce_spark.spark.session import session

    started = session(
        "dbce tests", master="local[2]", settings={"spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "4"}
    )
    yield started
    started.stop()


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real archives and gold texts that lies beside the checkout; tests skip where it does not."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("../shared/data is not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def extracted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output of a run over the sample archive, one for all tests, which leave it as it is."""
    from tests import extracted

    return extracted.make(tmp_path_factory.mktemp("sample"))
