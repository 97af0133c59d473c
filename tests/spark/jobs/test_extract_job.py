"""The Spark job is held to dbce/local.py: the same rows, whatever the partitions and the order."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn
from unittest.mock import MagicMock

import pyarrow.dataset as ds
import pytest
from pyspark.errors import PySparkException

from dbce_spark import config
from dbce_spark.dbce import local
from dbce_spark.errors import JobError, OutputError
from dbce_spark.files import sources
from dbce_spark.output.schemas import duplicate_rows, extraction_rows, reject_rows
from dbce_spark.spark.jobs import extract_job, local_job
from dbce_spark.spark.run import run_output
from dbce_spark.spark.run.run_request import RunRequest
from tests.support.builders import archive, http, record
from tests.support.partitions import spread_over
from tests.support.spark_runs import (
    CAP,
    WAYS,
    WHOLE_SITES,
    Input,
    Ran,
    Runs,
    extract,
    files_below,
    plain_extractions,
    plain_rejects,
    rows,
    settings,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

FIRST, *OTHERS = WAYS
CONFIG = config.load(settings=["bucket.cap=16", "bucket.whole_site_bytes=70000", "output.site_parts=5"])


@pytest.fixture(scope="module")
def ran(runs: Runs) -> Ran:
    """The run as it goes by itself."""
    return runs[FIRST]


@pytest.mark.parametrize("way", WAYS)
def test_spark_gives_what_plain_python_gives(runs: Runs, expected: local.Result, way: str) -> None:
    """However the rows are spread over partitions, the extractions are those of local.extract()."""
    assert plain_extractions(expected, settings()) == rows(runs[way].output, "extractions", extraction_rows.EXTRACTIONS)


@pytest.mark.parametrize("way", OTHERS)
def test_no_way_changes_a_byte(ran: Ran, runs: Runs, way: str) -> None:
    """Partitions, the order of the inputs, adaptive execution, and whether a site is compared by one worker or bucket
    by bucket, change no byte of any table."""
    assert files_below(ran.output) == files_below(runs[way].output)


@pytest.mark.parametrize("way", OTHERS)
def test_no_way_changes_a_count(ran: Ran, runs: Runs, way: str) -> None:
    """The counts of run.json are those of the first run, but for seconds and what follows from them."""
    counts = "records_read captures extractions crossed single largest_bucket capped_buckets"
    counted = [*counts.split(), "skipped", "rejects", "failed_files", "selection", "originals", "duplicates"]

    assert {name: ran.report[name] for name in counted} == {name: runs[way].report[name] for name in counted}


def test_every_stage_has_its_seconds(ran: Ran, runs: Runs) -> None:
    """run.json says how long each stage took, in their order; those of large sites are there if such are."""
    stages = (
        "start selection pages originals revisits sites crosses evidence annotations extractions duplicates captures"
    )
    of_large = {"crosses", "evidence", "annotations"}
    whole = runs[WHOLE_SITES].report["seconds"]

    assert stages.split() == list(ran.report["seconds"])
    assert [name for name in stages.split() if name not in of_large] == list(whole)


def test_every_record_is_accounted_for(ran: Ran, expected: local.Result) -> None:
    """The counts in run.json are those of local.extract(), and add up to the records read."""
    report = json.loads((ran.output / "run.json").read_text())
    outcomes = (report["extractions"], report["revisits"], *report["rejects"].values(), *report["skipped"].values())

    assert {
        "records_read": expected.records_read,
        "extractions": len(expected.extractions),
        "revisits": len(expected.revisits),
        "skipped": dict(sorted(expected.skipped.items())),
        "failed_files": expected.failed_files,
    } == {name: report[name] for name in ("records_read", "extractions", "revisits", "skipped", "failed_files")}
    assert report["records_read"] == sum(outcomes)
    assert report["captures"] == report["extractions"] + report["revisits"]
    assert json.loads(json.dumps(ran.report)) == report


def test_rejects_are_rows_with_their_place_and_reason(ran: Ran, expected: local.Result, whole_input: Input) -> None:
    """A record that cannot be read becomes a row of `rejects` and ends nothing."""
    found = rows(ran.output, "rejects", reject_rows.REJECTS)
    missing, broken = sorted(whole_input.files[-2:])

    assert plain_rejects(expected) == sorted(tuple(row.values()) for row in found)
    assert {(missing, "file_unreadable"), (broken, "not_an_archive")} <= {
        (row["warc_file"], row["reason"]) for row in found
    }
    assert len(found) == sum(ran.report["rejects"].values())


def test_html_is_written_only_when_asked_for(ran: Ran, plain: Ran) -> None:
    """With HTML asked for, the column annotated_html has pages whose segments are marked; else it is null."""
    name = "annotated_html"
    with_html, without = (
        ds.dataset(one.output / "extractions", partitioning="hive").to_table([name])[name].to_pylist()
        for one in (ran, plain)
    )

    assert all('<span class="dbce-' in html for html in with_html)
    assert {None} == {*without}


def test_buckets_over_the_cap_are_cut_and_counted(ran: Ran) -> None:
    """run.json names the largest bucket and how many were cut."""
    assert ran.report["largest_bucket"] > CAP
    assert ran.report["capped_buckets"] > 0


@pytest.fixture(scope="module")
def plain(spark: "SparkSession", whole_input: Input, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A run over one file, labelled by bit patterns alone, of which duplicates are not asked for."""
    output = tmp_path_factory.mktemp("plain") / "out"
    return Ran(output, extract(spark, whole_input.files[:1], output, BY_PATTERNS))


