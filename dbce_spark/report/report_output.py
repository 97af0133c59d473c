"""Read an output for the report: its tables, the parameters of its run, and the rows of some captures."""

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.archive.index.urls import url_key
from dbce_spark.config import DbceConfig, default, load
from dbce_spark.errors import ConfigError
from dbce_spark.output import output_reader

BATCH_ROWS = 8192
"""Rows held at once. Of the widest scan (labels and spans of all segments) this is some 50 MB."""


class ReportOutput:
    """The finished output of a run, or a version of a collection.

    Raises:
        OutputError: there is no run.json that can be read, or a part is missing.
        InputError: there is no such version.
    """

    def __init__(self, root: str, version: int | None = None):
        self.root = root
        self._read = output_reader.open_output(root, version)
        self._read.check()
        self.run = dict(self._read.run)

    def config(self) -> DbceConfig:
        """Load the parameters of the run, as far as this version of the program has them."""
        written = self.run.get("config", {})
        try:
            return load(given={section: written.get(section) for section in ("input", "page", "diff")})
        except ConfigError:
            return default()

    def batches(self, table: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read some columns of a table. A column may be one field of a list of structs: "segments.label"."""
        return self._read.batches(table, columns, rows=BATCH_ROWS)

    def rows(self, capture_ids: Collection[str], columns: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Read the extractions of some captures, by id."""
        return self._read.extractions(capture_ids, columns, rows=BATCH_ROWS // 16)

    def captures_of(self, url: str) -> dict[str, datetime]:
        """List the times of the extracted captures of a URL by their ids, the newest first."""
        key = url_key(url)
        found: set[tuple[datetime, str]] = set()
        for batch in self.batches("extractions", ["capture_id", "url_key", "timestamp"]):
            of_url = batch.filter(pc.equal(batch.column("url_key"), key))
            found.update((row["timestamp"], row["capture_id"]) for row in of_url.to_pylist())
        return {capture_id: timestamp for timestamp, capture_id in sorted(found, reverse=True)}
