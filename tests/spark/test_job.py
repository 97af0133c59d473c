"""The Spark job is held to dbce/local.py: the same rows, whatever the partitions and the order."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from benchmarks.samples import write_archive
from dbce_spark import config
from dbce_spark.archive import sources
from dbce_spark.archive.revisits import seen
from dbce_spark.dbce import local
from dbce_spark.errors import OutputError
from dbce_spark.spark.jobs import job
from dbce_spark.spark.run.run_request import RunRequest
from dbce_spark.tables import extraction_rows, reject_rows
from tests.spark.partitions import spread_over
from tests.spark.ran import Ran

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

# A cap below the sample's bucket sizes, so that cut buckets are among what is compared. Of its sites about half are
# looked at whole, the others by buckets.
CONFIG = config.load(settings=["bucket.cap=16", "bucket.whole_site_bytes=70000", "output.site_parts=5"])


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """A sample archive of three crawls, and one of its files once more under another name: duplicates."""
    folder = tmp_path_factory.mktemp("archive")
    write_archive(folder, pages=60, seed=7)
    files = sources.expand([str(folder)], CONFIG.input.patterns)
    again = folder / "again.warc.gz"
    shutil.copy(files[0], again)
    return [*files, str(again)]


@pytest.fixture(scope="module")
def expected(archive: list[str]) -> local.Result:
    return local.extract(archive, CONFIG)


def extracted(
    spark: "SparkSession",
    files: Sequence[str],
    output: Path,
    limit: int | None = None,
    with_html: bool = False,
    settings: config.DbceConfig = CONFIG,
) -> dict[str, Any]:
    request = RunRequest(files=files, output=str(output), with_html=with_html, limit=limit, started=0.0)
    return job.run(spark, request, settings)


@pytest.fixture(scope="module")
def ran(spark: "SparkSession", archive: list[str], tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Over the whole archive, in one go."""
    output = tmp_path_factory.mktemp("ran") / "out"
    return Ran(output, extracted(spark, archive, output))


def rows(output: Path) -> list[dict[str, Any]]:
    table = ds.dataset(output / "extractions", partitioning="hive", schema=extraction_rows.EXTRACTIONS).to_table()
    sorted_rows: list[dict[str, Any]] = table.sort_by("capture_id").to_pylist()
    return sorted_rows


def rows_of(result: local.Result) -> list[dict[str, Any]]:
    nothing = [None] * len(result.extractions)
    languages = local.languages(result.extractions, CONFIG.language)
    again = seen([one.page.capture for one in result.extractions], result.revisits)
    batch = extraction_rows.extractions_batch(result.extractions, languages, nothing, CONFIG.output.site_parts, again)
    sorted_rows: list[dict[str, Any]] = pa.Table.from_batches([batch]).sort_by("capture_id").to_pylist()
    return sorted_rows


@pytest.mark.parametrize("partitions", [1, 3, 7])
def test_spark_gives_what_plain_python_gives(
    spark: "SparkSession", archive: list[str], expected: local.Result, tmp_path: Path, partitions: int
) -> None:
    """However the rows are spread over partitions, the extractions are those of local.extract()."""
    with spread_over(spark, partitions):
        extracted(spark, archive, tmp_path / "out")

    assert rows_of(expected) == rows(tmp_path / "out")


def test_bit_patterns_alone_give_what_plain_python_gives(
    spark: "SparkSession", archive: list[str], tmp_path: Path
) -> None:
    """Without the classifier there are no traits and no evidence, and still the same rows."""
    settings = config.load(settings=["bucket.cap=16", "output.site_parts=5", "label.by=T001"])
    extracted(spark, archive[:2], tmp_path / "out", settings=settings)

    assert rows_of(local.extract(archive[:2], settings)) == rows(tmp_path / "out")


