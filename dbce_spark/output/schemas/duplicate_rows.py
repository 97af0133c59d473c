"""Define the table `duplicates` and the rows by which texts are compared."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.config import DuplicatesConfig
from dbce_spark.dbce import texts
from dbce_spark.dbce.duplicates import Mark, MarkedText
from dbce_spark.dbce.texts import Text, TextSignature
from dbce_spark.output.schemas.codec import (
    BINARY,
    FLOAT,
    INT,
    LONG,
    STRING,
    TIME,
    build_batch,
    decode,
    encode,
    fields,
    packed,
    plain,
    unpacked,
)

_MARK = fields(duplicate_of=STRING, similarity=FLOAT, same_url=pa.bool_(), copy_of=STRING, repeats=STRING, steps=INT)
_TEXT = fields(capture_id=STRING, url_key=STRING, timestamp=TIME, text_digest=STRING)
DUPLICATES = pa.schema([*_TEXT, *_MARK, *fields(signature=BINARY)])
"""Each capture that has a text, which earlier one has the same or nearly, and what later ones are compared with."""

TEXTS = pa.schema([*_TEXT, *fields(signature=BINARY, site_part=INT, task=INT, row_no=INT)])
"""Texts as they are compared; `task` and `row_no` say where the row is staged."""

MARKS = pa.schema([*fields(capture_id=STRING, task=INT, row_no=INT), *_MARK])
"""The duplicates of a text, and where its row is staged; nowhere, if it is of an earlier increment and marked again."""

FIRSTS = pa.schema(
    [
        *fields(text_digest=STRING, signature=BINARY, arrived=INT, timestamp=LONG, capture_id=STRING),
        *fields(url_key=STRING, duplicate_of=STRING, similarity=FLOAT, steps=INT),
    ]
)
"""A text, and the capture that had it first. Of a prior text with its marks."""

TEXT_MEMBERS = pa.schema(fields(band=INT, key=LONG, arrived=INT, timestamp=LONG, capture_id=STRING))
"""A text in one of its buckets."""

LIKES = pa.schema(fields(later=STRING, later_time=LONG, arrived=INT, timestamp=LONG, earlier=STRING, similarity=FLOAT))
"""A new text that is like an earlier one, which is in that place of the order."""

SETTLED = pa.schema(fields(capture_id=STRING, leads=pa.bool_(), steps=INT))
"""A text that a pass has decided: whether it leads, and in how many steps that was clear."""

_TEXT_SIGNATURE = np.dtype("<u2")


def texts_batch(extracted: pa.RecordBatch, config: DuplicatesConfig, *, task: int, first_row: int) -> pa.RecordBatch:
    """Select the EXTRACTIONS rows that have a text, and convert them to TEXTS rows."""
    with_text = extracted.filter(pc.greater(extracted.column("text_words"), 0))
    read = [texts.digest_and_sign(text, config) for text in with_text.column("text").to_pylist()]
    columns = {name: with_text.column(name) for name in ("capture_id", "url_key", "timestamp", "site_part")}
    columns |= {
        "text_digest": [digest for digest, _ in read],
        "signature": packed((signature for _, signature in read), _TEXT_SIGNATURE),
        "task": [task] * len(read),
        "row_no": [*range(first_row, first_row + len(read))],
    }
    return build_batch(TEXTS, len(read), columns)


def text_signatures(column: pa.Array) -> TextSignature:
    """Restore the signatures of texts, all of which have one: uint16, shape (texts, rows)."""
    packed = b"".join(column.to_pylist())
    return np.frombuffer(packed, _TEXT_SIGNATURE).reshape(len(column), -1)


def texts_from(rows: pa.Table) -> list[Text]:
    """Restore texts from TEXTS rows."""
    digests, signatures = (plain(rows.column(name)) for name in ("text_digest", "signature"))
    return [*decode(Text, rows, digest=digests, signature=unpacked(signatures, _TEXT_SIGNATURE))]


def marked_from(rows: pa.Table) -> list[MarkedText]:
    """Restore texts with their marks from DUPLICATES rows."""
    return [*map(MarkedText, texts_from(rows), decode(Mark, rows))]


def marks_batch(marked: Sequence[MarkedText], rows: pa.Table) -> pa.RecordBatch:
    """Store the marks of texts as MARKS rows, with the places of those that are among the TEXTS rows."""
    ids = pa.array([text.capture_id for text, _ in marked], STRING)
    at = pc.index_in(ids, rows.column("capture_id").combine_chunks())
    places = {name: rows.column(name).combine_chunks().take(at) for name in ("task", "row_no")}
    return encode(MARKS, [mark for _, mark in marked], capture_id=ids, **places)


def duplicates_batch(staged: pa.RecordBatch, marks: pa.RecordBatch) -> pa.RecordBatch:
    """Join TEXTS rows and their MARKS rows, in the same order, to DUPLICATES rows."""
    columns = {name: staged.column(name) for name in staged.schema.names}
    columns |= {field.name: marks.column(field.name) for field in _MARK}
    return build_batch(DUPLICATES, len(staged), columns)
