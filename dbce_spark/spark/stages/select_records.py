"""The stage `selection`, where there is an index: stage the wanted places that it names, in parts of even size.

The driver holds the names of archives and how many places each has. The places themselves are staged by the tasks that
read the index.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

import pyarrow as pa
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from dbce_spark.archive import indexed_records
from dbce_spark.archive.failed_files import Loss
from dbce_spark.archive.index import index_file
from dbce_spark.archive.index.byte_ranges import group_by_file
from dbce_spark.archive.index.capture_filter import FilterCounts
from dbce_spark.archive.index.index_entry import IndexEntry
from dbce_spark.archive.index.index_fault import BadLine
from dbce_spark.config import DbceConfig
from dbce_spark.files import parquet
from dbce_spark.output.schemas import place_rows, reject_rows
from dbce_spark.output.schemas.codec import encode
from dbce_spark.output.schemas.place_rows import ENTRIES, PLACES
from dbce_spark.spark.engine.batches import lots
from dbce_spark.spark.engine.numbered_tasks import one_task_each, task_numbers
from dbce_spark.spark.run import staging
from dbce_spark.spark.run.job_run import Run
from dbce_spark.spark.run.job_stage import Stage
from dbce_spark.spark.run.run_account import RunAccount
from dbce_spark.spark.run.stage_counts import SelectedPlaces
from dbce_spark.spark.run.task_results import task_results

NAME = staging.SELECTION
_ENTRIES, _PLACES = staging.SELECTED, staging.PLACES
_ROWS = 8192
"""Lines of an index that a task holds before it writes what they are."""
_REPEATING = ["mime", "mime_detected", "filename", "path"]


def _select(run: Run, _account: RunAccount) -> SelectedPlaces:
    """Read the indexes, one task each or one for some lines of a cluster, and stage the places that are wanted."""
    config, per_part = run.config, run.config.input.records_per_task
    parts = [*index_file.list_parts(sorted(run.request.indexes), indexed_records.index_selection(config), config.fetch)]
    selected = _read(run, parts)
    ranked = _ranked(run)
    places = ranked.groupBy("path").agg(F.max("rank").alias("places")).collect()
    archives = dict(sorted((row["path"], row["places"]) for row in places))
    run.stage_rows(_in_parts(run, ranked, archives, per_part), _PLACES)
    return replace(selected, archives=archives, parts=-(-sum(archives.values()) // per_part))


def _count(_run: Run, account: RunAccount, selected: SelectedPlaces) -> None:
    account.selected = selected


STAGE = Stage(
    name=NAME,
    applies=lambda run, account: bool(run.request.indexes),
    work=_select,
    kept_as=SelectedPlaces,
    count=_count,
)


def _read(run: Run, parts: Sequence[index_file.IndexPart]) -> SelectedPlaces:
    """Read the parts of the indexes, a task each; add up the counts of the tasks."""
    if not parts:
        return SelectedPlaces()
    all_parts = run.spark.sparkContext.broadcast(list(parts))
    base, work, config = run.request.base, run.work, run.config

    def read(batches: Iterator[pa.RecordBatch]) -> SelectedPlaces:
        counts = (stage_part(all_parts.value[at], at, base, work, config) for at in task_numbers(batches))
        return sum(counts, SelectedPlaces())

    return sum(task_results(one_task_each(run.spark, len(parts)), read, SelectedPlaces), SelectedPlaces())


def stage_part(part: index_file.IndexPart, number: int, base: str, work: str, config: DbceConfig) -> SelectedPlaces:
    """Stage the wanted places of one part of an index, and its lines that are none as rejects; return the counts of its
    lines."""
    counts, reasons, losses = FilterCounts(), Counter[str](), list[Loss]()
    entries_path = staging.staged_file(work, _ENTRIES, number)
    rejects_path = staging.staged_file(work, staging.REJECTS, number).replace(".parquet", "-index.parquet")
    lines = index_file.read_part(part, base, indexed_records.index_selection(config), config.fetch, counts)
    with (
        parquet.writer(entries_path, ENTRIES, dictionary=_REPEATING, rows_per_group=_ROWS) as places_out,
        parquet.writer(
            rejects_path, reject_rows.REJECTS, dictionary=["warc_file"], rows_per_group=_ROWS
        ) as rejects_out,
    ):
        for lot in lots(lines, _ROWS):
            places_out.write(encode(ENTRIES, [one for one in lot if isinstance(one, IndexEntry)]))
            rejects = [indexed_records.line_reject(one) for one in lot if isinstance(one, BadLine)]
            rejects_out.write(reject_rows.rejects_batch(rejects))
            reasons.update(str(reject.reason) for reject in rejects)
            losses += indexed_records.index_losses(rejects, [part.path])
    return SelectedPlaces(counts=counts, rejects=reasons, losses=losses)


def _ranked(run: Run) -> DataFrame:
    """Read the staged places with their `rank` among those of their archive, from 1; lines of one place share it."""
    of_archive = Window.partitionBy("path").orderBy("offset")
    return run.staged(_ENTRIES, ENTRIES).withColumn("rank", F.dense_rank().over(of_archive))


def _in_parts(run: Run, ranked: DataFrame, archives: dict[str, int], per_part: int) -> DataFrame:
    """Add the `part` that each place belongs to: as `indexed_records.cut`, of archives in order of their names."""
    before = list(accumulate(archives.values(), initial=0))[:-1]
    first = run.spark.createDataFrame(list(zip(archives, before, strict=True)), "path string, before long")
    part = F.floor((F.col("before") + F.col("rank") - 1) / per_part).cast("int").alias("part")
    return ranked.join(F.broadcast(first), on="path", how="inner").select(*ENTRIES.names, part)


def places_in_parts(run: Run, parts: int) -> DataFrame:
    """Read the staged places, each part a partition."""
    return run.staged(_PLACES, PLACES).repartitionById(parts, F.col("part"))


def places(part: pa.Table) -> list[IndexEntry]:
    """Return the places of one part, each once, in order of path and offset."""
    archives, _ = group_by_file(place_rows.entries_from(part))
    return [entry for of_archive in archives.values() for entry in of_archive]
