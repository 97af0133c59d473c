"""The history of all pages of a collection as tables.

Captures are put in order of time, and what their extractions hold is brought to them, packed; each task then writes
what `dbce_spark.output.history.page_history` gives for some URLs.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from itertools import chain, groupby
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from dbce_spark import __version__
from dbce_spark.config import LshConfig
from dbce_spark.files import parquet, storage
from dbce_spark.log import Log, counted
from dbce_spark.output import stored_rows
from dbce_spark.output.collection import EXTRACTIONS, RUN_FILE, SUPERSEDED, Collection, Version
from dbce_spark.output.history import page_history
from dbce_spark.output.history.page_history import KINDS, HistoryStep, Lives, Moment
from dbce_spark.output.schemas import history_rows, increment_rows
from dbce_spark.spark.engine.groups import groups, parted_by_url
from dbce_spark.spark.engine.numbered_tasks import one_task_each, task_numbers
from dbce_spark.spark.engine.spark_errors import as_job_errors
from dbce_spark.spark.run import collection_state, prior_state, single_files, staging
from dbce_spark.spark.run.prior_state import PriorState
from dbce_spark.spark.run.task_results import task_results

STEPS, CHANGES, LIVES, REDESIGNS = "steps", "changes", "lives", "redesigns"
CAPTURES_PER_FILE = 1 << 14
"""Some 50 MB of packed pieces, which Spark sorts, and half a minute."""
_BYTES_PER_TASK = 64 << 20
"""Of extractions as they are stored."""
_ROWS = 128
"""Extractions that are unfolded at once: some 250 segments each."""
_HELD_BYTES = 32 << 20
"""Of rows that wait until they fill a row group."""
_ROWS_PER_GROUP = 1 << 12
"""Steps are written one by one, each some 4 KB until then."""
_SEGMENT = ("block", "start", "end", "label", "xpath")
_HOLDS = ["capture_id", "template_id", "page_text", *(f"segments.{name}" for name in _SEGMENT)]
_REPEATING = {
    STEPS: ["url_key", "url", "site", "template_from", "template_to", *KINDS],
    CHANGES: ["url_key", "url", "site", "capture_id", "before_id", "timestamp", "before_timestamp", "kind"]
    + [f"{name}_{side}" for name in ("label", "xpath") for side in ("before", "after")],
    LIVES: ["url_key", "url", "site", "label", "xpath", "first_seen", "last_seen", "captures", "began", "ended"],
}
_SCHEMAS = {STEPS: history_rows.STEPS, CHANGES: history_rows.CHANGES, LIVES: history_rows.LIVES}
_COMPARED = ["site", "url", "before_timestamp", "timestamp", "template_from", "template_to", "is_redesigned"]
_COMPARED_ROW = pa.schema([history_rows.STEPS.field(name) for name in _COMPARED])


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryCounts:
    """Counts of the rows that were written, and of the URLs with two captures or more that they are of."""

    version: int
    urls: int
    captures: int
    steps: int
    changes: dict[str, int]
    lives: int
    redesigns: int
    seconds: float

    def text(self) -> str:
        """Render it for a person."""
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.changes.items() if count)
        return (
            f"version {self.version}: {counted(self.urls, 'URL')} of two captures and more,"
            f" {counted(self.captures, 'capture')}\n"
            f"changes: {kinds or 'none'}\n"
            f"lives of {counted(self.lives, 'text')}; {counted(self.redesigns, 'redesign')} of sites"
        )


def write(spark: SparkSession, collection: Collection, version: Version, output: str, log: Log) -> HistoryCounts:
    """Write STEPS, CHANGES, LIVES and REDESIGNS of a version into a folder that is not there yet, and last run.json.

    The file of a URL's rows follows from its key and the number of captures.

    Raises:
        JobError: Spark gave up; a file of the collection may be broken.
        OutputError: the folder is there, or cannot be written; or the collection lacks members or captures.
    """
    started = time.monotonic()
    prior_state.check_whole(collection, version)
    prior = prior_state.prior_state(collection, version)
    lsh = LshConfig(**version.settings["config"]["lsh"])
    with storage.atomic_folder(output.rstrip("/")) as target, as_job_errors("nothing was written"):
        with _stage(log, "captures"):
            urls, captures = _sizes(spark, prior)
        parts = max(1, -(-captures // CAPTURES_PER_FILE))
        with _stage(log, f"{counted(captures, 'capture')} of {counted(urls, 'URL')}"):
            held = _held(spark, collection, version)
            counts = _write_parts(_placed(_lines(spark, prior, held), parts), target, lsh)
        with _stage(log, REDESIGNS):
            redesigns = _write_redesigns(spark, target)
        account = HistoryCounts(
            version=version.number,
            urls=urls,
            captures=captures,
            steps=counts[STEPS],
            changes={kind: counts[kind] for kind in KINDS},
            lives=counts[LIVES],
            redesigns=redesigns,
            seconds=round(time.monotonic() - started, 1),
        )
        report = asdict(account) | {"collection": collection.folder, "versions": {"dbce_spark": __version__}}
        storage.write_json(f"{target}/{RUN_FILE}", report)
    return account


@contextmanager
def _stage(log: Log, what: str) -> Iterator[None]:
    """Log a part of the work when it begins and when it has ended."""
    began = time.monotonic()
    log.write("stage_begin", f"{what}: begins")
    with log.waiting(what):
        yield
    seconds = round(time.monotonic() - began, 3)
    log.write("stage_end", f"{what}: {seconds:,.1f} s", {"seconds": seconds})


def _sizes(spark: SparkSession, prior: PriorState) -> tuple[int, int]:
    """Count the URLs that have two captures or more, and the captures of these."""
    of_url = collection_state.captures(spark, prior).groupBy("url_key").count().where("count > 1")
    row = of_url.agg(F.count("*"), F.sum("count")).first()
    return (row[0], row[1] or 0) if row else (0, 0)


def _held(spark: SparkSession, collection: Collection, version: Version) -> DataFrame:
    """Read what the extractions that count hold: HELD rows. Tasks read the files by themselves, of their segments five
    fields of twelve."""
    files = collection.files(version, EXTRACTIONS)
    stored = sum(Path(path).stat().st_size for _, path in files)
    tasks = min(len(files), max(spark.sparkContext.defaultParallelism, -(-stored // _BYTES_PER_TASK)))

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        own = (file for task in task_numbers(batches) for file in files[task::tasks])
        for number, path in own:
            for batch in stored_rows.batches([path], _HOLDS, rows=_ROWS):
                yield history_rows.held_batch(number, batch)

    rows = one_task_each(spark, tasks).mapInArrow(read, staging.schema(history_rows.HELD))
    again = [path for _, path in collection.files(version, SUPERSEDED)]
    if not again:
        return rows.drop("number")
    superseded = collection_state.numbered(spark, again, increment_rows.SUPERSEDED)
    return collection_state.counting(rows.withColumnRenamed("number", "increment"), superseded).drop("increment")


def _lines(spark: SparkSession, prior: PriorState, held: DataFrame) -> DataFrame:
    """Read the captures of URLs that have two or more: what `history_rows.moments_from` reads.

    What an extraction holds is with those captures only whose extraction is not that of the capture before."""
    in_time = Window.partitionBy("url_key").orderBy("timestamp", "capture_id")
    before, behind = (beside("extraction_id").over(in_time) for beside in (F.lag, F.lead))
    fetched = collection_state.captures(spark, prior).select(
        *("url_key", "url", "site", "timestamp", "capture_id", "extraction_id"),
        before.alias("before"),
        behind.alias("behind"),
    )
    # One key for all captures that need nothing would bring them all to one place.
    needed = F.when(F.col("before").eqNullSafe(F.col("extraction_id")), F.col("capture_id")).otherwise(
        F.col("extraction_id")
    )
    line = fetched.where("before is not null or behind is not null").withColumn("needed", needed)
    signatures = collection_state.members(spark, prior).select(F.col("capture_id").alias("needed"), "signature")
    with_texts = line.join(held.withColumnRenamed("capture_id", "needed"), on="needed", how="left")
    return with_texts.join(signatures, on="needed", how="left").drop("needed", "before", "behind")


def _placed(lines: DataFrame, parts: int) -> DataFrame:
    """Bring all captures of a URL to one part, in order of time."""
    ordered = parted_by_url(lines, parts, "url_key", "timestamp", "capture_id")
    return ordered.withColumn("timestamp", F.unix_micros("timestamp"))


def _write_parts(placed: DataFrame, target: str, lsh: LshConfig) -> Counter[str]:
    """Write STEPS, CHANGES and LIVES, a file of each for each part. Returns how many rows they have, and how many
    changes of each kind."""

    def write_all(batches: Iterator[pa.RecordBatch]) -> Counter[str]:
        counts: Counter[str] = Counter()
        rows = chain.from_iterable(batch.to_pylist() for batch in batches)
        for part, of_part in groupby(rows, key=lambda row: row["part"]):
            with ExitStack() as open_files:
                written = _Part(open_files, target, part, lsh)
                for _, of_url in groupby(of_part, key=lambda row: row["url_key"]):
                    written.write(history_rows.moments_from(of_url))
                counts += written.counts
        return counts

    counts = sum(task_results(placed, write_all, Counter[str]), Counter[str]())
    if not counts[STEPS]:
        for name, schema in _SCHEMAS.items():
            parquet.write(single_files.path(target, name), schema, [])
    return counts


class _Part:
    """The files of one part, and what was written into them."""

    def __init__(self, open_files: ExitStack, target: str, part: int, lsh: LshConfig):
        self._lsh = lsh
        self.counts: Counter[str] = Counter()
        self._files = {
            name: open_files.enter_context(
                parquet.writer(
                    f"{target}/{name}/{parquet.part_name(part)}",
                    schema,
                    dictionary=_REPEATING[name],
                    rows_per_group=_ROWS_PER_GROUP,
                )
            )
            for name, schema in _SCHEMAS.items()
        }

    def write(self, moments: Iterator[Moment]) -> None:
        """Write what became of one URL, with two of its captures held at once."""
        first = next(moments, None)
        if first is None:
            return
        lives, last = Lives(first), first
        for step in page_history.steps(chain([first], moments)):
            self._write_step(step)
            self._write(LIVES, history_rows.lives_batch(step.before, lives.advance(step)))
            last = step.after
        self._write(LIVES, history_rows.lives_batch(last, lives.remaining()))

    def _write_step(self, step: HistoryStep) -> None:
        is_redesigned = step.is_redesigned(self._lsh.threshold_of(step.after.site))
        self._write(STEPS, history_rows.steps_batch(step, is_redesigned=is_redesigned))
        self._write(CHANGES, history_rows.changes_batch(step))
        self.counts.update(change.kind for change in step.changes)

    def _write(self, name: str, rows: pa.RecordBatch) -> None:
        if not rows.num_rows:
            return
        self.counts[name] += rows.num_rows
        file = self._files[name]
        file.write(rows)
        if file.held_bytes > _HELD_BYTES:
            file.flush()


def _write_redesigns(spark: SparkSession, target: str) -> int:
    """Write REDESIGNS, of the steps that are written; returns how many rows it has."""
    files = [f"{target}/{STEPS}/{name}" for name in sorted(storage.list_names(f"{target}/{STEPS}"))]
    rows = redesigns(_compared(spark, files)).toArrow().cast(history_rows.REDESIGNS)
    in_order = single_files.in_order(rows, ("site", "not_after"))
    parquet.write(single_files.path(target, REDESIGNS), history_rows.REDESIGNS, in_order)
    return int(rows.num_rows)


def _compared(spark: SparkSession, files: Sequence[str]) -> DataFrame:
    """Read the steps whose templates could be compared, with what `redesigns` reads. The page travels only of those
    that were redesigned."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for task in task_numbers(batches):
            with parquet.reader(files[task]) as file:
                for rows in file.iter_batches(columns=[*_COMPARED, "similarity"]):
                    yield rows.filter(pc.is_valid(rows.column("similarity"))).select(_COMPARED)

    rows = one_task_each(spark, len(files)).mapInArrow(read, staging.schema(_COMPARED_ROW))
    of_changed = ("url", "template_from", "template_to")
    changed = {name: F.when(F.col("is_redesigned"), F.col(name)) for name in of_changed}
    return rows.withColumns(changed)


def redesigns(steps: DataFrame) -> DataFrame:
    """Make REDESIGNS rows as `page_history.redesigns` does, from steps of whole sites, each in one task."""

    def of_sites(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for site in groups(batches, ["site"]):
            of_site = page_history.redesigns(*history_rows.redesigned_from(site))
            yield history_rows.redesigns_batch(site.column("site")[0].as_py(), of_site)

    return (
        steps.repartition("site")
        .sortWithinPartitions("site")
        .mapInArrow(of_sites, staging.schema(history_rows.REDESIGNS))
    )
