"""The job without Spark writes what the job on Spark writes, byte by byte."""

import errno
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as ds
import pytest

from dbce_spark import config
from dbce_spark.commands.cli import main
from dbce_spark.dbce import local, page_labels, sites
from dbce_spark.dbce.time_limit import OutOfTime
from dbce_spark.errors import InputError, OutputError
from dbce_spark.html import page
from dbce_spark.log import Log
from dbce_spark.model import ComparedPage, Extraction, Segments
from dbce_spark.output.collection import RUN_FILE
from dbce_spark.output.schemas import capture_rows
from dbce_spark.spark.engine.session import applied_settings
from dbce_spark.spark.engine.small_run_settings import FEW
from dbce_spark.spark.jobs import extract_job, local_job
from dbce_spark.spark.run import duplicate_files, extraction_files, heartbeat, plan, run_output, staging, summary
from dbce_spark.spark.run.run_request import RunRequest
from dbce_spark.spark.run.run_status import inspect_run
from dbce_spark.spark.stages.mark_duplicates import text_duplicates
from tests.support import revisit_archive
from tests.support.builders import archive, http, record
from tests.support.nfs import keep_open_files
from tests.support.partitions import COMPILED
from tests.support.sample_output import HARD
from tests.support.spark_runs import Input, Ran, files_below, jobs_by_stage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COUNTS = (
    "records_read captures extractions revisits crossed single flags rejects skipped duplicates largest_bucket"
    " capped_buckets files failed_files plan config"
).split()


def request(files: list[str], output: Path, *, html: bool = False) -> RunRequest:
    return RunRequest(files=files, output=str(output), with_html=html, limit=None, started=0.0)


def cut_archive(folder: Path) -> str:
    """A file that ends within the second of its pages."""
    pages = HARD[0], record(http(f"<h1>Cut</h1>{'<p>Some words' * 99}"), url="http://b.example/")
    path = archive(folder / "cut.warc", *pages)
    Path(path).write_bytes(Path(path).read_bytes()[:-200])
    return path


@pytest.fixture
def hard(tmp_path: Path) -> list[str]:
    """Two pages of one site, of which one has no text."""
    return [archive(tmp_path / "hard.warc", *HARD)]


@pytest.fixture(scope="module")
def with_cut(whole_input: Input, tmp_path_factory: pytest.TempPathFactory) -> Input:
    """All that a run can meet, and a file that ends within its second page."""
    return whole_input._replace(files=[*whole_input.files, cut_archive(tmp_path_factory.mktemp("cut"))])


