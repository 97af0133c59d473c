"""The strategy for few texts: `dbce_spark.dbce.duplicates` alone, in one task."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from dbce_spark.config import DuplicatesConfig
from dbce_spark.dbce import duplicates
from dbce_spark.output.schemas import duplicate_rows
from dbce_spark.spark.run import staging


def marks(rows: DataFrame, config: DuplicatesConfig) -> DataFrame:
    """Make MARKS rows of TEXTS or COMPARED rows, as `duplicates.mark_texts` and `duplicates.extend_marks` do."""
    names = [name for name in duplicate_rows.COMPARED.names if name in rows.columns]

    def at_once(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if held := [*batches]:
            yield _marks(pa.Table.from_batches(held), config)

    return rows.select(*names).repartition(1).mapInArrow(at_once, staging.schema(duplicate_rows.MARKS))


def _marks(rows: pa.Table, config: DuplicatesConfig) -> pa.RecordBatch:
    if "is_relabelled" not in rows.column_names:
        return duplicate_rows.marks_batch(duplicates.mark_texts([], duplicate_rows.texts_from(rows), config), rows)
    is_prior = pc.is_valid(rows.column("is_relabelled"))
    prior, texts = rows.filter(is_prior), rows.filter(pc.invert(is_prior))
    now = {text.capture_id: text for text in duplicate_rows.texts_from(texts)}
    again = prior.filter(prior.column("is_relabelled")).column("capture_id").to_pylist()
    relabelled = {capture_id: now.pop(capture_id, None) for capture_id in again}
    extended = duplicates.extend_marks(duplicate_rows.marked_from(prior), relabelled, now.values(), config)
    return duplicate_rows.marks_batch(extended, texts)
