"""Outputs of which only the columns that a corpus, or a choice of pages, is made by are filled in."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dbce_spark.files import parquet, storage
from dbce_spark.output.schemas import duplicate_rows
from dbce_spark.spark.run.extraction_files import SCHEMA


@dataclass(frozen=True, kw_only=True)
class Row:
    """One extraction. `parts` are the texts of its segments with label and score."""

    name: str
    site: str = "example.org"
    status: str = "crossed"
    language: str = "en"
    parts: Sequence[tuple[str, str, float]] = (("text", "content", 0.9),)
    duplicate_of: str | None = None
    copy_of: str | None = None
    repeats: str | None = None
    markdown: str | None = None
    template_id: str = ""
    confidence: float | None = None
    warc_file: str = "crawl.warc"
    host: str = ""

    @property
    def text(self) -> str:
        return "\n".join(text for text, label, _ in self.parts if label == "content")


def text_of(words: int, score: float = 0.9) -> list[tuple[str, str, float]]:
    """The parts of a page with so many words of content."""
    return [(" ".join(["word"] * words), "content", score)]


def segments(parts: Sequence[tuple[str, str, float]]) -> list[dict[str, Any]]:
    """Segments one after the other."""
    found, start = [], 0
    for text, label, score in parts:
        found.append({"label": label, "score": score, "start": start, "end": start + len(text)})
        start += len(text) + 1
    return found


def extraction(row: Row) -> dict[str, Any]:
    return {
        "capture_id": row.name,
        "url": f"http://{row.host or row.site}/{row.name}",
        "site": row.site,
        "status": row.status,
        "language": row.language,
        "segments": segments(row.parts),
        "text": row.text,
        "text_words": len(row.text.split()),
        "markdown": row.markdown,
        "template_id": row.template_id,
        "confidence": row.confidence,
        "warc_file": row.warc_file,
    }


def mark(row: Row) -> dict[str, Any]:
    return {
        "capture_id": row.name,
        "duplicate_of": row.duplicate_of,
        "copy_of": row.copy_of,
        "repeats": row.repeats,
        "similarity": None if row.duplicate_of is None else 1.0,
        "same_url": False,
    }


def write(root: Path | str, files: Mapping[str, Sequence[Row]], *, marks: bool = True) -> str:
    """A finished output of these rows, by the names of their files."""
    for name, rows in files.items():
        with_text = [mark(row) for row in rows if row.text]
        _write(f"{root}/extractions/{name}", SCHEMA, [extraction(row) for row in rows])
        if marks and with_text:
            _write(f"{root}/duplicates/{name}", duplicate_rows.DUPLICATES, with_text)
    count = sum(map(len, files.values()))
    run = {"records_read": count + 3, "extractions": count, "revisits": 0, "rejects": {}, "skipped": {"mime": 3}}
    storage.write(f"{root}/run.json", json.dumps(run).encode())
    return str(root)


def _write(path: str, schema: pa.Schema, rows: list[dict[str, Any]]) -> None:
    (batch,) = pa.Table.from_pylist(rows, schema).combine_chunks().to_batches() or [None]
    parquet.write(path, schema, [] if batch is None else [batch])
