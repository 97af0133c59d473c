"""Collections that grow by crawls end as one run over all of these does."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow.dataset as ds
import pytest

from benchmarks.programs.month import damaged, good, row_counts
from benchmarks.samples import sample_month, write_month
from dbce_spark import config
from dbce_spark.errors import OutputError
from dbce_spark.output import output_reader
from dbce_spark.output.collection import Collection
from dbce_spark.output.current_rows import table_files
from dbce_spark.output.schemas import capture_rows, extraction_rows, reject_rows
from dbce_spark.spark.jobs import extract_job, increment_job, local_job
from dbce_spark.spark.run import staging
from dbce_spark.spark.stages import write_captures
from tests.support.run_endings import extract_command, kill_at, tables_below
from tests.support.spark_collections import (
    SETTINGS,
    TABLES,
    Grown,
    Texts,
    copy_of,
    extend,
    in_order,
    request,
    texts_below,
    texts_of,
)
from tests.support.spark_runs import jobs_by_stage

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PATTERNS = ("language.detect=false", "output.site_parts=3", "duplicates.find=false", "bucket.cap=6", "label.by=T002")
PATIENCE = 600


class Whole(NamedTuple):
    """One run over all crawls: its output, and the rows of its tables as text."""

    output: Path
    texts: Texts


@pytest.fixture(scope="module")
def whole(crawls: list[str], tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """One run over all crawls, without Spark, which writes the same bytes (test_local_job)."""
    folder = tmp_path_factory.mktemp("whole")
    local_job.run(request(crawls, str(folder)), config.load(settings=SETTINGS))
    return Whole(folder, texts_below(folder))


def read(of: Collection) -> Texts:
    """Return the rows that count, as `dbce export` and others read them."""
    opened = output_reader.open_output(of.folder)
    found = {}
    for name, schema in zip(
        TABLES, (extraction_rows.EXTRACTIONS, capture_rows.CAPTURES, reject_rows.REJECTS), strict=True
    ):
        columns = [one for one in schema.names if one != "site_part"]
        found[name] = in_order([row for batch in opened.batches(name, columns, rows=50) for row in batch.to_pylist()])
    return found


def test_increments_end_as_one_run_over_all(grown_in_time: Grown, whole: Whole) -> None:
    """Every row is the same, when crawls come in their order, and all that the last one affects is compared in one
    task."""
    assert whole.texts == grown_in_time.steps[-1].texts
    assert grown_in_time.to.current().increments[-1].relabelled > 0
    assert not {"growth", "crosses"} & {*grown_in_time.steps[-1].report["seconds"]}


def test_increments_that_come_late_end_as_one_run_over_all(grown_late: Grown, whole: Whole) -> None:
    """So it is when the last crawl comes first, revisits before their originals, and each site takes its own way."""
    assert whole.texts == grown_late.steps[-1].texts
    assert {"growth", "crosses"} & {*grown_late.steps[-1].report["seconds"]}
    assert grown_late.to.current().increments[-1].relabelled > 0


def test_each_version_stays_what_it_was(grown_in_time: Grown) -> None:
    """The rows of the first version are those that were written, when there is a second one, and after a rollback."""
    first = grown_in_time.steps[0].texts

    assert first == grown_in_time.notes["first version, later"]
    assert first == grown_in_time.notes["rolled back"]


def test_what_is_put_together_is_the_same(grown_in_time: Grown) -> None:
    """It holds the same rows, and grows on from there."""
    assert grown_in_time.steps[1].texts == grown_in_time.notes["put together"]
    assert [5, 6] == [one.number for one in grown_in_time.to.current().increments]


def test_readers_see_the_rows_that_count(grown_in_time: Grown, grown_late: Grown) -> None:
    """As `dbce export` and others read a collection, it has the rows of its last version."""
    assert grown_late.steps[-1].texts == read(grown_late.to)
    assert grown_in_time.steps[-1].texts == read(grown_in_time.to)


def test_the_accounts_of_increments_are_that_of_one_run(grown_in_time: Grown, whole: Whole) -> None:
    """The sums over run.json of all increments are those of one run."""
    shown, expected = (
        output_reader.open_output(grown_in_time.to.folder).run,
        output_reader.open_output(str(whole.output)).run,
    )
    names = ("records_read", "captures", "extractions", "revisits", "rejects", "skipped")

    assert [expected[name] for name in names] == [shown[name] for name in names]
    assert shown["failed_files"] == expected["failed_files"]
    assert [*expected["config"]] == [*shown["config"]]


def test_the_account_of_each_increment_adds_up(grown_in_time: Grown) -> None:
    """By itself: records read, and revisits of earlier crawls that were looked up once more, have one outcome each."""
    reports = [json.loads(path.read_text()) for path in sorted(Path(grown_in_time.to.folder).rglob("run.json"))]
    runs = [one for one in reports if one.get("why") != "compact"]
    outcomes = [
        run["extractions"] + run["revisits"] + sum(run["rejects"].values()) + sum(run["skipped"].values())
        for run in runs
    ]

    assert outcomes == [run["records_read"] + run["revisits_taken_up"] for run in runs]


def test_two_runs_at_once_extend_it_once(grown_late: Grown) -> None:
    """The one that comes second is refused, while the first is at work and when it has ended."""
    assert "another run is at work there" in grown_late.notes["while another is at work"]
    assert "exists" in grown_late.notes["when another has ended"]


def test_an_increment_that_was_ended_is_made_a_version(grown_late: Grown, crawls: list[str]) -> None:
    """A run that was killed between its last file and its version is ended by the next one."""
    following = grown_late.notes["prepared"]

    assert [] == grown_late.notes["numbers before the version"]
    assert [1] == grown_late.notes["numbers"]
    assert grown_late.to.increment(2) == following.output
    assert [crawls[0], crawls[2]] == [*following.files]


def test_what_was_read_is_not_read_again(grown_late: Grown, crawls: list[str]) -> None:
    """Of files that the collection holds there is no increment."""
    assert increment_job.prepared(grown_late.to, request(crawls), config.load(settings=SETTINGS)) is None


class Regrown(NamedTuple):
    """A collection that was rolled back to its first version and extended again, by a file more."""

    to: Collection
    rolled_back: Texts
    report: dict[str, Any]


@pytest.fixture(scope="module")
def regrown(
    spark: "SparkSession", grown_late: Grown, crawls: list[str], tmp_path_factory: pytest.TempPathFactory
) -> Regrown:
    """The collection that has grown late, with a file of its first increment once more, under another name."""
    folder = tmp_path_factory.mktemp("regrown")
    again = shutil.copy(crawls[3], folder / "again.warc.gz")
    to = copy_of(grown_late, folder / "c")
    to.rollback(1)
    rolled_back = texts_of(to)
    return Regrown(to, rolled_back, extend(spark, to, [*crawls, str(again)], SETTINGS))


def test_a_collection_grows_on_from_where_it_was_rolled_back_to(regrown: Regrown, grown_late: Grown) -> None:
    """The increment behind that is numbered on, and what was rolled back comes new when it comes again."""
    first, last = grown_late.steps

    assert first.texts == regrown.rolled_back
    assert [1, 4] == [one.number for one in regrown.to.current().increments]
    assert last.report["captures"] == regrown.report["captures"] > 0


def test_a_crawl_that_comes_twice_adds_nothing(regrown: Regrown, grown_late: Grown) -> None:
    """Under another name its captures are counted as duplicates, and no row is new."""
    last = grown_late.steps[-1]
    counts = ("captures", "extractions", "revisits", "relabelled")
    more = regrown.report["skipped"]["duplicate"] - last.report["skipped"].get("duplicate", 0)

    assert [last.report[name] for name in counts] == [regrown.report[name] for name in counts]
    assert (2, 3) == (last.report["files"], regrown.report["files"])
    assert more >= len(last.texts["captures"]) // 4
    assert last.texts == texts_of(regrown.to)


def test_a_small_month_ends_as_one_run_over_all_good_input(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages are edited, born and deleted, a crawl comes twice, a site gets a new design, a file is damaged and comes
    once more whole, and a run is ended in its midst. `make month` plays it day by day."""
    # Of this seed the damage leaves no half page with words, which would be a capture of its own.
    write_month(tmp_path, pages=14, days=sample_month.WHOLE, seed=1)
    to, came = Collection(str(tmp_path / "c")), sorted(tmp_path.glob("day-*/*"))
    early = [str(one) for one in came if int(one.parent.name.removeprefix("day-")) <= sample_month.DAMAGED]
    extend(spark, to, early, PATTERNS)
    with monkeypatch.context() as killed:
        stages = [
            replace(one, work=interrupted) if one is write_captures.STAGE else one for one in extract_job.LABELLING
        ]
        killed.setattr(extract_job, "LABELLING", tuple(stages))
        with pytest.raises(KeyboardInterrupt):
            extend(spark, to, [*map(str, came)], PATTERNS)
    extend(spark, to, [*map(str, came)], PATTERNS)
    assert increment_job.prepared(to, request([*map(str, came)]), config.load(settings=PATTERNS)) is None
    assert to.current().increments[-1].relabelled > 0
    local_job.run(request([str(one) for one in good(came)], str(tmp_path / "whole")), config.load(settings=PATTERNS))
    tables_of = {name: ds.dataset(tmp_path / "whole" / name).to_table().to_pylist() for name in TABLES}

    assert {name: row_counts(name, some, damaged(came)) for name, some in tables_of.items()} == {
        name: row_counts(
            name,
            [row for batch in table_files(to, to.current(), name).batches(rows=50) for row in batch.to_pylist()],
            damaged(came),
        )
        for name in TABLES
    }


