"""The report of a run. No Spark is started."""

import re
from pathlib import Path

from dbce_spark import config
from dbce_spark.log import Log
from dbce_spark.spark.run import run_report
from dbce_spark.spark.run.run_account import RunAccount
from dbce_spark.spark.run.run_report import Effort
from dbce_spark.spark.run.run_request import RunRequest
from dbce_spark.spark.run.stage_counts import DuplicateCounts

TABLES = Path(__file__).parents[3] / "docs" / "tables.md"


def test_the_speed_of_a_run_is_that_of_its_work() -> None:
    """Pages a second and core; the start is no work."""
    seconds = {"start": 99.0, "pages": 10.0, "crosses": 2.0}

    assert 4.17 == Effort(engine="spark", cores=2, seconds=seconds, versions={}).speed(100)


def test_every_key_of_a_report_is_documented(tmp_path: Path) -> None:
    """Also those of an increment, of an index and of formats."""
    request = RunRequest(
        files=[],
        indexes=["a.cdxj"],
        output=str(tmp_path),
        with_html=False,
        limit=None,
        started=0.0,
        settings={"with_html": False},
    )
    account = RunAccount(sources=1, is_increment=True, duplicates=DuplicateCounts())
    account.statuses["markdown"] = account.statuses["truncated"] = 1
    effort = Effort(engine="spark", cores=1, seconds={"pages": 1.0}, versions={})
    report = run_report.report(request, config.default(), Log(), account, effort)
    listed = TABLES.read_text(encoding="utf-8").partition("\n## run.json\n")[2].partition("\n## ")[0]
    keys = {key for row in re.findall(r"^\| ([a-z_, ]+) \|", listed, re.MULTILINE) for key in row.split(", ")}

    assert set() == {*report} - keys
