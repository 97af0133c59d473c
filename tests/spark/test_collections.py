"""Collections that grow by crawls end as one run over all of these does."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.dataset as ds
import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.warcwriter import WARCWriter

from benchmarks.samples import month, write_archive, write_month
from dbce_spark import config
from dbce_spark.archive import sources
from dbce_spark.config import DbceConfig
from dbce_spark.errors import OutputError
from dbce_spark.output import output_reader
from dbce_spark.output.collection import Collection
from dbce_spark.output.output_reader import table_files
from dbce_spark.spark.jobs import compaction, increment, job
from dbce_spark.spark.run import staging
from dbce_spark.spark.run.run_request import RunRequest
from dbce_spark.spark.stages import captures
from dbce_spark.tables import capture_rows, extraction_rows, reject_rows
from tests.month import as_text, damaged, good
from tests.spark.ended import kill_at, tables_below

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

ROOT = Path(__file__).parents[2]
QUICK = ("language.detect=false", "output.site_parts=3", "duplicates.find=false")
CUT = (*QUICK, "bucket.cap=6")
"""Buckets of several runs."""
LARGE = (*CUT, "bucket.whole_site_bytes=1")
"""Every site goes bucket by bucket."""
PATTERNS = (*CUT, "label.by=T002")
PATIENCE = 240


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Three crawls of the same sites, one file each; of the second the revisits of pages of the first have a file of
    their own, before the others."""
    folder = tmp_path_factory.mktemp("crawls")
    write_archive(folder, pages=60, seed=5)
    first, second, third = sources.expand([str(folder)], config.default().input.patterns)
    revisits, others = folder / "second-0.warc.gz", folder / "second-1.warc.gz"
    with revisits.open("wb") as of_revisits, others.open("wb") as of_others, Path(second).open("rb") as both:
        for one in ArchiveIterator(both):
            file = of_revisits if one.rec_type == "revisit" else of_others
            WARCWriter(file, gzip=True).write_record(one)
    return [first, str(revisits), str(others), third]


def asked(files: Sequence[str], output: str = "") -> RunRequest:
    return RunRequest(files=files, output=output, with_html=False, limit=None, started=time.monotonic())


def extend(spark: "SparkSession", to: Collection, files: Sequence[str], settings: Sequence[str]) -> dict[str, Any]:
    made = config.load(settings=settings)
    request = increment.prepared(to, asked(files), made)
    assert request is not None
    return increment.run(spark, to, request, made)


def whole(spark: "SparkSession", files: Sequence[str], output: Path, settings: Sequence[str]) -> dict[str, list[str]]:
    """The tables of one run over all, each row as text, in order."""
    job.run(spark, asked(files, str(output)), config.load(settings=settings))
    return {name: _sorted(ds.dataset(output / name).to_table().to_pylist()) for name in _TABLES}