def test_every_stage_has_its_seconds(ran: Ran, spark: "SparkSession", archive: list[str], tmp_path: Path) -> None:
    """run.json says how long each stage took, in their order; those of large sites, and of revisits whose originals
    are asked for, are there if such are."""
    some_large = "start pages originals revisits sites crosses evidence annotations extractions duplicates captures"
    none_large = extracted(spark, archive[:1], tmp_path / "out", settings=whole_up_to(1 << 40))

    assert some_large.split() == list(ran.report["seconds"])
    assert "start pages revisits sites extractions duplicates captures".split() == list(none_large["seconds"])


def whole_up_to(size: int) -> config.DbceConfig:
    return config.load(settings=["bucket.cap=16", f"bucket.whole_site_bytes={size}", "output.site_parts=5"])


@pytest.mark.parametrize("size", [0, 1 << 40])
def test_sites_that_are_looked_at_whole_give_the_same_bytes(
    ran: Ran, spark: "SparkSession", archive: list[str], tmp_path: Path, size: int
) -> None:
    """Whether a site is looked at by one worker or bucket by bucket changes no byte, and no count but of seconds."""
    alike = extracted(spark, archive, tmp_path / "alike", settings=whole_up_to(size))
    counted = ("extractions", "crossed", "single", "largest_bucket", "capped_buckets")

    assert "crosses" in ran.report["seconds"]
    assert files_below(ran.output) == files_below(tmp_path / "alike")
    assert [ran.report[name] for name in counted] == [alike[name] for name in counted]


def test_the_order_of_the_files_changes_no_byte(
    ran: Ran, spark: "SparkSession", archive: list[str], tmp_path: Path
) -> None:
    """Two runs on the same files in another order write the same files, byte for byte."""
    extracted(spark, archive[::-1], tmp_path / "out")

    assert files_below(ran.output) == files_below(tmp_path / "out")


def files_below(output: Path) -> dict[str, bytes]:
    parts = sorted(output.glob("*/**/*.parquet"))
    return {str(part.relative_to(output)): part.read_bytes() for part in parts}


def test_every_record_is_accounted_for(ran: Ran, expected: local.Result) -> None:
    """The counts in run.json are those of local.extract(), and add up to the records read."""
    report = json.loads((ran.output / "run.json").read_text())

    assert {
        "records_read": expected.records_read,
        "extractions": len(expected.extractions),
        "revisits": len(expected.revisits),
        "rejects": {},
        "skipped": dict(sorted(expected.skipped.items())),
    } == {name: report[name] for name in ("records_read", "extractions", "revisits", "rejects", "skipped")}
    assert report["records_read"] == report["captures"] + sum(report["skipped"].values())
    assert json.loads(json.dumps(ran.report)) == report


def test_rejects_are_rows_with_their_place_and_reason(
    spark: "SparkSession", archive: list[str], tmp_path: Path
) -> None:
    """What cannot be read becomes a row of `rejects` and ends nothing."""
    broken = tmp_path / "no-archive.warc.gz"
    broken.write_bytes(b"this is no archive\n")
    report = extracted(spark, [*archive[:1], str(broken), str(tmp_path / "missing.warc")], tmp_path / "out")
    rejects = ds.dataset(tmp_path / "out" / "rejects", schema=reject_rows.REJECTS).to_table().to_pylist()

    assert [(str(tmp_path / "missing.warc"), "file_unreadable"), (str(broken), "not_an_archive")] == [
        (row["warc_file"], row["reason"]) for row in rejects
    ]
    assert {"file_unreadable": 1, "not_an_archive": 1} == report["rejects"]


def test_without_rejects_there_is_an_empty_table(ran: Ran) -> None:
    """Whoever reads `rejects` of a clean run finds its columns and no rows."""
    table = ds.dataset(ran.output / "rejects").to_table()

    assert (reject_rows.REJECTS.names, 0) == (table.column_names, table.num_rows)


