"""Last stage: each capture's annotations are merged, and what came of it is written.

The texts do not travel: each task reads the staged pages it is to merge by itself, and Spark brings it their
annotations and their evidence.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dbce_spark import storage
from dbce_spark.config import DbceConfig, DuplicatesConfig
from dbce_spark.dbce import crosses, local, pools, postprocess
from dbce_spark.model import Gathered, Page, Seen, digest
from dbce_spark.output.collection import SUPERSEDED
from dbce_spark.spark import annotations, evidence, growth, ledger, pages, parts, revisits, sites, staging
from dbce_spark.spark import known as collection
from dbce_spark.spark.account import RELABELLED
from dbce_spark.spark.groups import groups
from dbce_spark.spark.known import FIRST, Known, row_group
from dbce_spark.spark.parts import ROWS_PER_GROUP
from dbce_spark.spark.tally import Tally
from dbce_spark.tables import (
    annotation_rows,
    cross_rows,
    duplicate_rows,
    evidence_rows,
    extraction_rows,
    increment_rows,
    page_rows,
    reject_rows,
)

NAME = "extractions"
REJECTS = "rejects"
_TEXTS_PER_GROUP = 8192
"""Some 350 bytes each."""
_REPEATING = [
    *("site", "mime", "charset", "charset_source", "warc_file", "status", "template_id", "language"),
    "declared_language",
    *(f"segments.list.element.{name}" for name in ("xpath", "label", "bits", "score", "conflict")),
    *(f"segments.list.element.{name}" for name in ("siblings", "siblings_with", "snapshots", "snapshots_with")),
    *(f"crosses.list.element.{name}" for name in ("bits", "up", "down", "prev", "next")),
]
_SCHEMA = extraction_rows.EXTRACTIONS.remove(extraction_rows.EXTRACTIONS.get_field_index("site_part"))
_Rows = dict[str, list[dict[str, Any]]]
_DROPPED, _AGAIN, _ANNOTATION, _EVIDENCE, _SEEN, _MERGE = range(6)
_OF_CROSS = [name for name in annotation_rows.ANNOTATIONS.names if name not in ("bucket_id", "bucket_urls", "group")]
_ROWS_OF_IDS = 1 << 16
HELD_BYTES = 64 << 20
"""Of extractions that wait until they fill a row group: each of `output.site_parts` files has some."""
_ASKED_AGAIN = "again"
_AGAIN_ROW = pa.schema(
    [
        ("capture_id", pa.string()),
        ("file_no", pa.int32()),
        ("row_group", pa.int32()),
        ("row_no", pa.int32()),
        ("before", pa.string()),
    ]
)
"""A known capture of which something else may be said, and what was said of it, as a digest."""


def write(
    spark: SparkSession,
    output: str,
    tables_in: str,
    known: Known,
    config: DbceConfig,
    tallies: Sequence[Tally],
    *,
    is_increment: bool,
    seen: Callable[[Counter[str]], None],
) -> Counter[str]:
    """Writes `extractions` and `rejects` of what is staged under `output` into the folder `tables_in`, with a file of
    no rows where there are none: readers find their columns. Of an increment also what others said of each capture, and
    which known ones it relabels.

    Tasks that an earlier run has ended are not done again. `seen` takes the extractions of each by status when it
    ends, and 1 more `parts`. Returns how many there are, by status, and how many of them are of known captures, by
    RELABELLED.
    """
    target = tables_in.rstrip("/")

    def merge_all(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        statuses: Counter[str] = Counter()
        for task, of_task in groupby(groups(batches, ["task", "file_no", "row_group"]), _task):
            merge = Merge(output, target, task, known, config, is_increment)
            of_part = ledger.once(staging.done(output, NAME, task), Counter[str], partial(merge.run, of_task))
            seen(of_part + Counter(parts=1))
            statuses += of_part
        columns = {"status": pa.array(list(statuses), pa.string()), "n": pa.array(list(statuses.values()), pa.int64())}
        yield pa.RecordBatch.from_pydict(columns)

    work = work_list(spark, output, known, [tally.captures for tally in tallies], config.output.rows_per_file)
    written = work.mapInArrow(merge_all, "status string, n long").collect()
    _write_rejects(spark, output, tables_in)
    counts: Counter[str] = Counter()
    for row in written:
        counts[row["status"]] += row["n"]
    if not counts:
        storage.write_parquet(f"{target}/{NAME}/site_part=0/part-00000.parquet", _SCHEMA, [])
        if is_increment:
            storage.write_parquet(f"{target}/{collection.DIGESTS}/part-00000.parquet", increment_rows.DIGESTS, [])
    return counts


def work_list(spark: SparkSession, output: str, known: Known, captures: Sequence[int], rows_per_file: int) -> DataFrame:
    """All that is to be done, a task a partition: for each row group of each file of pages the rows that are dropped,
    or of known pages those that are asked for, the annotations, the evidence and the revisits of these, and last a row
    that says that now it can be merged.

    Which row groups a task has is a matter of the staged rows alone, so that the same input gives the same files.
    """
    cut = parts.of(captures, rows_per_file)
    row_groups = [(at, group) for at, count in enumerate(cut.row_groups) for group in range(count)]
    asked_again = None
    if known:
        staging.write(again(spark, output, known), output, _ASKED_AGAIN)
        asked_again = staging.read(spark, output, _ASKED_AGAIN, _AGAIN_ROW)
        found = asked_again.select("file_no", "row_group").distinct().orderBy("file_no", "row_group").collect()
        row_groups += [(row["file_no"], row["row_group"]) for row in found]
    of_task = spark.createDataFrame(
        [(*one, at // cut.per_part) for at, one in enumerate(row_groups)], "file_no int, row_group int, task int"
    )
    marks = of_task.select("file_no", "row_group", F.lit(_MERGE).alias("step"))
    drops = pages.dropped(spark, output).select("file_no", row_group(), F.lit(_DROPPED).alias("step"), "row_no")
    places_of = pages.kept(spark, output).select("capture_id", "file_no", row_group())
    annotated = annotations.staged(spark, output).select(
        F.col("cur").alias("capture_id"),
        F.lit(_ANNOTATION).alias("step"),
        F.struct(*annotation_rows.ANNOTATIONS.names).alias("annotation"),
    )
    heard = evidence.staged(spark, output).select(
        "capture_id", F.lit(_EVIDENCE).alias("step"), F.struct(*evidence_rows.EVIDENCE.names).alias("evidence")
    )
    seen = revisits.seen(spark, output, known).select("capture_id", F.lit(_SEEN).alias("step"), "seen")
    step = F.when(F.col("annotation").isNotNull(), _ANNOTATION).otherwise(_EVIDENCE).alias("step")
    in_place = sites.staged(spark, output).where("sizes is null")
    rows = marks.unionByName(drops, allowMissingColumns=True).unionByName(
        in_place.select("file_no", row_group(), step, "annotation", "evidence"), allowMissingColumns=True
    )
    if asked_again is not None:
        rows = rows.unionByName(asked_again.withColumn("step", F.lit(_AGAIN)), allowMissingColumns=True)
        places_of = places_of.unionByName(asked_again.select("capture_id", "file_no", "row_group"))
    told = annotated.unionByName(heard, allowMissingColumns=True).unionByName(seen, allowMissingColumns=True)
    brought = told.join(places_of, on="capture_id", how="inner").drop("capture_id")
    placed = rows.unionByName(brought, allowMissingColumns=True).join(
        F.broadcast(of_task), on=["file_no", "row_group"], how="inner"
    )
    tasks = max(1, -(-len(row_groups) // cut.per_part))
    return placed.repartition(tasks, "task").sortWithinPartitions("task", "file_no", "row_group", "step")


def again(spark: SparkSession, output: str, known: Known) -> DataFrame:
    """The known captures of which something else may be said: capture_id, file_no, row_group, row_no, and as `before`
    what was said then. "" where they were fetched again: then they are, in any case."""
    affected = growth.affected(spark, output, known)
    told = affected.join(collection.digests(spark, known), on="capture_id", how="left")
    again = revisits.fetched_again(spark, output).withColumn("is_again", F.lit(True))
    before = F.when(F.col("is_again").isNull(), F.col("digest"))
    return told.join(again, on="capture_id", how="left").select(
        "capture_id", "file_no", row_group(), "row_no", F.coalesce(before, F.lit("")).alias("before")
    )


@dataclass(slots=True)
class _Files:
    """The files of one task, one for each site part that it has rows of, and those that an increment has beside."""

    target: str
    task: int
    open_files: ExitStack
    by_path: dict[str, storage.ParquetFile] = field(default_factory=dict)

    def write_part(self, site_part: int, rows: pa.RecordBatch) -> None:
        """Extractions of one site part. Of all parts together no more than HELD_BYTES wait to be written."""
        self._file(f"{NAME}/site_part={site_part}", _SCHEMA, _REPEATING, ROWS_PER_GROUP).write(rows)
        while sum(file.held_bytes for file in self.by_path.values()) > HELD_BYTES:
            max(self.by_path.values(), key=lambda file: file.held_bytes).flush()

    def write(self, name: str, rows: pa.RecordBatch) -> None:
        """Rows of a table that an increment has beside."""
        self._file(name, rows.schema, False, _ROWS_OF_IDS).write(rows)

    def _file(self, folder: str, schema: pa.Schema, dictionary: Sequence[str] | bool, rows: int) -> storage.ParquetFile:
        if folder not in self.by_path:
            path = f"{self.target}/{folder}/part-{self.task:05}.parquet"
            file = storage.parquet_file(path, schema, dictionary=dictionary, rows_per_group=rows)
            self.by_path[folder] = self.open_files.enter_context(file)
        return self.by_path[folder]


class _Texts:
    """The texts of one task, as they are compared: in the order of its files."""

    def __init__(self, output: str, task: int, open_files: ExitStack, config: DuplicatesConfig):
        path = staging.file(output, staging.TEXTS, task)
        file = storage.parquet_file(path, duplicate_rows.TEXTS, dictionary=["url_key"], rows_per_group=_TEXTS_PER_GROUP)
        self._file = open_files.enter_context(file)
        self._task, self._rows, self._config = task, 0, config

    def add(self, merged: pa.RecordBatch) -> None:
        """Stages those of some EXTRACTIONS rows."""
        some = duplicate_rows.texts_batch(merged, self._config, task=self._task, first_row=self._rows)
        self._file.write(some)
        self._rows += some.num_rows


def _task(group: pa.Table) -> int:
    task: int = group.column("task")[0].as_py()
    return task


@dataclass(frozen=True, slots=True)
class Merge:
    """One task: it merges and writes some row groups. A second attempt writes the same bytes under the same names."""

    output: str
    target: str
    task: int
    known: Known
    config: DbceConfig
    is_increment: bool

    def run(self, of_task: Iterator[pa.Table]) -> Counter[str]:
        """How many rows it wrote, by status, and how many of them are of known captures."""
        statuses: Counter[str] = Counter()
        with ExitStack() as open_files:
            files = _Files(self.target, self.task, open_files)
            texts = (
                _Texts(self.output, self.task, open_files, self.config.duplicates)
                if self.config.duplicates.find
                else None
            )
            for group in of_task:
                statuses += self._group(group, files, texts)
        return statuses

    def _group(self, group: pa.Table, files: _Files, texts: _Texts | None) -> Counter[str]:
        """Merges and writes one row group of a file of pages."""
        file_no, number = (group.column(name)[0].as_py() for name in ("file_no", "row_group"))
        steps = group.column("step")
        told = _Told(
            _by_capture(group.filter(pc.equal(steps, _ANNOTATION)).column("annotation"), "cur"),
            _by_capture(group.filter(pc.equal(steps, _EVIDENCE)).column("evidence"), "capture_id"),
            _by_capture(group.filter(pc.equal(steps, _SEEN)).column("seen"), "capture_id"),
        )
        if file_no < FIRST:
            dropped = group.filter(pc.equal(steps, _DROPPED)).column("row_no")
            kept = _but(pages.merging_batches(staging.file(self.output, pages.NAME, file_no), number), dropped)
            return self._write(kept, told, files, texts)
        asked = group.filter(pc.equal(steps, _AGAIN))
        changed = [
            row_no
            for capture_id, row_no, before in zip(
                *(asked.column(name).to_pylist() for name in ("capture_id", "row_no", "before")), strict=True
            )
            if told.digest(capture_id) != before
        ]
        if not changed:
            return Counter()
        batches = pages.merging_batches(self.known.page_file(file_no), number)
        found = self._write(_only(batches, changed), told, files, texts, SUPERSEDED)
        return found + Counter({RELABELLED: found.total()})

    def _write(
        self, kept: Iterator[pa.RecordBatch], told: "_Told", files: _Files, texts: _Texts | None, *beside: str
    ) -> Counter[str]:
        """Merges and writes some pages, and their ids into the tables `beside`; stages the texts."""
        statuses: Counter[str] = Counter()
        for batch in kept:
            merged = merge(batch, told, self.config)
            statuses.update(merged.column("status").to_pylist())
            if texts is not None:
                texts.add(merged)
            for part in pc.unique(merged.column("site_part")).to_pylist():
                of_part = merged.filter(pc.equal(merged.column("site_part"), part))
                files.write_part(part, of_part.select(_SCHEMA.names))
            ids = merged.column("capture_id")
            if self.is_increment:
                digests = pa.array([told.digest(one) for one in ids.to_pylist()], pa.string())
                rows = pa.RecordBatch.from_arrays([ids, digests], schema=increment_rows.DIGESTS)
                files.write(collection.DIGESTS, rows)
            for name in beside:
                files.write(name, pa.RecordBatch.from_arrays([ids], schema=increment_rows.SUPERSEDED))
        return statuses


def _but(batches: Iterator[pa.RecordBatch], dropped: pa.ChunkedArray) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch.filter(pc.invert(pc.is_in(batch.column("row_no"), dropped)))


def _only(batches: Iterator[pa.RecordBatch], wanted: Sequence[int]) -> Iterator[pa.RecordBatch]:
    rows = pa.array(wanted, pa.int32())
    for batch in batches:
        chosen = batch.filter(pc.is_in(batch.column("row_no"), rows))
        if chosen.num_rows:
            yield chosen


@dataclass(frozen=True, slots=True)
class _Told:
    """What is said of some captures, by their ids: ANNOTATIONS rows, EVIDENCE rows, and when they were seen again."""

    annotated: _Rows
    heard: _Rows
    again: _Rows

    def digest(self, capture_id: str) -> str:
        """The same if others say the same of the capture: then its labels are the same, too."""
        rows = sorted(self.annotated.get(capture_id, []), key=lambda row: row["cross_id"])
        crosses_told = [str({name: row[name] for name in _OF_CROSS}) for row in rows]
        heard = sorted((row["kind"], row["codes"].hex()) for row in self.heard.get(capture_id, []))
        template = crosses.template_id(cross_rows.found_from(row) for row in rows)
        return digest(template, *crosses_told, str(heard))


def _by_capture(rows: pa.ChunkedArray, name: str) -> _Rows:
    """Rows by the capture id that stands under a name in them."""
    found: _Rows = defaultdict(list)
    for row in rows.to_pylist():
        found[row[name]].append(row)
    return found


def merge(batch: pa.RecordBatch, told: _Told, config: DbceConfig) -> pa.RecordBatch:
    """The EXTRACTIONS rows of some staged pages."""
    gathered = [_gathered(page, told) for page in page_rows.pages_from(batch)]
    results = local.judge(gathered, config.label)
    htmls = [
        None if html is None else postprocess.labelled_html(html, result.page.blocks.text, result.segments)
        for html, result in zip(batch.column("html").to_pylist(), results, strict=True)
    ]
    languages = local.languages(results, config.language)
    seen = {one.page.capture_id: _seen(one.page, told) for one in results if one.page.capture_id in told.again}
    return extraction_rows.extractions_batch(results, languages, htmls, config.output.site_parts, seen)


def _seen(page: Page, told: _Told) -> Seen:
    (row,) = told.again[page.capture_id]
    own = page.capture.timestamp
    return Seen(first=min(own, row["first"]), last=max(own, row["last"]), revisits=row["revisits"])


def _gathered(page: Page, told: _Told) -> Gathered:
    rows = told.annotated.get(page.capture_id, [])
    codes = {row["kind"]: evidence_rows.codes_from(row) for row in told.heard.get(page.capture_id, [])}
    return local.gather(
        page,
        [annotation_rows.annotation_from(row) for row in rows],
        pools.told(page, codes.get(evidence_rows.SIBLINGS), codes.get(evidence_rows.SNAPSHOTS)),
        crosses.template_id(cross_rows.found_from(row) for row in rows),
    )


def _write_rejects(spark: SparkSession, output: str, tables_in: str) -> None:
    """All rejects, in order of file and offset."""

    def write_part(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        storage.write_parquet(f"{target}/part-00000.parquet", reject_rows.REJECTS, batches)
        yield pa.RecordBatch.from_pydict({"done": [True]})

    target = f"{tables_in.rstrip('/')}/{REJECTS}"
    ordered = (
        pages.rejects(spark, output)
        .unionByName(revisits.rejects(spark, output))
        .repartition(1)
        .sortWithinPartitions("warc_file", "warc_offset", "reason", "url", "record_id")
    )
    if not ordered.mapInArrow(write_part, "done boolean").collect():
        storage.write_parquet(f"{target}/part-00000.parquet", reject_rows.REJECTS, [])
