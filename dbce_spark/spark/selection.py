"""Before the map over files, where there is an index: which places it names that are wanted, in parts of even size.

The driver holds the names of archives and how many places each has. The places themselves are staged by the tasks that
read the index.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import accumulate
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from dbce_spark import storage
from dbce_spark.archive import indexed_records as wanted_places
from dbce_spark.archive.failed_files import Loss
from dbce_spark.archive.index import index_file
from dbce_spark.archive.index.byte_ranges import by_file
from dbce_spark.archive.index.capture_filter import Counts
from dbce_spark.archive.index.index_entry import Entry
from dbce_spark.config import DbceConfig
from dbce_spark.model import Reject
from dbce_spark.spark import pages, staging
from dbce_spark.spark.tally import Tally
from dbce_spark.tables import reject_rows

NAME = "selection"
_ENTRIES, _PLACES = "selected", "places"
_ROWS = 8192
"""Places, or rejects, that a task holds before it writes them."""
_REPEATING = ["mime", "mime_detected", "filename", "path"]
_SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in ("urlkey", "url", "mime", "mime_detected")),
        *(pa.field(name, pa.string(), nullable=False) for name in ("digest", "filename", "path")),
        *(pa.field(name, pa.int64(), nullable=False) for name in ("timestamp", "offset", "length", "status")),
        pa.field("languages", pa.list_(pa.field("element", pa.string(), nullable=False)), nullable=False),
        pa.field("is_revisit", pa.bool_(), nullable=False),
    ]
)
"""An `Entry` a row."""


@dataclass(frozen=True, slots=True)
class Selected:
    """What the indexes gave: how many places of each archive, in how many parts, and what became of their lines."""

    archives: dict[str, int] = field(default_factory=dict)
    parts: int = 0
    counts: Counts = field(default_factory=Counts)
    rejects: Counter[str] = field(default_factory=Counter)
    losses: list[Loss] = field(default_factory=list)

    def tally(self) -> Tally:
        """Lines that are no entries, and indexes that are none, are records that were read and rejected."""
        return Tally(self.rejects.total(), 0, Counter(), Counter(self.rejects), list(self.losses))

    def as_dict(self) -> dict[str, Any]:
        """What run.json says of the lines of the indexes."""
        return self.counts.as_dict() | {"duplicate": self.counts.selected - sum(self.archives.values())}


def stage(spark: SparkSession, indexes: Sequence[str], base: str, output: str, config: DbceConfig) -> Selected:
    """Reads the indexes, one task each or one for some lines of a cluster, and stages the places that are wanted."""
    parts = [*index_file.parts(indexes, wanted_places.wanted(config), config.fetch)]
    selected = Selected()
    for told in _read(spark, parts, base, output, config):
        selected = replace(
            selected,
            counts=selected.counts + Counts.from_dict(told["counts"]),
            rejects=selected.rejects + Counter(told["rejects"]),
            losses=selected.losses + [Loss(**one) for one in told["losses"]],
        )
    ranked = _ranked(spark, output)
    found = ranked.groupBy("path").agg(F.max("rank").alias("places")).collect()
    archives = dict(sorted((row["path"], row["places"]) for row in found))
    _place(spark, ranked, archives, output, config.input.records_per_task)
    return replace(
        selected,
        archives=archives,
        parts=-(-sum(archives.values()) // config.input.records_per_task),
    )


def _read(
    spark: SparkSession, parts: Sequence[index_file.Part], base: str, output: str, config: DbceConfig
) -> list[dict[str, Any]]:
    """What each task has counted."""
    if not parts:
        return []
    all_parts = spark.sparkContext.broadcast(list(parts))

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for at in batch.column("id").to_pylist():
                told = json.dumps(stage_part(all_parts.value[at], at, base, output, config))
                yield pa.RecordBatch.from_pydict({"told": [told]})

    one_task_a_part = spark.range(0, len(parts), 1, len(parts))
    return [json.loads(row["told"]) for row in one_task_a_part.mapInArrow(read, "told string").collect()]


def stage_part(part: index_file.Part, number: int, base: str, output: str, config: DbceConfig) -> dict[str, Any]:
    """Stages the wanted places of one part of an index, and its lines that are none as rejects.

    Returns counts, rejects by reason, and losses, as JSON has them.
    """
    counts, reasons, losses = Counts(), Counter[str](), list[Loss]()
    entries: list[Entry] = []
    rejects: list[Reject] = []
    entries_path = staging.file(output, _ENTRIES, number)
    rejects_path = staging.file(output, pages.REJECTS, number).replace(".parquet", "-index.parquet")
    with (
        storage.parquet_file(entries_path, _SCHEMA, dictionary=_REPEATING, rows_per_group=_ROWS) as places_out,
        storage.parquet_file(
            rejects_path, reject_rows.REJECTS, dictionary=["warc_file"], rows_per_group=_ROWS
        ) as rejects_out,
    ):
        for one in index_file.wanted_of(part, base, wanted_places.wanted(config), config.fetch, counts):
            if isinstance(one, Entry):
                entries.append(one)
                if len(entries) == _ROWS:
                    places_out.write(_batch(entries))
                    entries = []
                continue
            reject = wanted_places.reject_of(one)
            rejects.append(reject)
            reasons[str(reject.reason)] += 1
            losses += wanted_places.index_losses([reject], [part.path])
            if len(rejects) == _ROWS:
                rejects_out.write(reject_rows.rejects_batch(rejects))
                rejects = []
        places_out.write(_batch(entries))
        rejects_out.write(reject_rows.rejects_batch(rejects))
    return {"counts": counts.as_dict(), "rejects": reasons, "losses": [asdict(one) for one in losses]}


def _batch(entries: Sequence[Entry]) -> pa.RecordBatch:
    columns = {name: [getattr(one, name) for one in entries] for name in _SCHEMA.names}
    return pa.RecordBatch.from_pydict(columns, schema=_SCHEMA)


def _ranked(spark: SparkSession, output: str) -> DataFrame:
    """The staged places with their `rank` among those of their archive, from 1; of one place all lines have one."""
    of_archive = Window.partitionBy("path").orderBy("offset")
    return staging.read(spark, output, _ENTRIES, _SCHEMA).withColumn("rank", F.dense_rank().over(of_archive))


def _place(spark: SparkSession, ranked: DataFrame, archives: dict[str, int], output: str, per_part: int) -> None:
    """Stage the places with the `part` of each: as `indexed_records.cut`, of archives in order of their names."""
    before = list(accumulate(archives.values(), initial=0))[:-1]
    first = spark.createDataFrame(list(zip(archives, before, strict=True)), "path string, before long")
    part = F.floor((F.col("before") + F.col("rank") - 1) / per_part).cast("int").alias("part")
    staging.write(ranked.join(F.broadcast(first), on="path", how="inner").select(*_SCHEMA.names, part), output, _PLACES)


def by_part(spark: SparkSession, output: str, parts: int) -> DataFrame:
    """The staged places, each part a partition."""
    schema = staging.schema(_SCHEMA.append(pa.field("part", pa.int32())))
    return spark.read.schema(schema).parquet(staging.path(output, _PLACES)).repartitionById(parts, F.col("part"))


def places(part: pa.Table) -> list[Entry]:
    """The places of one part, each once, in order of path and offset."""
    rows = part.select(_SCHEMA.names).to_pylist()
    archives, _ = by_file(Entry(**(row | {"languages": tuple(row["languages"])})) for row in rows)
    return [entry for of_archive in archives.values() for entry in of_archive]
