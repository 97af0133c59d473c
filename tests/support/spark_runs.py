"""An archive with all that a run can meet, and runs over it in several ways of Spark, which many tests read."""

import random
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from benchmarks.samples import write_archive
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import local
from dbce_spark.files import sources
from dbce_spark.log import Log
from dbce_spark.output.schemas import reject_rows
from dbce_spark.spark.engine.session import applied_settings
from dbce_spark.spark.engine.small_run_settings import FEW, PARTITIONS
from dbce_spark.spark.jobs import extract_job
from dbce_spark.spark.run import staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.progress import Progress, job_group
from dbce_spark.spark.run.run_request import RunRequest
from dbce_spark.spark.stages import write_captures
from dbce_spark.spark.stages.mark_duplicates import text_duplicates
from tests.support import indexed_archive, partitions, plain_tables, revisit_archive
from tests.support.builders import config

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CAP = 6
COALESCING = "spark.sql.adaptive.coalescePartitions.enabled"
ROWS_PER_FILE = 20
Rows = list[dict[str, Any]]
_SETTINGS = (
    f"bucket.cap={CAP}",
    "output.site_parts=5",
    "duplicates.cap=4",
    "input.records_per_task=4",
    "fetch.first_wait_seconds=0.001",
    "fetch.attempts=2",
    "fetch.gap_bytes=100",
    'select.since="2019-01-15"',
)
SOME_WHOLE, NONE_WHOLE, ALL_WHOLE = 30_000, 0, 1 << 40


def settings(whole_site_bytes: int = SOME_WHOLE) -> DbceConfig:
    """Return the parameters of all runs: small buckets, and sites up to so many bytes compared as a whole."""
    return config(*_SETTINGS, f"bucket.whole_site_bytes={whole_site_bytes}")


class Input(NamedTuple):
    """The files and indexes of a run."""

    files: list[str]
    indexes: list[str]


class Ran(NamedTuple):
    """The output of a run, and its report, which is that of run.json."""

    output: Path
    report: dict[str, Any]


@dataclass(frozen=True)
class Way:
    """A way for Spark to do a run: its settings, the order of inputs, and the sites that are compared as a whole."""

    spark: Mapping[str, str] = field(default_factory=dict)
    shuffled_by: int | None = None
    whole_site_bytes: int = SOME_WHOLE
    are_duplicates_few: bool = True
    """Whether the driver may compare all texts at once."""


BY_ITSELF, MANY, WHOLE_SITES = "1 partition", "3 partitions, as of many captures", "7 partitions, whole sites"
WAYS = {
    BY_ITSELF: Way({PARTITIONS: "1"}),
    # Adaptive execution, as of all larger runs; it would put three small partitions together again. That plans may be
    # compiled as well, test_local_job.py tries.
    MANY: Way({FEW: "0", PARTITIONS: "3", COALESCING: "false"}, 3, NONE_WHOLE, are_duplicates_few=False),
    WHOLE_SITES: Way(partitions.settings(7), 7, ALL_WHOLE),
}
"""The first is how a run of this size goes by itself where there is one core."""


def write(folder: Path) -> Input:
    """Write three crawls of invented sites, one of their files twice; revisits of every kind; a crawl of revisits whose
    originals only an index has; two archives that an index names, of which one is an input as well; a file that is no
    archive. Return these inputs and a file that is missing."""
    places = {name: folder / name for name in ("sample", "revisits", "originals", "indexed")}
    for place in places.values():
        place.mkdir()
    write_archive(places["sample"], pages=24, seed=7)
    sample = sources.expand([str(places["sample"])], config().input.patterns)
    again = shutil.copy(sample[0], folder / "again.warc.gz")
    revisits = revisit_archive.write(places["revisits"])
    of_originals, (index,) = revisit_archive.write_with_index(places["originals"])
    lines = Path(index).read_text().splitlines(keepends=True)
    halves = {places["originals"] / name: at for name, at in (("1.cdxj", 0), ("2.cdxj", 1))}
    for path, at in halves.items():
        # The first line is in both.
        path.write_text("".join([*(lines[:1] if at else []), *lines[at::2]]))
    indexed_archive.write(places["indexed"], years=(2018, 2020, 2021))
    broken, missing = folder / "no-archive.warc.gz", folder / "missing.warc"
    broken.write_bytes(b"this is no archive\n")
    files = [*sample, str(again), *revisits, *of_originals, str(places["indexed"] / "a.warc.gz")]
    return Input([*files, str(broken), str(missing)], [*map(str, halves), *indexed_archive.indexes(places["indexed"])])


