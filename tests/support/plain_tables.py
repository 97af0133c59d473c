"""The tables of a run as plain Python makes them."""

from collections.abc import Iterator

import pyarrow as pa

from dbce_spark.archive.revisits import fetch_times
from dbce_spark.config import DbceConfig
from dbce_spark.dbce import local
from dbce_spark.dbce.kept.kept_formats import Formats
from dbce_spark.html import language
from dbce_spark.output.schemas import capture_rows, extraction_rows
from dbce_spark.spark.run.extraction_files import SCHEMA


def extractions(result: local.Result, parameters: DbceConfig) -> pa.RecordBatch:
    """The extractions of a run, as EXTRACTIONS rows without formats."""
    languages = language.detect_languages([one.text for one in result.extractions], parameters.language)
    again = fetch_times([one.page.capture for one in result.extractions], result.revisits)
    nothing = [Formats()] * len(result.extractions)
    return extraction_rows.extractions_batch(
        result.extractions, languages, nothing, parameters.output.site_parts, again
    )


def by_part(rows: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows of each site part, as its files have them."""
    for part in sorted({*rows.column("site_part").to_pylist()}):
        yield part, rows.filter(pa.compute.equal(rows.column("site_part"), part)).select(SCHEMA.names)


def captures(result: local.Result) -> pa.Table:
    """The captures of a run, those that were pages before those that were revisits."""
    own = capture_rows.captures_batch([one.page.capture for one in result.extractions])
    return pa.Table.from_batches([own, capture_rows.revisited_batch(result.revisits)])
