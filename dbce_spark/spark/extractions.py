"""Last stage: each capture's annotations are merged, and what came of it is written.

The texts do not travel: each task reads the staged pages it is to merge by itself, and Spark brings it their
annotations and their evidence.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dbce_spark import store, tables
from dbce_spark.config import DbceConfig, DuplicatesConfig
from dbce_spark.dbce import crosses, local, pools, postprocess
from dbce_spark.model import Gathered, Page, Seen
from dbce_spark.spark import annotations, evidence, ledger, pages, revisits, sites, staging
from dbce_spark.spark.groups import groups

NAME = "extractions"
REJECTS = "rejects"
_TASKS_OF_SMALL_RUN = 32
_TEXTS_PER_GROUP = 8192
"""Some 350 bytes each."""
_REPEATING = [
    *("site", "mime", "charset", "charset_source", "warc_file", "status", "template_id", "language"),
    "declared_language",
    *(f"segments.list.element.{name}" for name in ("xpath", "label", "bits", "score", "conflict")),
    *(f"segments.list.element.{name}" for name in ("siblings", "siblings_with", "snapshots", "snapshots_with")),
    *(f"crosses.list.element.{name}" for name in ("bits", "up", "down", "prev", "next")),
]
_SCHEMA = tables.EXTRACTIONS.remove(tables.EXTRACTIONS.get_field_index("site_part"))
_Rows = dict[str, list[dict[str, Any]]]
_DROPPED, _ANNOTATION, _EVIDENCE, _SEEN, _MERGE = range(5)


def write(
    spark: SparkSession, output: str, tables_in: str, config: DbceConfig, tallies: Sequence[pages.Tally]
) -> Counter[str]:
    """Writes `extractions` and `rejects` of what is staged under `output` into the folder `tables_in`, with a file of
    no rows where there are none: readers find their columns.

    Tasks that an earlier run has ended are not done again. Returns how many extractions there are, by status.
    """
    target = f"{tables_in.rstrip('/')}/{NAME}"

    def merge_all(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        statuses: Counter[str] = Counter()
        for task, of_task in groupby(groups(batches, ["task", "file_no", "row_group"]), _task):
            work = partial(merge_task, output, target, task, of_task, config)
            statuses += ledger.once(staging.done(output, NAME, task), Counter[str], work)
        columns = {"status": pa.array(list(statuses), pa.string()), "n": pa.array(list(statuses.values()), pa.int64())}
        yield pa.RecordBatch.from_pydict(columns)

    work = work_list(spark, output, [tally.captures for tally in tallies], config.output.rows_per_file)
    written = work.mapInArrow(merge_all, "status string, n long").collect()
    _write_rejects(spark, output, tables_in)
    counts: Counter[str] = Counter()
    for row in written:
        counts[row["status"]] += row["n"]
    if not counts:
        store.write_parquet(f"{target}/site_part=0/part-00000.parquet", _SCHEMA, [])
    return counts


def work_list(spark: SparkSession, output: str, captures: Sequence[int], rows_per_file: int) -> DataFrame:
    """All that is to be done, a task a partition: for each row group of each staged file the rows that are dropped, the
    annotations, the evidence and the revisits of the others, and last a row that says that now it can be merged.

    Which row groups a task has is a matter of the staged rows alone, so that the same input gives the same files.
    """
    row_groups = [-(-count // pages.ROWS_PER_GROUP) for count in captures]
    per_task = max(1, min(rows_per_file // pages.ROWS_PER_GROUP, sum(row_groups) // _TASKS_OF_SMALL_RUN))
    first_of_file = list(accumulate(row_groups, initial=0))[:-1]
    files = spark.createDataFrame(list(enumerate(first_of_file)), "file_no int, first int")
    marks = spark.createDataFrame(
        [(at, group) for at, count in enumerate(row_groups) for group in range(count)], "file_no int, row_group int"
    ).withColumn("step", F.lit(_MERGE))
    row_group = F.floor(F.col("row_no") / pages.ROWS_PER_GROUP).cast("int").alias("row_group")
    drops = pages.dropped(spark, output).select("file_no", row_group, F.lit(_DROPPED).alias("step"), "row_no")
    places_of = pages.kept(spark, output).select("capture_id", "file_no", row_group)
    annotated = annotations.staged(spark, output).select(
        F.col("cur").alias("capture_id"),
        F.lit(_ANNOTATION).alias("step"),
        F.struct(*tables.ANNOTATIONS.names).alias("annotation"),
    )
    heard = evidence.staged(spark, output).select(
        "capture_id", F.lit(_EVIDENCE).alias("step"), F.struct(*tables.EVIDENCE.names).alias("evidence")
    )
    again = revisits.seen(spark, output).select("capture_id", F.lit(_SEEN).alias("step"), "seen")
    told = annotated.unionByName(heard, allowMissingColumns=True).unionByName(again, allowMissingColumns=True)
    brought = told.join(places_of, on="capture_id", how="inner").drop("capture_id")
    step = F.when(F.col("annotation").isNotNull(), _ANNOTATION).otherwise(_EVIDENCE).alias("step")
    in_place = sites.staged(spark, output).where("sizes is null")
    rows = (
        marks.unionByName(drops, allowMissingColumns=True)
        .unionByName(in_place.select("file_no", row_group, step, "annotation", "evidence"), allowMissingColumns=True)
        .unionByName(brought, allowMissingColumns=True)
    )
    task = F.floor((F.col("first") + F.col("row_group")) / per_task).cast("int")
    placed = rows.join(F.broadcast(files), on="file_no", how="inner").withColumn("task", task).drop("first")
    tasks = max(1, -(-sum(row_groups) // per_task))
    return placed.repartition(tasks, "task").sortWithinPartitions("task", "file_no", "row_group", "step")


@dataclass(slots=True)
class _Files:
    """The files of one task, one for each site part that it has rows of."""

    target: str
    task: int
    open_files: ExitStack
    by_part: dict[int, store.ParquetFile] = field(default_factory=dict)

    def of(self, site_part: int) -> store.ParquetFile:
        if site_part not in self.by_part:
            path = f"{self.target}/site_part={site_part}/part-{self.task:05}.parquet"
            file = store.parquet_file(path, _SCHEMA, dictionary=_REPEATING, rows_per_group=pages.ROWS_PER_GROUP)
            self.by_part[site_part] = self.open_files.enter_context(file)
        return self.by_part[site_part]


class _Texts:
    """The texts of one task, as they are compared: in the order of its files."""

    def __init__(self, output: str, task: int, open_files: ExitStack, config: DuplicatesConfig):
        path = staging.file(output, staging.TEXTS, task)
        file = store.parquet_file(path, tables.TEXTS, dictionary=["url_key"], rows_per_group=_TEXTS_PER_GROUP)
        self._file = open_files.enter_context(file)
        self._task, self._rows, self._config = task, 0, config

    def add(self, merged: pa.RecordBatch) -> None:
        """Stages those of some EXTRACTIONS rows."""
        some = tables.texts_batch(merged, self._config, task=self._task, first_row=self._rows)
        self._file.write(some)
        self._rows += some.num_rows


def _task(group: pa.Table) -> int:
    task: int = group.column("task")[0].as_py()
    return task


def merge_task(output: str, target: str, task: int, of_task: Iterator[pa.Table], config: DbceConfig) -> Counter[str]:
    """Merges and writes the row groups of one task. A second attempt writes the same bytes under the same names."""
    statuses: Counter[str] = Counter()
    with ExitStack() as open_files:
        files = _Files(target, task, open_files)
        texts = _Texts(output, task, open_files, config.duplicates) if config.duplicates.find else None
        for group in of_task:
            statuses += merge_group(output, group, files, texts, config)
    return statuses


def merge_group(output: str, group: pa.Table, files: _Files, texts: _Texts | None, config: DbceConfig) -> Counter[str]:
    """Merges and writes one row group of a staged file, and stages its texts where they are to be compared."""
    statuses: Counter[str] = Counter()
    file_no, number = (group.column(name)[0].as_py() for name in ("file_no", "row_group"))
    steps = group.column("step")
    dropped = group.filter(pc.equal(steps, _DROPPED)).column("row_no")
    annotated = _by_capture(group.filter(pc.equal(steps, _ANNOTATION)).column("annotation"), "cur")
    heard = _by_capture(group.filter(pc.equal(steps, _EVIDENCE)).column("evidence"), "capture_id")
    again = _by_capture(group.filter(pc.equal(steps, _SEEN)).column("seen"), "capture_id")
    for batch in pages.merging_batches(output, file_no, number):
        kept = batch.filter(pc.invert(pc.is_in(batch.column("row_no"), dropped)))
        merged = merge(kept, annotated, heard, again, config)
        statuses.update(merged.column("status").to_pylist())
        if texts is not None:
            texts.add(merged)
        for part in pc.unique(merged.column("site_part")).to_pylist():
            of_part = merged.filter(pc.equal(merged.column("site_part"), part))
            files.of(part).write(of_part.select(_SCHEMA.names))
    return statuses


def _by_capture(rows: pa.ChunkedArray, name: str) -> _Rows:
    """Rows by the capture id that stands under a name in them."""
    found: _Rows = defaultdict(list)
    for row in rows.to_pylist():
        found[row[name]].append(row)
    return found


def merge(batch: pa.RecordBatch, annotated: _Rows, heard: _Rows, again: _Rows, config: DbceConfig) -> pa.RecordBatch:
    """The EXTRACTIONS rows of some staged pages. Their ANNOTATIONS rows, their EVIDENCE rows, and when they were seen
    again stand under their capture ids."""
    gathered = [_gathered(page, annotated, heard) for page in tables.pages_from(batch)]
    results = local.judge(gathered, config.label)
    htmls = [
        None if html is None else postprocess.labelled_html(html, result.page.blocks.text, result.segments)
        for html, result in zip(batch.column("html").to_pylist(), results, strict=True)
    ]
    languages = local.languages(results, config.language)
    seen = {one.page.capture_id: _seen(one.page, again) for one in results if one.page.capture_id in again}
    return tables.extractions_batch(results, languages, htmls, config.output.site_parts, seen)


def _seen(page: Page, again: _Rows) -> Seen:
    (row,) = again[page.capture_id]
    own = page.capture.timestamp
    return Seen(first=min(own, row["first"]), last=max(own, row["last"]), revisits=row["revisits"])


def _gathered(page: Page, annotated: _Rows, heard: _Rows) -> Gathered:
    rows = annotated.get(page.capture_id, [])
    codes = {row["kind"]: tables.codes_from(row) for row in heard.get(page.capture_id, [])}
    return local.gather(
        page,
        [tables.annotation_from(row) for row in rows],
        pools.told(page, codes.get(tables.SIBLINGS), codes.get(tables.SNAPSHOTS)),
        crosses.template_id(tables.found_from(row) for row in rows),
    )


def _write_rejects(spark: SparkSession, output: str, tables_in: str) -> None:
    """All rejects, in order of file and offset."""

    def write_part(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        store.write_parquet(f"{target}/part-00000.parquet", tables.REJECTS, batches)
        yield pa.RecordBatch.from_pydict({"done": [True]})

    target = f"{tables_in.rstrip('/')}/{REJECTS}"
    ordered = (
        pages.rejects(spark, output)
        .unionByName(revisits.rejects(spark, output))
        .repartition(1)
        .sortWithinPartitions("warc_file", "warc_offset", "reason", "url", "record_id")
    )
    if not ordered.mapInArrow(write_part, "done boolean").collect():
        store.write_parquet(f"{target}/part-00000.parquet", tables.REJECTS, [])