@dataclass
class Runs:
    """Runs over one input, each made when it is first read: `runs[BY_ITSELF]`."""

    spark: "SparkSession"
    input: Input
    folder: Path
    _done: dict[str, Ran] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Ran:
        if name not in self._done:
            self._done[name] = self._run(WAYS[name], self.folder / name.replace(" ", "-"))
        return self._done[name]

    def _run(self, way: Way, output: Path) -> Ran:
        files, indexes = ([*some] for some in self.input)
        if way.shuffled_by is not None:
            for some in (files, indexes):
                random.Random(way.shuffled_by).shuffle(some)
        with applied_settings(self.spark, way.spark), pytest.MonkeyPatch.context() as patch:
            patch.setattr(write_captures, "ROWS_PER_FILE", ROWS_PER_FILE)
            if not way.are_duplicates_few:
                patch.setattr(text_duplicates, "FEW", 0)
            return Ran(output, extract(self.spark, files, output, settings(way.whole_site_bytes), indexes, html=True))


def extract(
    spark: "SparkSession",
    files: list[str],
    output: Path,
    parameters: DbceConfig,
    indexes: list[str] | None = None,
    *,
    limit: int | None = None,
    html: bool = False,
) -> dict[str, Any]:
    """Run the job into a folder, and return what run.json says."""
    request = RunRequest(
        files=files, indexes=indexes or [], output=str(output), with_html=html, limit=limit, started=0.0
    )
    return extract_job.run(spark, request, parameters)


def rows(output: Path, table: str, schema: pa.Schema) -> Rows:
    """Return the rows of a table, in order of capture id if they have one. Annotated HTML is left out: the plain
    engine makes none."""
    found = ds.dataset(output / table, partitioning="hive", schema=schema).to_table()
    if (name := "annotated_html") in found.column_names:
        found = found.set_column(found.column_names.index(name), schema.field(name), pa.nulls(len(found), pa.string()))
    sorted_rows: Rows = (found.sort_by("capture_id") if "capture_id" in found.column_names else found).to_pylist()
    return sorted_rows


def plain_extractions(result: local.Result, parameters: DbceConfig) -> Rows:
    """Return the rows of `extractions` that the plain engine makes, in order of capture id."""
    table = pa.Table.from_batches([plain_tables.extractions(result, parameters)])
    sorted_rows: Rows = table.sort_by("capture_id").to_pylist()
    return sorted_rows


def plain_captures(result: local.Result) -> Rows:
    """Return the rows of `captures` that the plain engine makes, in order of capture id."""
    sorted_rows: Rows = plain_tables.captures(result).sort_by("capture_id").to_pylist()
    return sorted_rows


def plain_rejects(result: local.Result) -> list[tuple[Any, ...]]:
    """Return the rows of `rejects` that the plain engine makes, in order."""
    return sorted(tuple(getattr(one, name) for name in reject_rows.REJECTS.names) for one in result.rejects)


def files_below(output: Path) -> dict[str, bytes]:
    """Return the content of all files of all tables, by their names below the output."""
    return {str(part.relative_to(output)): part.read_bytes() for part in sorted(output.glob("*/**/*.parquet"))}


def run_in(spark: "SparkSession", folder: str, config: DbceConfig) -> Run:
    """Make a run that stages and writes in a folder, and reads no files: its stages can be tried one by one."""
    staging.prepare(folder)
    request = RunRequest(files=[], output=folder, with_html=False, limit=None, started=0.0)
    return Run(spark, request, config, Progress(spark.sparkContext, folder, Log()))


def jobs_by_stage(spark: "SparkSession", report: Mapping[str, Any]) -> dict[str, int]:
    """Count the jobs of Spark's that each stage of a run took, by its run.json; stages without any are left out."""
    tracker = spark.sparkContext.statusTracker()
    groups = {stage: job_group(stage, report["run_id"], report["attempts"]) for stage in report["seconds"]}
    counts = {stage: len(tracker.getJobIdsForGroup(group)) for stage, group in groups.items()}
    return {stage: count for stage, count in counts.items() if count}
