"""Collections that Spark has extended crawl by crawl, which many tests read."""

import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.warcwriter import WARCWriter

from benchmarks.samples import write_archive
from dbce_spark.errors import OutputError
from dbce_spark.files import sources
from dbce_spark.output.collection import Collection
from dbce_spark.output.current_rows import table_files
from dbce_spark.spark.jobs import compaction_job, extract_job, increment_job
from dbce_spark.spark.run import run_lock, run_output
from dbce_spark.spark.run.run_request import RunRequest
from dbce_spark.spark.stages import read_few
from dbce_spark.spark.stages.compare_pages import compared_pages
from dbce_spark.spark.stages.mark_duplicates import text_duplicates
from tests.support.builders import config

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = (
    "language.detect=false",
    "output.site_parts=3",
    "bucket.cap=6",
    "bucket.whole_site_bytes=40000",
    "duplicates.cap=4",
)
"""Buckets of several chunks; some sites are compared as a whole, the others bucket by bucket."""
TABLES = ("extractions", "captures", "rejects")
Texts = dict[str, list[str]]


def write_crawls(folder: Path) -> list[str]:
    """Write three crawls of the same sites, a file each; of the second the revisits of pages of the first have a file
    of their own, before the others. Return the four files."""
    write_archive(folder, pages=24, seed=5)
    first, second, third = sources.expand([str(folder)], config().input.patterns)
    revisits, others = folder / "second-0.warc.gz", folder / "second-1.warc.gz"
    with revisits.open("wb") as of_revisits, others.open("wb") as of_others, Path(second).open("rb") as both:
        for one in ArchiveIterator(both):
            file = of_revisits if one.rec_type == "revisit" else of_others
            WARCWriter(file, gzip=True).write_record(one)
    return [first, str(revisits), str(others), third]


def request(files: Sequence[str], output: str = "") -> RunRequest:
    """Return the request of a run over some files."""
    return RunRequest(files=files, output=output, with_html=False, limit=None, started=time.monotonic())


def extend(spark: "SparkSession", to: Collection, files: Sequence[str], settings: Sequence[str]) -> dict[str, Any]:
    """Extend a collection by those of these files that it does not hold, and return what run.json says."""
    parameters = config(*settings)
    made = increment_job.prepared(to, request(files), parameters)
    assert made is not None
    return increment_job.run(spark, to, made, parameters)


def in_order(some: Sequence[dict[str, Any]]) -> list[str]:
    """Return rows as text, in order, without the part of the output that they lie in."""
    return sorted(str({name: value for name, value in row.items() if name != "site_part"}) for row in some)


def texts_of(of: Collection, version: int | None = None) -> Texts:
    """Return the rows of a version, each as text, in order."""
    chosen = of.current() if version is None else of.version(version)
    return {
        name: in_order([row for batch in table_files(of, chosen, name).batches(rows=50) for row in batch.to_pylist()])
        for name in TABLES
    }


def texts_below(output: Path) -> Texts:
    """Return the rows of one run's output in the same form."""
    return {name: in_order(ds.dataset(output / name).to_table().to_pylist()) for name in TABLES}


@dataclass(frozen=True)
class Step:
    """The rows of a collection behind one increment."""

    report: dict[str, Any]
    texts: Texts
    extractions: pa.Table
    duplicates: pa.Table
    superseded: list[str]
    """Captures that the increment has labelled again."""


@dataclass
class Grown:
    """A collection, and what it held behind each step of its growth."""

    to: Collection
    settings: Sequence[str] = SETTINGS
    steps: list[Step] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)
    """What else was seen on the way, by name."""

    def extend(self, spark: "SparkSession", files: Sequence[str]) -> None:
        self.keep(extend(spark, self.to, files, self.settings))

    def keep(self, report: dict[str, Any]) -> None:
        """Keep the state behind the last increment."""
        latest = self.to.current()
        last = latest.increments[-1].number
        paths = [path for number, path in self.to.files(latest, "superseded") if number == last]
        self.steps.append(
            Step(
                report,
                texts_of(self.to),
                pa.Table.from_batches(table_files(self.to, latest, "extractions").batches(rows=50)),
                pa.Table.from_batches(table_files(self.to, latest, "duplicates").batches(rows=50)),
                [one for path in paths for one in pq.read_table(path).column("capture_id").to_pylist()],
            )
        )


def grow_in_time(spark: "SparkSession", folder: Path, crawls: Sequence[str]) -> Grown:
    """Extend a collection by the first crawl and by revisits of it; go back to the first version, and forth again; put
    it together, and extend it by all the rest: this time in one task, as few captures are compared."""
    grown = Grown(Collection(str(folder)))
    grown.extend(spark, crawls[:1])
    grown.extend(spark, crawls[1:2])
    grown.notes["first version, later"] = texts_of(grown.to, 1)
    grown.to.rollback(1)
    grown.notes["rolled back"] = texts_of(grown.to)
    grown.to.rollback(2)
    compaction_job.run(grown.to, 1000)
    grown.to.vacuum(1)
    grown.notes["put together"] = texts_of(grown.to)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compared_pages, "fit_one_worker", lambda run, account: True)
        grown.extend(spark, crawls)
    return grown


def grow_late(spark: "SparkSession", folder: Path, crawls: Sequence[str]) -> Grown:
    """Extend a collection by the last crawl and revisits, then by their originals and the rest. Its first run is ended
    before its version is made, while another one waits; revisits are shared out by Spark, as many would be, and texts
    where there are prior ones."""
    grown, parameters = Grown(Collection(str(folder))), config(*SETTINGS)
    to, first = grown.to, [crawls[1], crawls[3]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read_few, "are_few", lambda run, account: False)
        one, other = (increment_job.prepared(to, request(files), parameters) for files in (first, crawls))
        assert one
        assert other
        with run_lock.hold(one.work), pytest.raises(OutputError) as refused:
            increment_job.run(spark, to, other, parameters)
        grown.notes["while another is at work"] = str(refused.value)
        report = extract_job.run(spark, one, parameters)
        grown.notes["numbers before the version"] = to.numbers()
        with pytest.raises(OutputError) as refused:
            run_output.check(other, parameters)
        grown.notes["when another has ended"] = str(refused.value)
        grown.notes["prepared"] = increment_job.prepared(to, request(crawls), parameters)
        grown.notes["numbers"] = to.numbers()
        grown.keep(report)
        patch.setattr(text_duplicates, "FEW", 0)
        grown.extend(spark, crawls)
    return grown


def copy_of(grown: Grown, folder: Path) -> Collection:
    """Copy a collection, to change it."""
    return Collection(str(shutil.copytree(grown.to.folder, folder)))
