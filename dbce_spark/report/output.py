"""An output folder as the report reads it: run.json and tables, some columns and some thousand rows at a time."""

import json
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import fsspec.core
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dbce_spark.config import DbceConfig, default, load
from dbce_spark.errors import ConfigError, OutputError

BATCH_ROWS = 8192
"""Rows held at once. Of the widest scan (labels and spans of all segments) this is some 50 MB."""


class Output:
    """The finished output of a run.

    Raises:
        OutputError: there is no run.json that can be read.
    """

    def __init__(self, root: str):
        self.root = root
        self._filesystem, self._path = fsspec.core.url_to_fs(root)
        self._path = self._path.rstrip("/")
        try:
            self.run: dict[str, Any] = json.loads(self._filesystem.cat_file(f"{self._path}/run.json"))
        except (OSError, ValueError) as error:
            raise OutputError(
                f"{root}: no run.json that can be read there, so this is no finished output; give the folder that"
                " `dbce extract` wrote, or run it again"
            ) from error

    def config(self) -> DbceConfig:
        """The parameters of the run, as far as this version of the program knows them."""
        written = self.run.get("config", {})
        settings = [
            f"{section}.{key}={json.dumps(value)}"
            for section in ("input", "page", "diff")
            for key, value in sorted(written.get(section, {}).items())
        ]
        try:
            return load(settings=settings)
        except ConfigError:
            return default()

    def batches(self, table: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Some columns of a table. A column may be one field of a list of structs: "segments.label"."""
        for file in self._files(table):
            leaves = _leaves(file, columns)
            yield from file.iter_batches(batch_size=BATCH_ROWS, columns=leaves, use_threads=False)

    def rows(self, capture_ids: Collection[str], columns: Sequence[str]) -> dict[str, dict[str, Any]]:
        """The extractions of some captures, by id. Of row groups without one of them only the ids are read."""
        wanted = pa.array(sorted(set(capture_ids)), pa.string())
        found: dict[str, dict[str, Any]] = {}
        for file in self._files("extractions"):
            for group in range(file.num_row_groups):
                if len(found) == len(wanted):
                    return found
                ids = file.read_row_group(group, columns=["capture_id"], use_threads=False)["capture_id"]
                if not pc.any(pc.is_in(ids, wanted)).as_py():
                    continue
                leaves = _leaves(file, ["capture_id", *columns])
                for batch in file.iter_batches(BATCH_ROWS // 16, [group], leaves, use_threads=False):
                    chosen = batch.filter(pc.is_in(batch.column("capture_id"), wanted))
                    found |= {row["capture_id"]: row for row in chosen.to_pylist()}
        return found

    def _files(self, table: str) -> Iterator[pq.ParquetFile]:
        """The table's Parquet files, one after the other, in order of their names."""
        for path in sorted(self._filesystem.find(f"{self._path}/{table}")):
            if path.endswith(".parquet") and not path.rsplit("/", 1)[-1].startswith((".", "_")):
                with self._filesystem.open(path, "rb") as stream:
                    yield pq.ParquetFile(stream)


def _leaves(file: pq.ParquetFile, columns: Sequence[str]) -> list[str]:
    """The Parquet columns behind the names: "segments.label" is stored as "segments.list.element.label"."""
    leaves = []
    for at in range(len(file.schema)):
        steps = file.schema.column(at).path.split(".")
        if steps[0] in columns or f"{steps[0]}.{steps[-1]}" in columns:
            leaves.append(".".join(steps))
    return leaves
