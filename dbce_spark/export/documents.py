"""Write rows as documents: one JSON object each, in the format of Dolma (github.com/allenai/dolma,
docs/data-format.md).

Its `id`, `text` and `source` are the document's, `added` when the archive fetched it, `created` when it was made as
far as the page declares it; `metadata` is ours.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pyarrow as pa

from dbce_spark.dbce.kept.kept_formats import FORMATS
from dbce_spark.files import jsonl

METADATA = (
    "url", "site", "title", "status", "language", "language_score", "declared_language", "template_id", "words",
    "text_words", "confidence", "page_type", "http_status", "mime", "charset", "flags", "published", "modified",
    "canonical_url", "first_seen", "last_seen", "revisits", "warc_file", "warc_offset", "warc_length", "record_id",
    "record_type", "payload_digest",
)  # fmt: skip
"""Columns that a document's metadata has under their names, null without a value."""

NEEDED = ("capture_id",)
ALSO = ("timestamp", *METADATA)
"""Columns that are read where they are there."""

_SCORE_DIGITS = 3
"""Of `language_score` and `confidence`: they are in steps of 1/1000, which a float of four bytes only comes near."""


def documents(batch: pa.RecordBatch, *, text: str, source: str, version: str) -> Iterator[bytes]:
    """Write a line for each row of a batch, which has NEEDED and, of ALSO and FORMATS, what there is; `text` is the
    column with the documents' text."""
    formats = [name for name in FORMATS if name in batch.schema.names and name != text]
    read = [name for name in dict.fromkeys([*NEEDED, *ALSO, *formats, text]) if name in batch.schema.names]
    for found in batch.select(read).to_pylist():
        row = dict.fromkeys(ALSO) | found
        yield jsonl.line(
            {
                "id": row["capture_id"],
                "text": row[text],
                **{name: row[name] for name in formats if row[name] is not None},
                "source": source,
                "added": moment(row["timestamp"]),
                "created": moment(row["published"] or row["first_seen"]),
                "version": version,
                "metadata": {name: _plain(row[name]) for name in METADATA},
            },
            compact=True,
        )


def moment(time: datetime | None) -> str | None:
    """Format a time by RFC 3339, in UTC: 2014-01-28T12:00:00Z, with a fraction only where there is one."""
    return None if time is None else time.replace(tzinfo=None).isoformat() + "Z"


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return moment(value)
    return round(value, _SCORE_DIGITS) if isinstance(value, float) else value