BY_PATTERNS = config.load(settings=["label.by=T001", "output.site_parts=5", "duplicates.find=false"])


def test_bit_patterns_alone_give_what_plain_python_gives(plain: Ran, whole_input: Input, tmp_path: Path) -> None:
    """Without the classifier there are no features and no evidence, and still the same rows; and the bytes that the job
    without Spark writes."""
    expected = local.extract(whole_input.files[:1], BY_PATTERNS)
    local_job.run(requested(whole_input.files[:1], tmp_path), BY_PATTERNS)

    assert plain_extractions(expected, BY_PATTERNS) == rows(plain.output, "extractions", extraction_rows.EXTRACTIONS)
    assert files_below(plain.output) == files_below(tmp_path)


def test_a_plain_run_has_no_stage_of_special_cases(plain: Ran) -> None:
    """Neither indexes nor revisits nor large sites nor duplicates: these stages are not there."""
    assert "start pages revisits sites extractions captures".split() == list(plain.report["seconds"])


def test_without_rejects_there_is_an_empty_table(plain: Ran) -> None:
    """Whoever reads `rejects` of a clean run finds its columns and no rows."""
    table = ds.dataset(plain.output / "rejects").to_table()

    assert (reject_rows.REJECTS.names, 0) == (table.column_names, table.num_rows)
    assert {} == plain.report["rejects"]


def test_nothing_is_compared_where_it_is_not_asked_for(plain: Ran, whole_input: Input) -> None:
    """Without `duplicates.find_similar` there is neither a table nor an account of them."""
    assert "duplicates" not in plain.report
    assert not (plain.output / "duplicates").exists()
    assert not local.extract(whole_input.files[:1], BY_PATTERNS).duplicates


def test_an_archive_without_pages_gives_empty_tables(spark: "SparkSession", tmp_path: Path) -> None:
    """A run that finds nothing says so and ends well; its tables have their columns, and the bytes that the job without
    Spark writes."""
    files = [archive(tmp_path / "a.warc", record(kind="warcinfo"), record(http("<script>1</script>")))]
    report = extract(spark, files, tmp_path / "out", settings())
    local_job.run(requested(files, tmp_path / "local"), settings())
    table = ds.dataset(tmp_path / "out" / "duplicates", partitioning=None).to_table()

    assert (2, 0, {"no_text": 1}) == (report["records_read"], report["extractions"], report["rejects"])
    assert files_below(tmp_path / "out") == files_below(tmp_path / "local")
    assert [] == rows(tmp_path / "out", "extractions", extraction_rows.EXTRACTIONS)
    assert {"captures", "duplicates", "extractions", "rejects", "run.json"} == {
        path.name for path in (tmp_path / "out").iterdir()
    }
    assert (duplicate_rows.DUPLICATES.names, 0) == (table.column_names, table.num_rows)
    assert {"texts": 0, "exact": 0, "near": 0, "unclear": 0, "remarked": 0} == report["duplicates"]