@pytest.fixture(scope="module")
def begun(spark: "SparkSession", crawls: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of the first crawl, labelled by PATTERNS, for `grown_from`."""
    folder = tmp_path_factory.mktemp("begun") / "c"
    extend(spark, Collection(str(folder)), crawls[:1], PATTERNS)
    return folder


def grown_from(begun: Path, folder: Path) -> Collection:
    """Another one like it, in another place."""
    return Collection(str(shutil.copytree(begun, folder)))


@pytest.fixture(scope="module")
def at_once(spark: "SparkSession", crawls: list[str], tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The tables of one run over all crawls, labelled by PATTERNS."""
    return whole(spark, crawls, tmp_path_factory.mktemp("whole"), PATTERNS)


def rows(of: Collection, version: int | None = None) -> dict[str, list[str]]:
    """The rows that count in a version, in the same form."""
    chosen = of.known() if version is None else of.version(version)
    return {
        name: _sorted([row for batch in table_files(of, chosen, name).batches(rows=50) for row in batch.to_pylist()])
        for name in _TABLES
    }


def read(of: Collection) -> dict[str, list[str]]:
    """The rows that count, as `dbce export` and others read them."""
    opened = output_reader.opened(of.folder)
    found = {}
    for name, schema in zip(
        _TABLES, (extraction_rows.EXTRACTIONS, capture_rows.CAPTURES, reject_rows.REJECTS), strict=True
    ):
        columns = [one for one in schema.names if one != "site_part"]
        found[name] = _sorted([row for batch in opened.batches(name, columns, rows=50) for row in batch.to_pylist()])
    return found


def check_account(of: Collection, whole: Path) -> None:
    """What run.json of all increments says together is what that of one run says."""
    told, expected = output_reader.opened(of.folder).run, output_reader.opened(str(whole)).run
    names = ("records_read", "captures", "extractions", "revisits", "rejects", "skipped")

    assert [expected[name] for name in names] == [told[name] for name in names]
    assert told["failed_files"] == expected["failed_files"]
    assert [*expected["config"]] == [*told["config"]]


def _sorted(some: list[dict[str, Any]]) -> list[str]:
    return sorted(str({name: value for name, value in row.items() if name != "site_part"}) for row in some)


_TABLES = ("extractions", "captures", "rejects")


@pytest.mark.parametrize(
    ("settings", "order"),
    [
        (LARGE, [[0, 3], [1, 2]]),
        (PATTERNS, [[1, 3], [0], [2]]),
    ],
    ids=["bucket_by_bucket", "late"],
)
def test_increments_end_as_one_run_over_all(
    spark: "SparkSession", crawls: list[str], tmp_path: Path, settings: Sequence[str], order: list[list[int]]
) -> None:
    """Every row is the same, in whatever order crawls come, and whichever way their sites take."""
    to = Collection(str(tmp_path / "c"))
    for some in order:
        extend(spark, to, [crawls[at] for at in some], settings)

    assert whole(spark, crawls, tmp_path / "whole", settings) == rows(to)
    assert to.known().increments[-1].relabelled > 0


def test_what_was_there_before_is_still_there(
    spark: "SparkSession", crawls: list[str], begun: Path, tmp_path: Path
) -> None:
    """Each version stays what it was; after a rollback the collection grows from there."""
    to = grown_from(begun, tmp_path / "c")
    first = rows(to)
    extend(spark, to, crawls[3:], PATTERNS)

    assert first == rows(to, 1)
    to.rollback(1)
    assert first == rows(to)
    extend(spark, to, crawls[1:3], PATTERNS)
    assert [1, 4] == [one.number for one in to.known().increments]
    assert whole(spark, crawls[:3], tmp_path / "whole", PATTERNS) == rows(to)
    assert rows(to) == read(to)
    check_account(to, tmp_path / "whole")


def test_it_grows_on_from_what_was_put_together(
    spark: "SparkSession", crawls: list[str], begun: Path, at_once: dict[str, list[str]], tmp_path: Path
) -> None:
    """Put together it holds the same rows, and ends as one run over all does."""
    to = grown_from(begun, tmp_path / "c")
    extend(spark, to, [crawls[1]], PATTERNS)
    before = rows(to)
    compaction.run(to, 1000)
    to.vacuum(1)

    assert before == rows(to)
    extend(spark, to, crawls, PATTERNS)
    assert [3, 4] == [one.number for one in to.known().increments]
    assert to.known().increments[-1].relabelled > 0
    assert at_once == rows(to)


def test_a_crawl_that_comes_twice_adds_nothing(spark: "SparkSession", crawls: list[str], tmp_path: Path) -> None:
    """A file that was read is not read again; under another name its captures are counted as duplicates."""
    to = Collection(str(tmp_path / "c"))
    extend(spark, to, crawls[:3], PATTERNS)
    before = rows(to)
    assert increment.prepared(to, asked(crawls[:3]), config.load(settings=PATTERNS)) is None

    again = shutil.copy(crawls[2], tmp_path / "again.warc.gz")
    report = extend(spark, to, [*crawls[:3], str(again)], PATTERNS)

    assert (0, 0, 0, 1) == tuple(report[name] for name in ("captures", "extractions", "relabelled", "files"))
    assert report["skipped"]["duplicate"] >= len(before["captures"]) // 3
    assert before == rows(to)


def test_a_small_month_ends_as_one_run_over_all_good_input(
    spark: "SparkSession", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages are edited, born and deleted, a crawl comes twice, a site gets a new design, a file is damaged and comes
    once more whole, and a run is ended in its midst. `make month` plays it day by day."""
    # Of this seed the damage leaves no half page with words, which would be a capture of its own.
    write_month(tmp_path, pages=14, days=month.WHOLE, seed=1)
    to, came = Collection(str(tmp_path / "c")), sorted(tmp_path.glob("day-*/*"))
    for day in (month.AGAIN - 1, month.DAMAGED, month.WHOLE):
        files = [str(one) for one in came if int(one.parent.name.removeprefix("day-")) <= day]
        if day == month.DAMAGED:
            with monkeypatch.context() as killed:
                stages = [replace(one, work=interrupted) if one is captures.STAGE else one for one in job.LABELLING]
                killed.setattr(job, "LABELLING", tuple(stages))
                with pytest.raises(KeyboardInterrupt):
                    extend(spark, to, files, CUT)
        extend(spark, to, files, CUT)
        assert increment.prepared(to, asked(files), config.load(settings=CUT)) is None
    assert to.known().increments[-1].relabelled > 0
    job.run(spark, asked([str(one) for one in good(came)], str(tmp_path / "whole")), config.load(settings=CUT))
    tables_of = {name: ds.dataset(tmp_path / "whole" / name).to_table().to_pylist() for name in _TABLES}

    assert {name: as_text(name, some, damaged(came)) for name, some in tables_of.items()} == {
        name: as_text(
            name,
            [row for batch in table_files(to, to.known(), name).batches(rows=50) for row in batch.to_pylist()],
            damaged(came),
        )
        for name in _TABLES
    }


def interrupted(*given: object, **named: object) -> None:
    raise KeyboardInterrupt


def test_a_collection_is_extended_as_it_was_begun(crawls: list[str], begun: Path, tmp_path: Path) -> None:
    """Other settings are refused, and the difference is named; how files are read may change."""
    to = grown_from(begun, tmp_path / "c")

    with pytest.raises(OutputError, match=r'was labelled otherwise: config\.label\.by was "T002", is "T001"\. Ask'):
        increment.prepared(to, asked(crawls), config.load(settings=[*CUT, "label.by=T001"]))
    assert increment.prepared(to, asked(crawls), config.load(settings=[*PATTERNS, "input.max_failed_files=0.5"]))


def test_two_runs_at_once_extend_it_once(
    spark: "SparkSession", crawls: list[str], at_once: dict[str, list[str]], tmp_path: Path
) -> None:
    """The one that comes second is told, and loses nothing: the same request extends what is there then."""
    to, made = Collection(str(tmp_path / "c")), config.load(settings=PATTERNS)
    one, other = (increment.prepared(to, asked(files), made) for files in (crawls[:1], crawls[1:]))
    assert one
    assert other
    with staging.run_lock(one.work), pytest.raises(OutputError, match="another run is at work there"):
        increment.run(spark, to, other, made)
    increment.run(spark, to, one, made)
    with pytest.raises(OutputError, match="exists"):
        job.check_output(other, made)
    extend(spark, to, crawls, PATTERNS)

    assert at_once == rows(to)


def command(files: Sequence[str], to: Collection, settings: DbceConfig | Sequence[str]) -> "subprocess.Popen[bytes]":
    """`dbce extract --collection` in processes of its own."""
    given = [text for setting in settings for text in ("--set", setting)]  # type: ignore[union-attr]
    return subprocess.Popen(
        [
            *(sys.executable, "-c", "import sys; from dbce_spark.cli import main; sys.exit(main())", "extract"),
            *(*files, "--collection", to.folder, "--master", "local[1]", *given),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


@pytest.mark.faults
@pytest.mark.parametrize("mark", ["growth", "extractions/00000000"])
def test_a_killed_run_leaves_the_version_before(
    spark: "SparkSession", crawls: list[str], begun: Path, tmp_path: Path, mark: str
) -> None:
    """Readers see nothing of it; the same command goes on, and writes the bytes that an undisturbed run writes."""
    to, calm = (grown_from(begun, tmp_path / name) for name in ("c", "calm"))
    before = rows(to)
    kill_at(Path(staging.path(to.increment(2), f"done/{mark}.json")), command(crawls, to, PATTERNS), PATIENCE)

    assert before == rows(to)
    assert command(crawls, to, PATTERNS).wait(PATIENCE) == 0
    extend(spark, calm, crawls, PATTERNS)

    assert rows(calm) == rows(to)
    assert tables_below(Path(calm.increment(2))) == tables_below(Path(to.increment(2)))


def test_an_increment_that_was_ended_is_made_a_version(
    spark: "SparkSession", crawls: list[str], tmp_path: Path
) -> None:
    """A run that was killed between its last file and its version is ended by the next one."""
    to, made = Collection(str(tmp_path / "c")), config.load(settings=PATTERNS)
    request = increment.prepared(to, asked(crawls[:1]), made)
    assert request
    job.run(spark, request, made)
    assert to.latest() is None

    following = increment.prepared(to, asked(crawls), made)

    assert [1] == to.numbers()
    assert following
    assert replace(following, files=[]).output == to.increment(2)
    assert crawls[1:] == [*following.files]
