"""The report of a run. No Spark is started."""

from dbce_spark.spark.run.run_report import Effort


def test_the_speed_of_a_run_is_that_of_its_work() -> None:
    """Pages a second and core; the start is no work."""
    seconds = {"start": 99.0, "pages": 10.0, "crosses": 2.0}

    assert 4.17 == Effort(engine="spark", cores=2, seconds=seconds, versions={}).speed(100)