def test_a_small_increment_takes_few_jobs(spark: "SparkSession", crawls: list[str], tmp_path: Path) -> None:
    """As many as a small run, though it relabels prior captures: the driver does by itself what it can hold."""
    to = Collection(str(tmp_path / "c"))
    extend(spark, to, crawls[:1], ['label.by="T002"'])
    report = extend(spark, to, crawls, ['label.by="T002"'])

    assert report["relabelled"] > 0
    assert {"pages": 1, "sites": 1, "extractions": 1} == jobs_by_stage(spark, report)


def interrupted(*given: object, **named: object) -> None:
    raise KeyboardInterrupt


def test_a_collection_is_extended_as_it_was_begun(grown_late: Grown, crawls: list[str]) -> None:
    """Other settings are refused, and the difference is named; how files are read may change."""
    to, more = grown_late.to, [*crawls, "more.warc"]

    with pytest.raises(OutputError, match=r"was labelled with other settings: config\.bucket\.cap was 6, is 7\. Give"):
        increment_job.prepared(to, request(more), config.load(settings=[*SETTINGS, "bucket.cap=7"]))
    assert increment_job.prepared(to, request(more), config.load(settings=[*SETTINGS, "input.max_failed_files=0.5"]))


def command(files: Sequence[str], to: Collection, settings: Sequence[object]) -> "subprocess.Popen[bytes]":
    """`dbce extract --collection` in processes of its own."""
    return extract_command([*files, "--collection", to.folder], settings)


@pytest.fixture(scope="module")
def begun(spark: "SparkSession", crawls: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of the first crawl, labelled by PATTERNS."""
    folder = tmp_path_factory.mktemp("begun") / "c"
    extend(spark, Collection(str(folder)), crawls[:1], PATTERNS)
    return folder


@pytest.mark.faults
@pytest.mark.parametrize("mark", ["sites", "extractions/00000000"])
def test_a_killed_run_leaves_the_version_before(
    spark: "SparkSession", crawls: list[str], begun: Path, tmp_path: Path, mark: str
) -> None:
    """Readers see nothing of it; the same command goes on, and writes the bytes that an undisturbed run writes."""
    to, calm = (Collection(str(shutil.copytree(begun, tmp_path / name))) for name in ("c", "calm"))
    before = texts_of(to)
    kill_at(Path(staging.path(to.increment(2), f"done/{mark}.json")), command(crawls, to, PATTERNS), PATIENCE)

    assert before == texts_of(to)
    assert command(crawls, to, PATTERNS).wait(PATIENCE) == 0
    extend(spark, calm, crawls, PATTERNS)

    assert texts_of(calm) == texts_of(to)
    assert tables_below(Path(calm.increment(2))) == tables_below(Path(to.increment(2)))
