"""How `dbce stream` ends, by what it has counted. No Spark is started."""

from pathlib import Path
from unittest.mock import Mock

import pytest

from dbce_spark.commands.cli import main
from tests.support.builders import archive, http, record

pytest.importorskip("pyspark")


@pytest.mark.parametrize(
    ("totals", "status", "printed"),
    [
        (
            {"files": 1, "records": 9, "captures": 5, "labels": 3, "repeats": 2, "skipped.mime": 2, "skipped.feed": 2},
            0,
            "1 files, 9 records, 5 captures, 3 labels, 2 repeats, 0 late labels, 0 revisits, 0 rejects, 4 skipped",
        ),
        (
            {"files": 1, "records": 9, "captures": 9, "repeats": 9},
            0,
            "1 files, 9 records, 9 captures, 0 labels, 9 repeats, 0 late labels, 0 revisits, 0 rejects, 0 skipped",
        ),
        (
            {"files": 1, "records": 9, "rejects.no_text": 9},
            2,
            "1 files, 9 records, 0 captures, 0 labels, 0 repeats, 0 late labels, 0 revisits, 9 rejects, 0 skipped",
        ),
    ],
    ids=["labels", "repeats", "no page"],
)
def test_a_stream_ends_well_where_it_has_found_pages(
    totals: dict[str, int], status: int, printed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Also where all of them are repeats, as of a primed one; and each record is in the counts that are printed."""
    monkeypatch.setattr("dbce_spark.spark.engine.session.session", Mock())
    monkeypatch.setattr("dbce_spark.spark.jobs.stream_job.run", Mock(return_value=totals))
    archive(tmp_path / "a.warc", record(http("<p>one</p>")))

    assert status == main(["stream", str(tmp_path / "a.warc"), "--output", str(tmp_path / "out")])
    assert printed == capsys.readouterr().out.rstrip()
