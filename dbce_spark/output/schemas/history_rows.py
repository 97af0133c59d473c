"""Define the four tables of a collection's history, and the rows that they are made from."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa
import zstandard

from dbce_spark.output.history import page_history
from dbce_spark.output.history.page_history import KINDS, HistoryStep, Life, Moment, PageRedesign, Piece, Redesign
from dbce_spark.output.schemas.codec import (
    BINARY,
    FLOAT,
    INT,
    LONG,
    STRING,
    TIME,
    attributes,
    build_batch,
    column_names,
    decode,
    decode_row,
    encode,
    fields,
)
from dbce_spark.output.schemas.page_rows import SIGNATURE

HELD = pa.schema(fields(capture_id=STRING, number=LONG, template_id=STRING, pieces=BINARY))
"""The pieces of an extraction of an increment, by its number; packed, since Java only carries them."""

_OF_URL = fields(url_key=STRING, url=STRING, site=STRING)
_STEP = fields(capture_id=STRING, before_id=STRING, timestamp=TIME, before_timestamp=TIME)
STEPS = pa.schema(
    [
        *_OF_URL,
        *_STEP,
        *fields(template_from=STRING, template_to=STRING, similarity=FLOAT, is_redesigned=pa.bool_()),
        *fields(**dict.fromkeys(KINDS, INT)),
    ]
)
"""From one capture of a URL to the next: how its template changed, and how many texts changed in each way."""

CHANGES = pa.schema(
    [
        *_OF_URL,
        *_STEP,
        *fields(kind=STRING, label_before=STRING, label_after=STRING, xpath_before=STRING, xpath_after=STRING),
        *fields(text_before=STRING, text_after=STRING, similarity=FLOAT),
    ]
)
"""The change of one text from a capture to the next."""

LIVES = pa.schema(
    [
        *_OF_URL,
        *fields(text=STRING, label=STRING, xpath=STRING, place=INT, first_seen=TIME, last_seen=TIME),
        *fields(captures=INT, moves=INT, began=STRING, ended=STRING),
    ]
)
"""The time that a text stood on a page."""

_EXCHANGE = fields(template_from=STRING, template_to=STRING, pages=INT)
REDESIGNS = pa.schema(
    [
        *fields(site=STRING, not_before=TIME, not_after=TIME, pages=INT, compared=INT, url=STRING),
        *fields(templates=pa.list_(pa.struct(_EXCHANGE))),
    ]
)
"""A redesign of many pages of a site at once."""

_PIECE = ("text", "label", "xpath")


def held_batch(number: int, extracted: pa.RecordBatch) -> pa.RecordBatch:
    """Convert EXTRACTIONS rows of an increment to HELD rows; of their segments `page_history.pieces` reads five
    fields."""
    columns = {name: extracted.column(name) for name in ("capture_id", "template_id")}
    rows = zip(extracted.column("page_text").to_pylist(), extracted.column("segments").to_pylist(), strict=True)
    columns["pieces"] = [_packed(page_history.pieces(page_text, segments)) for page_text, segments in rows]
    return build_batch(HELD, len(extracted), columns | {"number": [number] * len(extracted)})


def _packed(pieces: Iterable[Piece]) -> bytes:
    plain = [[getattr(piece, name) for name in _PIECE] for piece in pieces]
    packed: bytes = zstandard.compress(json.dumps(plain, ensure_ascii=False).encode())
    return packed


def _unpacked(packed: bytes) -> tuple[Piece, ...]:
    return tuple(Piece(**dict(zip(_PIECE, one, strict=True))) for one in json.loads(zstandard.decompress(packed)))


def moments_from(rows: Iterable[Mapping[str, Any]]) -> Iterator[Moment]:
    """Restore the captures of a URL, one at a time, from rows in order of time: those of CAPTURES, with the time in
    microseconds, and of their extractions the template, the signature and the packed pieces.

    These three may be missing where the extraction is that of the capture before. Captures whose extraction is nowhere
    are left out.
    """
    held, pieces = "", None
    for row in rows:
        if row["extraction_id"] != held:
            held = row["extraction_id"]
            pieces = row["pieces"] and _unpacked(row["pieces"])
            template_id = row["template_id"] or ""
            signature = np.frombuffer(row["signature"], SIGNATURE) if row["signature"] else None
        if pieces is not None:
            yield decode_row(Moment, row, pieces=pieces, template_id=template_id, signature=signature)


def _of_step(step: HistoryStep, times: int) -> dict[str, Any]:
    """List the columns that name the captures which a step lies between, as often as it has rows."""
    columns = attributes([step.after] * times, (*column_names(_OF_URL), "capture_id", "timestamp"))
    before = {"before_id": step.before.capture_id, "before_timestamp": step.before.timestamp}
    return columns | {name: [value] * times for name, value in before.items()}


def steps_batch(step: HistoryStep, *, is_redesigned: bool) -> pa.RecordBatch:
    """Store a step as a STEPS row."""
    kinds = Counter(change.kind for change in step.changes)
    return encode(
        STEPS,
        [step],
        **_of_step(step, 1),
        template_from=[step.before.template_id],
        template_to=[step.after.template_id],
        is_redesigned=[is_redesigned],
        **{kind: [kinds[kind]] for kind in KINDS},
    )


def changes_batch(step: HistoryStep) -> pa.RecordBatch:
    """Store the changes of a step as CHANGES rows, in the order of the page."""
    columns = _of_step(step, len(step.changes))
    for side in ("before", "after"):
        sides = [getattr(change, side) for change in step.changes]
        columns |= {f"{name}_{side}": [one and getattr(one, name) for one in sides] for name in _PIECE}
    return encode(CHANGES, step.changes, **columns)


def lives_batch(last: Moment, lives: Sequence[Life]) -> pa.RecordBatch:
    """Store lives that a capture is the last of as LIVES rows."""
    return encode(LIVES, lives, **attributes([last] * len(lives), column_names(_OF_URL)))


def redesigned_from(steps: pa.Table) -> tuple[list[PageRedesign], Any, Any]:
    """Restore the arguments of `page_history.redesigns` from those STEPS rows of a site that have a similarity."""
    for name, column in (("before", "before_timestamp"), ("after", "timestamp")):
        steps = steps.append_column(name, steps.column(column).cast(LONG))
    changed = [*decode(PageRedesign, steps.filter(steps.column("is_redesigned")))]
    befores, afters = (np.sort(steps.column(name).to_numpy()) for name in ("before", "after"))
    return changed, befores, afters


def redesigns_batch(site: str, redesigns: Sequence[Redesign]) -> pa.RecordBatch:
    """Store redesigns of a site as REDESIGNS rows."""
    templates = [[asdict(exchange) for exchange in redesign.templates] for redesign in redesigns]
    return encode(REDESIGNS, redesigns, site=[site] * len(redesigns), templates=templates)