def requested(files: list[str], output: Path) -> RunRequest:
    return RunRequest(files=files, output=str(output), with_html=False, limit=None, started=0.0)


LIMIT = 3
LIMITED = config.load(settings=["label.by=T002", "language.detect=false", 'select.since="2020"'])


@pytest.fixture(scope="module")
def some_files(whole_input: Input) -> list[str]:
    """The files with revisits of every kind, and the crawl of revisits whose originals are in an index."""
    return [path for path in whole_input.files if Path(path).parent.name in ("revisits", "originals")]


@pytest.fixture(scope="module")
def limited(
    spark: "SparkSession", some_files: list[str], whole_input: Input, tmp_path_factory: pytest.TempPathFactory
) -> Ran:
    """A run over these files up to a limit, with the index."""
    output = tmp_path_factory.mktemp("limited") / "out"
    return Ran(output, extract(spark, some_files, output, LIMITED, whole_input.indexes[:2], limit=LIMIT))


def test_a_limit_takes_the_first_captures(limited: Ran, some_files: list[str]) -> None:
    """--limit N extracts the first N captures by file and offset."""
    captures = [one.page.capture for one in local.extract(some_files, LIMITED).extractions]
    first = sorted((one.warc_file, one.warc_offset) for one in captures)[:LIMIT]

    assert first == sorted(
        (row["warc_file"], row["warc_offset"])
        for row in rows(limited.output, "extractions", extraction_rows.EXTRACTIONS)
    )


def test_revisits_of_captures_beyond_the_limit_are_counted(limited: Ran) -> None:
    """They are left out with their captures, and the account of the records that were read is whole."""
    report = limited.report
    outcomes = (report["extractions"], report["revisits"], *report["rejects"].values(), *report["skipped"].values())

    assert report["skipped"]["limit"] > 0
    assert LIMIT == report["extractions"]
    assert report["records_read"] == sum(outcomes)


def test_up_to_a_limit_no_index_is_looked_up(limited: Ran) -> None:
    """A run of a few captures looks for no originals in the indexes."""
    assert {"revisits": 0, "found": 0, "pages": 0} == limited.report["originals"]


def asked(output: Path, *, overwrite: bool) -> RunRequest:
    return RunRequest(files=[], output=str(output), with_html=False, limit=None, started=0.0, overwrite=overwrite)


def test_an_output_that_exists_is_refused(tmp_path: Path) -> None:
    """Without --overwrite nothing that lies at the output is touched."""
    (tmp_path / "run.json").write_text("{}")

    with pytest.raises(OutputError, match="--overwrite"):
        run_output.check(asked(tmp_path, overwrite=False), CONFIG)


def test_overwrite_never_removes_what_no_run_has_written(tmp_path: Path) -> None:
    """--overwrite on a folder with other things in it is refused, by the name of one of them."""
    (tmp_path / "thesis.tex").write_text("")

    with pytest.raises(OutputError, match=r"thesis\.tex"):
        run_output.check(asked(tmp_path, overwrite=True), CONFIG)


def test_a_staged_file_that_java_may_not_read_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is wrong with it: it is neither removed nor called broken, and the error says why it was not read."""
    staged = tmp_path / "_staging/pages/00000000.parquet"
    staged.parent.mkdir(parents=True)
    staged.touch()
    cause = f"java.io.FileNotFoundException: {staged} (Permission denied)"

    def give_up(*_: object) -> NoReturn:
        raise PySparkException(f"[FAILED_READ_FILE.NO_HINT] Error while reading file file://{staged}.\n{cause}")

    monkeypatch.setattr(extract_job, "_run", give_up)
    with pytest.raises(JobError, match=r"Spark gave up: .*Permission denied"):
        extract_job.run(MagicMock(), requested([], tmp_path), CONFIG)

    assert staged.exists()


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
        report = extract(spark, crawls[::-1], tmp_path / "out", CONFIG)
    outcomes = (report["extractions"], report["revisits"], *report["rejects"].values(), *report["skipped"].values())

    assert plain_extractions(expected_of_crawls, CONFIG) == rows(
        tmp_path / "out", "extractions", extraction_rows.EXTRACTIONS
    )
    assert expected_of_crawls.records_read == report["records_read"] == sum(outcomes)
