"""What an increment keeps for later ones."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from dbce_spark.dbce.pages import failed
from dbce_spark.files import parquet
from dbce_spark.model import RejectStage
from dbce_spark.output.collection import MEMBERS
from dbce_spark.output.schemas import page_rows, reject_rows
from dbce_spark.spark.engine.session import applied_settings
from dbce_spark.spark.engine.small_run_settings import FEW
from dbce_spark.spark.run import staging
from dbce_spark.spark.run.record_counts import RecordCounts
from dbce_spark.spark.run.run_account import UNLABELLED, RunAccount
from dbce_spark.spark.stages import read_pages, write_increment_tables
from tests.support.builders import config
from tests.support.evidence_pools import page_in
from tests.support.spark_runs import run_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
@pytest.mark.parametrize("few", ["5000", "0"])
def test_a_page_that_could_not_be_labelled_is_no_member(spark: "SparkSession", tmp_path: Path, few: str) -> None:
    """A later revisit would share an extraction that is not there. The same for few captures and for many."""
    run = run_in(spark, str(tmp_path), config())
    pages = [page_in([1], url) for url in "abc"]
    batch = page_rows.pages_batch(pages, [None] * 3, file_no=0, first_row=0)
    parquet.write(staging.staged_file(run.work, read_pages.NAME, 0), page_rows.PAGES, [batch])
    rejects = reject_rows.rejects_batch([failed(pages[1].capture, RejectStage.LABEL, ValueError("no label"))])
    rows = rejects.append_column("capture_id", pa.array([pages[1].capture_id]))
    parquet.write(staging.staged_file(run.work, staging.UNLABELLED, 0), rows.schema, [rows])
    account = RunAccount(sources=0, is_increment=True)
    account.records = RecordCounts(captures=3)
    account.statuses = Counter({"single": 2, UNLABELLED: 1})

    with applied_settings(spark, {FEW: few}):
        write_increment_tables.STAGE.work(run, account)

    members = ds.dataset(f"{run.output}/{MEMBERS}").to_table(["capture_id"]).column("capture_id").to_pylist()
    assert sorted(members) == sorted(one.capture_id for one in (pages[0], pages[2]))
