"""Revisits on Spark: what plain Python makes of them, whatever the partitions; and the table of captures."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from dbce_spark.archive.revisits import seen
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import local
from dbce_spark.spark.jobs import job
from dbce_spark.spark.run.run_request import RunRequest
from dbce_spark.spark.stages import captures
from dbce_spark.tables import capture_rows, extraction_rows, reject_rows
from tests import revisited
from tests.builders import archive, config, http, record
from tests.revisited import HOST
from tests.spark.partitions import spread_over
from tests.spark.ran import Ran

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

CONFIG = config("label.by=T002", "language.detect=false")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    return revisited.write(tmp_path_factory.mktemp("archive"))


@pytest.fixture(scope="module")
def expected(files: list[str]) -> local.Result:
    return local.extract(files, CONFIG)


def extracted(spark: "SparkSession", files: list[str], output: Path, limit: int | None = None) -> dict[str, Any]:
    request = RunRequest(files=files, output=str(output), with_html=False, limit=limit, started=0.0)
    return job.run(spark, request, CONFIG)


@pytest.fixture(scope="module")
def ran(spark: "SparkSession", files: list[str], tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Over the files in their order, in one partition."""
    output = tmp_path_factory.mktemp("ran") / "out"
    with spread_over(spark, 1):
        return Ran(output, extracted(spark, files, output))


def rows(output: Path, table: str, schema: pa.Schema) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (
        ds.dataset(output / table, partitioning="hive", schema=schema).to_table().sort_by("capture_id").to_pylist()
    )
    return found


def extractions_of(result: local.Result, settings: DbceConfig) -> list[dict[str, Any]]:
    again = seen([one.page.capture for one in result.extractions], result.revisits)
    languages = local.languages(result.extractions, settings.language)
    nothing = [None] * len(result.extractions)
    parts = settings.output.site_parts
    batch = extraction_rows.extractions_batch(result.extractions, languages, nothing, parts, again)
    return batch.to_pylist()  # type: ignore[no-any-return]


def captures_of(result: local.Result) -> list[dict[str, Any]]:
    own = capture_rows.captures_batch([one.page.capture for one in result.extractions])
    table = pa.Table.from_batches([own, capture_rows.revisited_batch(result.revisits)])
    return table.sort_by("capture_id").to_pylist()  # type: ignore[no-any-return]


def rejects_of(result: local.Result) -> list[tuple[str, int, str, str]]:
    return sorted((one.warc_file, one.warc_offset, str(one.reason), one.detail) for one in result.rejects)


@pytest.mark.parametrize("partitions", [1, 3, 7])
def test_spark_gives_what_plain_python_gives(
    spark: "SparkSession", files: list[str], expected: local.Result, tmp_path: Path, partitions: int
) -> None:
    """However the rows are spread: the same extractions, captures and rejects."""
    with spread_over(spark, partitions):
        report = extracted(spark, files[::-1], tmp_path)
    rejects = ds.dataset(tmp_path / "rejects", schema=reject_rows.REJECTS).to_table().to_pylist()

    assert extractions_of(expected, CONFIG) == rows(tmp_path, "extractions", extraction_rows.EXTRACTIONS)
    assert captures_of(expected) == rows(tmp_path, "captures", capture_rows.CAPTURES)
    assert rejects_of(expected) == [
        (one["warc_file"], one["warc_offset"], one["reason"], one["detail"]) for one in rejects
    ]
    assert dict(sorted(expected.skipped.items())) == report["skipped"]


def test_every_record_is_accounted_for(ran: Ran, expected: local.Result) -> None:
    """records read = extractions + revisits + rejects + skipped; captures are the first two."""
    report = ran.report
    fates = (report["extractions"], report["revisits"], *report["rejects"].values(), *report["skipped"].values())

    assert expected.records_read == report["records_read"] == sum(fates)
    assert report["captures"] == report["extractions"] + report["revisits"] == 14
    assert Counter(str(one.reason) for one in expected.rejects) == report["rejects"]


def test_the_order_of_the_files_changes_no_byte(
    ran: Ran, spark: "SparkSession", files: list[str], tmp_path: Path
) -> None:
    """Captures are written as the same bytes, whatever the order and the partitions."""
    with spread_over(spark, 7):
        extracted(spark, files[::-1], tmp_path / "out")
    one, other = (
        {path.name: path.read_bytes() for path in (output / "captures").iterdir()}
        for output in (ran.output, tmp_path / "out")
    )

    assert one == other


def test_what_a_url_said_on_a_day(ran: Ran, spark: "SparkSession") -> None:
    """The latest capture of a URL up to a day names the extraction with its text, which may be of another URL."""
    spark.read.parquet(str(ran.output / "captures")).createOrReplaceTempView("captures")
    spark.read.parquet(str(ran.output / "extractions")).createOrReplaceTempView("extractions")

    def said(url: str, day: str) -> str:
        (found,) = spark.sql(
            "SELECT page_text FROM captures AS c JOIN extractions AS e ON c.extraction_id = e.capture_id "
            f"WHERE c.url = '{url}' AND c.timestamp < '{day}' ORDER BY c.timestamp DESC LIMIT 1"
        ).collect()
        return str(found["page_text"])

    assert "About apple\n" in said(f"{HOST}/apple", "2020-02-01")
    assert "About apple2\n" in said(f"{HOST}/apple", "2020-02-03")
    assert "About plum\n" in said(f"{HOST}/plum/again", "2020-12-31")


def test_captures_are_cut_into_files_by_url(
    spark: "SparkSession", files: list[str], expected: local.Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All captures of a URL are in one file, sorted by URL and time; together the files have them all."""
    monkeypatch.setattr(captures, "ROWS_PER_FILE", 3)
    extracted(spark, files, tmp_path)
    parts = [pq.read_table(path).to_pylist() for path in sorted((tmp_path / "captures").iterdir())]
    keys = [{row["url_key"] for row in part} for part in parts]

    assert len(parts) > 1
    assert 14 == sum(map(len, parts))
    assert sum(map(len, keys)) == len(set().union(*keys))
    assert all(part == sorted(part, key=lambda row: (row["url_key"], row["timestamp"])) for part in parts)


def test_revisits_of_captures_beyond_the_limit(spark: "SparkSession", files: list[str], tmp_path: Path) -> None:
    """With --limit the revisits of captures that are left out are left out with them, and counted so."""
    report = extracted(spark, files, tmp_path, limit=2)
    fates = (report["extractions"], report["revisits"], *report["rejects"].values(), *report["skipped"].values())

    assert 2 == report["extractions"]
    assert report["records_read"] == sum(fates)


def test_archive_without_revisits_has_captures(spark: "SparkSession", tmp_path: Path) -> None:
    """Each page is a capture whose extraction is its own, seen once."""
    path = archive(tmp_path / "a.warc", record(http("<p>Hello"), url=f"{HOST}/"))
    extracted(spark, [path], tmp_path / "out")
    (one,) = rows(tmp_path / "out", "captures", capture_rows.CAPTURES)
    (row,) = rows(tmp_path / "out", "extractions", extraction_rows.EXTRACTIONS)

    assert one["capture_id"] == one["extraction_id"] == row["capture_id"]
    assert (row["timestamp"], row["timestamp"], 0) == (row["first_seen"], row["last_seen"], row["revisits"])