def test_a_limit_takes_the_first_captures(spark: "SparkSession", archive: list[str], tmp_path: Path) -> None:
    """--limit N extracts the first N captures by file and offset, and counts those beyond."""
    report = extracted(spark, archive, tmp_path / "out", limit=10)
    everything = sorted(archive)[0]
    first = [(row["warc_file"], row["warc_offset"]) for row in rows(tmp_path / "out")]

    assert 10 == report["extractions"]
    assert {everything} == {file for file, _ in first}
    assert report["records_read"] == report["captures"] + sum(report["skipped"].values())


def test_html_is_written_only_when_asked_for(
    ran: Ran, spark: "SparkSession", archive: list[str], tmp_path: Path
) -> None:
    """--html fills the html column with pages whose segments are marked; without it the column is null."""
    extracted(spark, archive[:1], tmp_path / "with", with_html=True)

    assert all('<span class="dbce-' in row["html"] for row in rows(tmp_path / "with"))
    assert {None} == {row["html"] for row in rows(ran.output)}


def test_buckets_over_the_cap_are_cut_and_counted(ran: Ran) -> None:
    """run.json names the largest bucket and how many were cut."""
    assert ran.report["largest_bucket"] > CONFIG.bucket.cap
    assert ran.report["capped_buckets"] > 0


def test_an_archive_without_pages_gives_empty_tables(spark: "SparkSession", tmp_path: Path) -> None:
    """A run that finds nothing says so and ends well."""
    empty = tmp_path / "empty.warc.gz"
    empty.write_bytes(b"")
    report = extracted(spark, [str(empty)], tmp_path / "out")

    assert (0, 0) == (report["records_read"], report["extractions"])
    assert [] == rows(tmp_path / "out")
    assert {"captures", "duplicates", "extractions", "rejects", "run.json"} == {
        path.name for path in (tmp_path / "out").iterdir()
    }


def asked(output: Path, *, overwrite: bool) -> RunRequest:
    return RunRequest(files=[], output=str(output), with_html=False, limit=None, started=0.0, overwrite=overwrite)


def test_an_output_that_exists_is_refused(tmp_path: Path) -> None:
    """Without --overwrite nothing that lies at the output is touched."""
    (tmp_path / "run.json").write_text("{}")

    with pytest.raises(OutputError, match="--overwrite"):
        job.check_output(asked(tmp_path, overwrite=False), CONFIG)


def test_overwrite_never_removes_what_no_run_has_written(tmp_path: Path) -> None:
    """--overwrite on a folder with other things in it is refused, by the name of one of them."""
    (tmp_path / "thesis.tex").write_text("")

    with pytest.raises(OutputError, match=r"thesis\.tex"):
        job.check_output(asked(tmp_path, overwrite=True), CONFIG)


@pytest.fixture(scope="module")
def crawls(shared_data: Path) -> list[str]:
    """Real crawls: one as ARC and as WARC, one of seven dates, one of a shop in Japanese."""
    names = ("archive.org", "netarkivet.dk", "quotes.toscrape.com", "uraharajuku.st")
    return sources.expand([str(shared_data / "warc" / name) for name in names], CONFIG.input.patterns)


@pytest.fixture(scope="module")
def expected_of_crawls(crawls: list[str]) -> local.Result:
    return local.extract(crawls, CONFIG)


@pytest.mark.data
@pytest.mark.parametrize("partitions", [3])
def test_real_crawls_give_what_plain_python_gives(
    spark: "SparkSession", crawls: list[str], expected_of_crawls: local.Result, tmp_path: Path, partitions: int
) -> None:
    """On real crawls, however they are spread and in another order, Spark gives the rows of local.extract()."""
    with spread_over(spark, partitions):
        report = extracted(spark, crawls[::-1], tmp_path / "out")
    told = (report["extractions"], report["revisits"], *report["rejects"].values(), *report["skipped"].values())

    assert rows_of(expected_of_crawls) == rows(tmp_path / "out")
    assert expected_of_crawls.records_read == report["records_read"] == sum(told)