@pytest.fixture(scope="module")
def of_few(spark: "SparkSession", with_cut: Input, tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A run on Spark as it goes by itself."""
    output = tmp_path_factory.mktemp("few") / "spark"
    return Ran(output, extract_job.run(spark, request(with_cut.files, output), config.default()))


def check_alike(on_spark: Ran, alone: Ran) -> None:
    """Check that both have the same bytes in every table, and the same counts."""
    assert files_below(on_spark.output) == files_below(alone.output)
    assert {name: on_spark.report.get(name) for name in COUNTS} == {name: alone.report.get(name) for name in COUNTS}
    assert ("spark", "local") == (on_spark.report["engine"], alone.report["engine"])
    assert [os.getpid()] * 2 == [one.report["process"]["pid"] for one in (on_spark, alone)]
    assert all(one.report["began"] <= one.report["updated"] for one in (on_spark, alone))


@pytest.mark.spark
def test_it_writes_the_bytes_that_spark_writes_of_little(of_few: Ran, with_cut: Input, tmp_path: Path) -> None:
    """Every table and every count, of files that come twice, revisits, files that are none and files that are gone."""
    check_alike(of_few, Ran(tmp_path, local_job.run(request(with_cut.files, tmp_path), config.default())))


@pytest.mark.spark
def test_it_writes_the_bytes_that_spark_writes_of_much(
    spark: "SparkSession", with_cut: Input, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So it is where Spark shares revisits and texts out, row groups and buckets are small, and HTML is kept."""
    settings = ("output.rows_per_file=512", "output.site_parts=3", "bucket.cap=16", "label.comments=true")
    parameters = config.load(settings=settings)
    with applied_settings(spark, {**COMPILED, FEW: "0"}), monkeypatch.context() as patch:
        patch.setattr(text_duplicates, "FEW", 0)
        on_spark = extract_job.run(spark, request(with_cut.files, tmp_path / "spark", html=True), parameters)
    alone = local_job.run(request(with_cut.files, tmp_path / "local", html=True), parameters)

    check_alike(Ran(tmp_path / "spark", on_spark), Ran(tmp_path / "local", alone))


def test_pages_whose_record_is_cut_are_counted(tmp_path: Path) -> None:
    """A file that ends within a page is no failed file: run.json, the summary and the status say what was lost."""
    report = local_job.run(request([cut_archive(tmp_path)], tmp_path / "out"), config.default())

    assert (2, 0, {"truncated": 1}) == (report["extractions"], report["failed_files"]["count"], report["flags"])
    assert "flag truncated                     1" in summary.text(report, "out")
    assert "flag          1 extraction truncated" in inspect_run(str(tmp_path / "out")).text()


@pytest.mark.spark
def test_a_page_alone_is_in_no_bucket(spark: "SparkSession", tmp_path: Path) -> None:
    """It is counted in none by any strategy: as a whole site, bucket by bucket, and without Spark."""
    paragraphs = "".join(f"<div><p>The paragraph {nth} <b>of</b> one page</p></div>" for nth in range(9))
    files = [archive(tmp_path / "a.warc", record(http(f"<h1>Alone</h1><ul><li>One</ul>{paragraphs}<table><tr><td>x")))]
    by_bucket = config.load(settings=["bucket.whole_site_bytes=0", "template.min_shingles=1"])
    whole = config.load(settings=["template.min_shingles=1"])
    with applied_settings(spark, {FEW: "0"}):
        reports = [
            extract_job.run(spark, request(files, tmp_path / "bucket"), by_bucket),
            extract_job.run(spark, request(files, tmp_path / "whole"), whole),
        ]
    reports.append(local_job.run(request(files, tmp_path / "local"), whole))

    assert [0] * 3 == [report["largest_bucket"] for report in reports]


@pytest.mark.spark
def test_few_captures_take_few_jobs(spark: "SparkSession", of_few: Ran) -> None:
    """Spark starts a job in tenths of a second, whatever is in it: one reads, one compares and one labels; the driver
    does all else."""
    assert {"pages": 1, "sites": 1, "extractions": 1} == jobs_by_stage(spark, of_few.report)


def test_a_page_that_takes_too_long_costs_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a reject, and the others are read."""
    parse = page.parse

    def hang(html: bytes, *rest: Any) -> Any:
        while b"hang" in html:
            pass
        return parse(html, *rest)

    monkeypatch.setattr(page, "parse", hang)
    urls = [f"http://a.example/{name}" for name in ("one", "hang", "two")]
    files = [archive(tmp_path / "a.warc", *(record(http(f"<p>The page {url}</p>"), url=url) for url in urls))]
    report = local_job.run(request(files, tmp_path / "out"), config.load(settings=["page.max_seconds=1"]))

    assert (2, {"page_timeout": 1}) == (report["extractions"], report["rejects"])


def test_a_run_ends_well_on_nfs(hard: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lock, and so the folder of that, stays until the process has let it go: that is no error."""
    keep_open_files(monkeypatch)
    local_job.run(request(hard, tmp_path / "out"), config.default())

    assert (tmp_path / "out" / RUN_FILE).exists()


@pytest.mark.parametrize(("number", "remedy"), [(errno.ENOSPC, "make room"), (errno.EACCES, "make it writable")])
def test_what_the_place_of_the_output_lacks_is_named(
    number: int, remedy: str, hard: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Room, or the right to write there."""

    def refused(*_: object) -> None:
        raise OSError(number, os.strerror(number), "x")

    monkeypatch.setattr(plan, "save", refused)
    with pytest.raises(OutputError, match=rf"'x'; {remedy}, and give the same command again$"):
        local_job.run(request(hard, tmp_path / "out"), config.default())


def test_an_output_that_another_run_has_finished_meanwhile_stays(hard: list[str], tmp_path: Path) -> None:
    """It was not there when this run was checked, and this one has waited for the lock since."""
    local_job.run(request(hard, tmp_path / "out"), config.default())
    finished = files_below(tmp_path / "out")
    with pytest.raises(OutputError, match="exists; give another --output"):
        local_job.run(request(hard, tmp_path / "out"), config.default(), Log())

    assert finished == files_below(tmp_path / "out")
    assert (tmp_path / "out" / RUN_FILE).exists()


@pytest.mark.parametrize(("error", "reason"), [(ValueError("no plums"), "page_failed"), (OutOfTime(), "page_timeout")])
def test_a_page_that_cannot_be_labelled_costs_itself_and_its_revisits(
    error: Exception, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are the rejects of the definition, and no rows of other tables; all others are there."""
    build = page_labels.build_extraction

    def fail(compared: ComparedPage, segments: Segments, scored: page_labels.ScoredPage) -> Extraction:
        if compared.page.capture.url.endswith("/plum"):
            raise error
        return build(compared, segments, scored)

    monkeypatch.setattr(page_labels, "build_extraction", fail)
    files = revisit_archive.write(tmp_path)
    report = local_job.run(request(files, tmp_path / "out"), config.default())
    expected = local.extract(files, config.default())

    def rows(table: str, *columns: str) -> list[Any]:
        found = ds.dataset(tmp_path / "out" / table, partitioning="hive").to_table(list(columns))
        return sorted(tuple(row.values()) for row in found.to_pylist())

    assert rows("extractions", "capture_id") == sorted((one.page.capture_id,) for one in expected.extractions)
    assert rows("rejects", "url", "stage", "reason") == sorted(
        (one.url, str(one.stage), str(one.reason)) for one in expected.rejects
    )
    shared = capture_rows.revisited_batch(expected.revisits).select(["capture_id", "extraction_id"])
    assert rows("captures", "capture_id", "extraction_id") == sorted(
        [
            *(tuple(row.values()) for row in shared.to_pylist()),
            *((one.page.capture_id,) * 2 for one in expected.extractions),
        ]
    )
    assert {reason, "original_unlabelled"} <= set(report["rejects"])
    assert report["rejects"] == Counter(reason for (reason,) in rows("rejects", "reason"))
    assert report["records_read"] == sum(
        [report["extractions"], report["revisits"], *report["rejects"].values(), *report["skipped"].values()]
    )


def test_a_run_of_which_every_page_failed_is_no_success(
    hard: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """All is written that says why, and where that is stands in the error."""
    monkeypatch.setattr(page_labels, "label_pages", lambda *_: 1 / 0)

    assert 3 == main(["extract", *hard, "--output", str(tmp_path / "out")])
    assert f"no page could be extracted: 1 page failed; {tmp_path}/out/rejects has why\n" in capsys.readouterr().err
    assert {"no_text": 1, "page_failed": 1} == json.loads((tmp_path / "out" / RUN_FILE).read_text())["rejects"]


def test_a_long_stage_gives_signs_of_life(hard: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While it works: `dbce status` on another host goes by them."""
    compare, write, signs = sites.compare_pages, heartbeat.write, Queue[str]()

    def noted(output: str, beat: heartbeat.Heartbeat) -> None:
        write(output, beat)
        signs.put(beat.stage)

    def long(*given: Any) -> Any:
        while signs.get(timeout=10) != "sites":
            pass
        assert ["sites"] * 2 == [signs.get(timeout=10) for _ in range(2)]
        return compare(*given)

    monkeypatch.setattr(heartbeat, "SECONDS", 0.01)
    monkeypatch.setattr(heartbeat, "write", noted)
    monkeypatch.setattr(sites, "compare_pages", long)
    local_job.run(request(hard, tmp_path / "out"), config.default())

    assert not Path(staging.path(str(tmp_path / "out"), "")).exists()


def test_an_output_that_lacks_a_part_is_not_finished(
    hard: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows of each table are counted before run.json is written."""
    monkeypatch.setattr(extraction_files.ExtractionFiles, "write_merged", lambda *_: None)
    with pytest.raises(OutputError, match=r"extractions has 0 rows, and 1 were written.*--overwrite"):
        local_job.run(request(hard, tmp_path / "out"), config.default())

    assert not (tmp_path / "out" / RUN_FILE).exists()


def test_a_run_that_was_ended_is_done_again(hard: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From its beginning, by the same command; a finished one is refused."""
    output = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(duplicate_files, "write", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            local_job.run(request(hard, output), config.default())

    assert Path(staging.path(str(output), staging.PLAN)).exists()
    ended = heartbeat.read(str(output))
    assert ended is not None
    assert ("duplicates", False) == (ended.stage, ended.keeps)
    run_output.check(request(hard, output), config.default())
    assert 1 == local_job.run(request(hard, output), config.default())["extractions"]
    assert not Path(staging.path(str(output), "")).exists()
    with pytest.raises(OutputError, match="exists"):
        run_output.check(request(hard, output), config.default())


def test_a_small_input_needs_no_spark(hard: list[str], tmp_path: Path) -> None:
    """`dbce extract` works where PySpark cannot be imported; its summary ends with texts and a command."""
    program = (
        "import sys; sys.modules.update(pyspark=None, py4j=None);from dbce_spark.commands.cli import entry; entry()"
    )
    command = [sys.executable, "-c", program, "extract", *hard, "--output", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    *_, last = done.stdout.splitlines()

    assert 0 == done.returncode, done.stderr
    assert f"more            dbce show http://smiles.example/ --in {tmp_path}/out" == last
    assert "local" == json.loads((tmp_path / "out" / RUN_FILE).read_text())["engine"]


@pytest.mark.parametrize(
    "option", [["--limit", "3"], ["--master", "local[1]"], ["--spark", "a=b"], ["--staging", "s"], ["--index", "x.cdx"]]
)
def test_what_only_spark_has_is_refused(
    option: list[str], hard: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line that names it."""
    (tmp_path / "x.cdx").write_text(" CDX N b a\n")
    given = [str(tmp_path / "x.cdx") if one == "x.cdx" else one for one in option]

    assert 2 == main(["extract", *hard, "--output", str(tmp_path / "out"), "--engine", "local", *given])
    assert f"--engine local and {option[0]} do not go together" in capsys.readouterr().err


def test_the_size_of_the_input_decides(hard: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to engine.local_bytes it is done here, above on Spark; by hand as one likes."""
    from dbce_spark.commands import extract_command

    chosen: list[str] = []

    def choosing(name: str) -> Callable[..., None]:
        def choose(*_: object) -> None:
            chosen.append(name)
            raise InputError("far enough")

        return choose

    monkeypatch.setattr(local_job, "run", choosing("local"))
    monkeypatch.setattr(extract_command, "_on_spark", choosing("spark"))
    size = sum(Path(one).stat().st_size for one in hard)
    for bound, more in [(size, []), (size - 1, []), (0, ["--engine", "local"]), (size, ["--engine", "spark"])]:
        settings = ["--set", f"engine.local_bytes={bound}", *more]
        assert 2 == main(["extract", *hard, "--output", str(tmp_path / "o"), *settings])

    assert ["local", "spark", "local", "spark"] == chosen
