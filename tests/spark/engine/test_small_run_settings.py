from typing import TYPE_CHECKING

import pytest

from dbce_spark.spark.engine import small_run_settings
from dbce_spark.spark.engine.session import applied_settings, defaults
from tests.support.partitions import COMPILED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FEW = int(defaults()[small_run_settings.FEW])
KEYS = (
    small_run_settings.ADAPTIVE,
    small_run_settings.PARTITIONS,
    "spark.sql.codegen.wholeStage",
    "spark.sql.codegen.factoryMode",
)


def now(spark: "SparkSession") -> list[str | None]:
    return [spark.conf.get(key, None) for key in KEYS]


def test_few_captures_are_planned_once_and_interpreted(spark: "SparkSession") -> None:
    """Up to the number of captures that is configured; behind the block, all is as it was, whatever ended it."""
    within = []

    def fail() -> None:
        with small_run_settings.settings(spark, FEW):
            within.extend(now(spark))
            raise ZeroDivisionError

    with applied_settings(spark, COMPILED):
        before = now(spark)
        with pytest.raises(ZeroDivisionError):
            fail()
        assert before == now(spark)
    assert ["true", "4", "true", "FALLBACK"] == before
    assert ["false", "2", "false", "NO_CODEGEN"] == within


def test_more_captures_are_worked_on_as_ever(spark: "SparkSession") -> None:
    """One more than the configured number, and nothing is set."""
    with applied_settings(spark, COMPILED):
        before = now(spark)
        with small_run_settings.settings(spark, FEW + 1):
            assert before == now(spark)


@pytest.mark.parametrize("chosen", [{small_run_settings.ADAPTIVE: "false"}, {small_run_settings.FEW: "0"}])
def test_who_has_chosen_otherwise_is_left_to_it(spark: "SparkSession", chosen: dict[str, str]) -> None:
    """Adaptive execution turned off, or no run called little, leaves the other settings as they are."""
    with applied_settings(spark, {**COMPILED, **chosen}):
        before = now(spark)
        with small_run_settings.settings(spark, 1):
            assert before == now(spark)
