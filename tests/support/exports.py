"""The files of an export, read back."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import zstandard

from dbce_spark.export import ExportRequest, export
from dbce_spark.export.export_settings import settings
from dbce_spark.output.schemas import extraction_rows

Spans = list[tuple[int, int, float]]


def written(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def lines(data: bytes) -> list[Any]:
    """The objects of a shard."""
    if data[:2] == b"\x1f\x8b":
        return [json.loads(line) for line in io.BytesIO(gzip.decompress(data))]
    return [json.loads(line) for line in io.BytesIO(zstandard.ZstdDecompressor().stream_reader(data).read())]


def exported(extracted: Path, target: Path, form: str, *, processes: int = 1, **given: Any) -> Path:
    """Exports an output, with some settings laid over the shipped ones."""
    request = ExportRequest(
        extracted=str(extracted),
        target=str(target),
        format=form,
        settings=settings(given),
        processes=processes,
    )
    export(request)
    return target


def without(text: str, spans: Spans) -> str:
    """A text without some spans of it, by code points, as Dolma's mixer takes them out."""
    gone = {at for start, end, _ in spans for at in range(start, end)}
    return "".join(one for at, one in enumerate(text) if at not in gone)


def extractions(*rows: dict[str, Any]) -> pa.RecordBatch:
    """EXTRACTIONS rows with these values, and nothing in the other columns."""
    return pa.RecordBatch.from_pylist(list(rows), extraction_rows.EXTRACTIONS)
