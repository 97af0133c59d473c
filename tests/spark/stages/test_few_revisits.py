"""The originals of revisits where captures are few. No Spark is started."""

from pathlib import Path

from dbce_spark.files import parquet
from dbce_spark.output.schemas import capture_rows
from dbce_spark.spark.run import staging
from dbce_spark.spark.run.prior_state import EMPTY
from dbce_spark.spark.stages import few_revisits


def test_rows_that_an_earlier_attempt_shared_out_count_once(tmp_path: Path) -> None:
    """Its Spark had another `spark.dbce.fewCaptures`: what that has staged of the same revisits is replaced."""
    work = str(tmp_path)
    staging.prepare(work)
    shared = Path(staging.path(work, staging.SHARED))
    parquet.write(f"{shared}/part-00007-of-spark.parquet", capture_rows.CAPTURES, [])
    staging.mark_whole(work, staging.SHARED)
    few_revisits._match(work, EMPTY)

    assert ["part-00000.parquet"] == [one.name for one in shared.iterdir()]
