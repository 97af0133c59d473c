"""What the tables hold: their Arrow schemas, and the way from the model into them and back.

docs/tables.md says what each column means. Nothing here knows Spark; its schemas are these, translated.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import zstandard

from dbce_spark.archive.revisits import Resolved
from dbce_spark.config import DuplicatesConfig
from dbce_spark.dbce import texts
from dbce_spark.dbce.duplicates import Mark, Marked
from dbce_spark.dbce.texts import Text, TextSignature
from dbce_spark.html.language import Language
from dbce_spark.html.metadata import Metadata
from dbce_spark.html.tokens import tokens
from dbce_spark.model import (
    Annotation,
    Blocks,
    Capture,
    Codes,
    Cross,
    Extraction,
    Found,
    Label,
    Member,
    Neighbour,
    Page,
    Reject,
    Revisit,
    Seen,
    Segments,
    Standing,
    Traits,
    Witness,
    bits_text,
    text_hash,
)
from dbce_spark.output.history import page_history
from dbce_spark.output.history.page_history import KINDS, Life, Moment, PageRedesigned, Piece, Redesign, Step

_STRING, _INT, _LONG, _FLOAT, _BINARY = pa.string(), pa.int32(), pa.int64(), pa.float64(), pa.binary()
_TIME = pa.timestamp("us", tz="UTC")


def _fields(**types: pa.DataType) -> list[pa.Field]:
    return [pa.field(name, kind, nullable=True) for name, kind in types.items()]


_CAPTURE = _fields(
    capture_id=_STRING,
    url=_STRING,
    url_key=_STRING,
    site=_STRING,
    timestamp=_TIME,
    warc_file=_STRING,
    warc_offset=_LONG,
    warc_length=_LONG,
    record_id=_STRING,
    record_type=_STRING,
    payload_digest=_STRING,
    declared_digest=_STRING,
    http_status=_INT,
    mime=_STRING,
    declared_charset=_STRING,
    truncated=pa.bool_(),
    charset=_STRING,
    charset_source=_STRING,
    title=_STRING,
    declared_language=_STRING,
    published=_TIME,
    modified=_TIME,
    canonical_url=_STRING,
    flags=pa.list_(_STRING),
)
_BLOCKS = _fields(page_text=_STRING, xpaths=_STRING, block_numbers=_BINARY)
_BLOCK_NUMBERS = ("starts", "ends", "words", "link_words")
_TRAITS = _fields(traits_codes=_BINARY, verdicts=_BINARY, keys=_BINARY)

PAGES = pa.schema(
    [
        *_CAPTURE,
        *_BLOCKS,
        *_TRAITS,
        *_fields(tokens=_BINARY, signature=_BINARY, bands=pa.list_(_LONG), carried=_LONG, html=_BINARY),
        *_fields(file_no=_INT, row_no=_INT),
    ]
)
"""What the map over files stages. The columns of the blocks are packed, since Java only carries them: XPaths joined by
newlines, the numbers as int32, one column after the other. So are its traits, null where there are none. `carried` are
the bytes that others of its site need of it. `file_no` and `row_no` say where the row is staged."""

MEMBERS = pa.schema(
    _fields(
        capture_id=_STRING,
        site=_STRING,
        url_key=_STRING,
        timestamp=_LONG,
        record_id=_STRING,
        payload_digest=_STRING,
        declared_digest=_STRING,
        signature=_BINARY,
        bands=pa.list_(_LONG),
        is_witness=pa.bool_(),
        carried=_LONG,
        file_no=_INT,
        row_no=_INT,
    )
)
"""What a collection knows of each page beside what it holds: who it is, what its buckets are, and where it is kept."""

NEIGHBOURS = pa.schema(
    [field for field in PAGES if field.name in ("capture_id", "site", "url_key", "timestamp")]
    + _fields(block_numbers=_BINARY, verdicts=_BINARY, keys=_BINARY, tokens=_BINARY, signature=_BINARY)
    + _fields(bands=pa.list_(_LONG))
)
"""PAGES rows as other pages of their site meet them."""

REVISITS = pa.schema(
    _fields(
        url=_STRING,
        url_key=_STRING,
        site=_STRING,
        timestamp=_TIME,
        warc_file=_STRING,
        warc_offset=_LONG,
        warc_length=_LONG,
        record_id=_STRING,
        http_status=_INT,
        is_unmodified=pa.bool_(),
        digest=_STRING,
        refers_to_id=_STRING,
        refers_to_key=_STRING,
        refers_to_time=_TIME,
        file_no=_INT,
        row_no=_INT,
    )
)
"""Revisits as they were read; `file_no` and `row_no` say where the row is staged."""

CAPTURES = pa.schema(
    _fields(
        capture_id=_STRING,
        url=_STRING,
        url_key=_STRING,
        site=_STRING,
        timestamp=_TIME,
        extraction_id=_STRING,
        record_type=_STRING,
        http_status=_INT,
        payload_digest=_STRING,
        warc_file=_STRING,
        warc_offset=_LONG,
        warc_length=_LONG,
        record_id=_STRING,
    )
)
"""When each URL was fetched, and which extraction says what it said then."""

_MARK = _fields(
    duplicate_of=_STRING, similarity=_FLOAT, same_url=pa.bool_(), copy_of=_STRING, repeats=_STRING, steps=_INT
)
_TEXT = _fields(capture_id=_STRING, url_key=_STRING, timestamp=_TIME, text_digest=_STRING)
DUPLICATES = pa.schema([*_TEXT, *_MARK, *_fields(signature=_BINARY)])
"""Each capture that has a text, which earlier one has the same or nearly, and what later ones are compared with."""

TEXTS = pa.schema([*_TEXT, *_fields(signature=_BINARY, site_part=_INT, task=_INT, row_no=_INT)])
"""Texts as they are compared; `task` and `row_no` say where the row is staged."""

MARKS = pa.schema([*_fields(capture_id=_STRING, task=_INT, row_no=_INT), *_MARK])
"""What is said of a text, and where that is staged; nowhere, if it is known and marked anew."""

COMPARED = pa.schema([*TEXTS, *_MARK, *_fields(is_relabelled=pa.bool_())])
"""Texts that are staged, and known ones with what is said of them. Of these alone it is said whether they are labelled
again."""

REJECTS = pa.schema(
    _fields(
        warc_file=_STRING,
        warc_offset=_LONG,
        record_id=_STRING,
        url=_STRING,
        stage=_STRING,
        reason=_STRING,
        detail=_STRING,
    )
)

_CROSS = _fields(
    cross_id=_STRING,
    bits=_STRING,
    cur=_STRING,
    up=_STRING,
    down=_STRING,
    prev=_STRING,
    next=_STRING,
    up_similarity=_FLOAT,
    down_similarity=_FLOAT,
    prev_similarity=_FLOAT,
    next_similarity=_FLOAT,
)
_BUCKET = _fields(bucket_id=_STRING, bucket_urls=_LONG, group=_STRING)
FOUND = pa.schema([*_CROSS, *_BUCKET])

ANNOTATIONS = pa.schema([*_CROSS, *_BUCKET, *_fields(run_ends=_BINARY, run_bits=_BINARY)])
"""An annotation, and the bucket its cross was found in."""

EVIDENCE = pa.schema(_fields(capture_id=_STRING, kind=pa.int8(), features=_INT, codes=_BINARY))
"""What one kind of other pages, siblings or snapshots, says of a capture: (features, blocks) bins."""

_PLACE = _fields(file_no=_INT, row_no=_INT)
PAGE_ANNOTATIONS = pa.schema([*_PLACE, *ANNOTATIONS])
"""An annotation of a staged page, and the place of that."""

PAGE_EVIDENCE = pa.schema([*_PLACE, *EVIDENCE])
"""Evidence for a staged page, and the place of that."""

POOL_MEMBERS = pa.schema(_fields(kind=_INT, site=_STRING, pool=_STRING, capture_id=_STRING, wanted=pa.bool_()))
"""A capture in a pool of siblings or snapshots; `wanted`: the pool gives evidence for it."""

AFFECTED = pa.schema(
    _fields(capture_id=_STRING, file_no=_INT, row_no=_INT, is_affected=pa.bool_(), is_needed=pa.bool_())
)
"""A capture of the prior state whose site has grown, with the place of its page: whether its evidence may have changed,
and whether others are compared with it."""

DIGESTS = pa.schema(_fields(capture_id=_STRING, digest=_STRING))
"""What other pages say of a capture, as a digest."""

SUPERSEDED = pa.schema(_fields(capture_id=_STRING))
"""A capture of an earlier increment of which this one says something else."""

HELD = pa.schema(_fields(capture_id=_STRING, number=_LONG, template_id=_STRING, pieces=_BINARY))
"""What an extraction of an increment, by its number, holds: its pieces, packed, since Java only carries them."""

_OF_URL = _fields(url_key=_STRING, url=_STRING, site=_STRING)
_STEP = _fields(capture_id=_STRING, before_id=_STRING, timestamp=_TIME, before_timestamp=_TIME)
STEPS = pa.schema(
    [
        *_OF_URL,
        *_STEP,
        *_fields(template_from=_STRING, template_to=_STRING, similarity=_FLOAT, is_redesigned=pa.bool_()),
        *_fields(**dict.fromkeys(KINDS, _INT)),
    ]
)
"""From one capture of a URL to the next: what became of its template, and how many texts changed in each way."""

CHANGES = pa.schema(
    [
        *_OF_URL,
        *_STEP,
        *_fields(kind=_STRING, label_before=_STRING, label_after=_STRING, xpath_before=_STRING, xpath_after=_STRING),
        *_fields(text_before=_STRING, text_after=_STRING, similarity=_FLOAT),
    ]
)
"""What became of one text from a capture to the next."""

LIVES = pa.schema(
    [
        *_OF_URL,
        *_fields(text=_STRING, label=_STRING, xpath=_STRING, place=_INT, first_seen=_TIME, last_seen=_TIME),
        *_fields(captures=_INT, moves=_INT, began=_STRING, ended=_STRING),
    ]
)
"""How long a text stood on a page."""

_EXCHANGE = _fields(template_from=_STRING, template_to=_STRING, pages=_INT)
REDESIGNS = pa.schema(
    [
        *_fields(site=_STRING, not_before=_TIME, not_after=_TIME, pages=_INT, compared=_INT, url=_STRING),
        *_fields(templates=pa.list_(pa.struct(_EXCHANGE))),
    ]
)
"""What befell many pages of a site at once."""

_DECISION = _fields(node=_STRING, node_documents=_INT, domain_documents=_INT, c_max=_INT)
_PLACE_IN_STREAM = _fields(domain=_STRING, file_no=_LONG, row_no=_LONG)
_COUNTED = _fields(label=_STRING, count=_INT)
_STREAM_BLOCK = [*_fields(xpath=_STRING, start=_INT, end=_INT), *_COUNTED]
_STREAMED = [
    field
    for field in _CAPTURE
    if field.name not in ("url_key", "site", "declared_digest", "declared_charset", "truncated")
]
LABELS = pa.schema(
    [
        *_STREAMED,
        *_fields(item_title=_STRING, item_link=_STRING, key=_STRING),
        *_PLACE_IN_STREAM,
        *_DECISION,
        *_fields(blocks=pa.list_(pa.struct(_STREAM_BLOCK)), text=_STRING, page_text=_STRING),
        *_fields(words=_INT, text_words=_INT, steps=pa.list_(_STRING)),
    ]
)
"""A page of a stream as it was labelled when it arrived."""

LATE_LABELS = pa.schema(
    [
        *_fields(capture_id=_STRING),
        *_PLACE_IN_STREAM,
        *_DECISION,
        *_fields(blocks=pa.list_(pa.struct(_COUNTED))),
    ]
)
"""The same page labelled once more; its place in the stream is that of the page by whose arrival it was."""

REPEATS = pa.schema(
    [
        *_fields(capture_id=_STRING, url=_STRING, key=_STRING, timestamp=_TIME),
        *_fields(warc_file=_STRING, warc_offset=_LONG, warc_length=_LONG, record_id=_STRING, payload_digest=_STRING),
        *_PLACE_IN_STREAM,
        *_fields(steps=pa.list_(_STRING)),
    ]
)
"""A page that a stream dropped since its domain had one of the same URL key."""

STREAM = pa.schema(
    [
        *_fields(domain=_STRING, table=_STRING, file_no=_LONG, row_no=_LONG),
        *_fields(told=_BINARY, said=_STRING, keys=_BINARY),
    ]
)
"""What a stream sends to where a domain's state is, and what comes of it. `told` is a page's row, packed, since all but
who writes it only carry it; `said`, in JSON, what a tree needs of the page beside the `keys` of its blocks, and then
what the tree says. Or what goes past the state: a reject, or what became of the records of a file."""

SIBLINGS, SNAPSHOTS = range(2)
"""The kinds of evidence."""

_SEGMENT = _fields(
    xpath=_STRING,
    block=_INT,
    start=_INT,
    end=_INT,
    label=_STRING,
    score=pa.float32(),
    bits=_STRING,
    siblings=_INT,
    siblings_with=_INT,
    snapshots=_INT,
    snapshots_with=_INT,
    conflict=pa.bool_(),
)

EXTRACTIONS = pa.schema(
    [
        *[field for field in _CAPTURE if field.name not in ("declared_digest", "declared_charset", "truncated")],
        *_fields(
            first_seen=_TIME,
            last_seen=_TIME,
            revisits=_INT,
            status=_STRING,
            template_id=_STRING,
            crosses=pa.list_(pa.struct(_CROSS)),
            segments=pa.list_(pa.struct(_SEGMENT)),
            text=_STRING,
            language=_STRING,
            language_score=pa.float32(),
            page_text=_STRING,
            blocks=_INT,
            words=_INT,
            text_words=_INT,
            html=_STRING,
            site_part=_INT,
        ),
    ]
)

_MERGED = {field.name for field in [*_CAPTURE, *_BLOCKS, *_TRAITS]}
_LABEL_WORDS = pa.array([label.word for label in Label])
_BITS_WORDS = pa.array([bits_text(bits) for bits in range(32)])
_HASH = np.dtype("<u8")
_SIGNATURE = np.dtype("<u4")
_TEXT_SIGNATURE = np.dtype("<u2")
_VERDICT = np.dtype("<u2")
_KEY = np.dtype("<u4")
_ID_BYTES = 512
"""Of a row's ids and of the objects around them."""


def _batch(schema: pa.Schema, length: int, columns: dict[str, Any]) -> pa.RecordBatch:
    """A batch of a schema; columns that are not given are null."""
    arrays = []
    for field in schema:
        column = columns.get(field.name)
        if column is None:
            column = pa.nulls(length, field.type)
        elif not isinstance(column, pa.Array):
            column = pa.array(column, field.type)
        arrays.append(column)
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _lists(parts: Sequence[Any], values: pa.Array) -> pa.ListArray:
    """A list column from the lengths of its rows and their values, one after the other."""
    offsets = np.concatenate(([0], np.cumsum([len(part) for part in parts]))).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), values)


def _capture_columns(pages: Sequence[Page]) -> dict[str, Any]:
    captures = [page.capture for page in pages]
    of_capture = [field.name for field in _CAPTURE if field.name in Capture.__dataclass_fields__]
    columns: dict[str, Any] = {name: [getattr(capture, name) for capture in captures] for name in of_capture}
    for name in ("capture_id", "charset", "charset_source"):
        columns[name] = [getattr(page, name) for page in pages]
    for name in Metadata.__dataclass_fields__:
        columns[name] = [getattr(page.metadata, name) for page in pages]
    columns["flags"] = [list(page.flags) for page in pages]
    return columns


def site_part(site: str, site_parts: int) -> int:
    """The partition of a site's rows."""
    return text_hash(site) % site_parts


def pages_batch(
    pages: Sequence[Page], htmls: Sequence[bytes | None], *, file_no: int, first_row: int
) -> pa.RecordBatch:
    """Pages as PAGES rows; `htmls` are their HTML in UTF-8 where it is kept."""
    blocks = [page.blocks for page in pages]
    columns = _capture_columns(pages)
    columns |= {
        "page_text": [one.text for one in blocks],
        "xpaths": ["\n".join(one.xpaths) for one in blocks],
        "block_numbers": [
            np.concatenate([getattr(one, name) for name in _BLOCK_NUMBERS]).astype("<i4").tobytes() for one in blocks
        ],
        **_traits_columns([page.traits for page in pages]),
        "tokens": [one.tokens.astype(_HASH).tobytes() for one in blocks],
        "signature": [
            None if page.signature is None else page.signature.astype(_SIGNATURE).tobytes() for page in pages
        ],
        "bands": [page.bands.view(np.int64) for page in pages],
        "carried": [_carried(page) for page in pages],
        "html": list(htmls),
        "file_no": [file_no] * len(pages),
        "row_no": list(range(first_row, first_row + len(pages))),
    }
    return _batch(PAGES, len(pages), columns)


def _carried(page: Page) -> int:
    """Ids and signature, the hashed words, and what a witness has of each block."""
    signed = 0 if page.signature is None else page.signature.nbytes + page.bands.nbytes + page.blocks.tokens.nbytes
    seen = 0 if page.traits is None else 8 * len(page.blocks) + page.traits.verdicts.nbytes + page.traits.keys.nbytes
    return _ID_BYTES + signed + seen


def _traits_columns(traits: Sequence[Traits | None]) -> dict[str, Any]:
    return {
        "traits_codes": [None if one is None else one.codes.tobytes() for one in traits],
        "verdicts": [None if one is None else one.verdicts.astype(_VERDICT).tobytes() for one in traits],
        "keys": [None if one is None else one.keys.astype(_KEY).tobytes() for one in traits],
    }


def rejects_batch(rejects: Sequence[Reject]) -> pa.RecordBatch:
    columns: dict[str, Any] = {name: [getattr(reject, name) for reject in rejects] for name in REJECTS.names}
    columns |= {name: [str(value) for value in columns[name]] for name in ("stage", "reason")}
    return _batch(REJECTS, len(rejects), columns)


def revisits_batch(revisits: Sequence[Revisit], *, file_no: int, first_row: int) -> pa.RecordBatch:
    """Revisits as REVISITS rows."""
    columns: dict[str, Any] = {name: [getattr(one, name) for one in revisits] for name in Revisit.__dataclass_fields__}
    columns["file_no"] = [file_no] * len(revisits)
    columns["row_no"] = list(range(first_row, first_row + len(revisits)))
    return _batch(REVISITS, len(revisits), columns)


def revisits_from(batch: pa.RecordBatch) -> list[Revisit]:
    """Revisits back from REVISITS rows."""
    names = list(Revisit.__dataclass_fields__)
    columns = [_plain(batch.column(name)) for name in names]
    return [Revisit(**dict(zip(names, row, strict=True))) for row in zip(*columns, strict=True)]


def captures_batch(captures: Sequence[Capture]) -> pa.RecordBatch:
    """Captures with extractions of their own as CAPTURES rows."""
    names = [name for name in CAPTURES.names if name in Capture.__dataclass_fields__]
    columns: dict[str, Any] = {name: [getattr(one, name) for one in captures] for name in names}
    columns["capture_id"] = columns["extraction_id"] = [one.capture_id for one in captures]
    return _batch(CAPTURES, len(captures), columns)


def revisited_batch(resolved: Sequence[Resolved]) -> pa.RecordBatch:
    """Revisits whose originals are known as CAPTURES rows."""
    names = [name for name in CAPTURES.names if name in Revisit.__dataclass_fields__]
    columns: dict[str, Any] = {name: [getattr(one.revisit, name) for one in resolved] for name in names}
    columns["capture_id"] = [one.capture_id for one in resolved]
    columns["extraction_id"] = [one.original_id for one in resolved]
    columns["record_type"] = ["revisit"] * len(resolved)
    columns["payload_digest"] = [one.payload_digest for one in resolved]
    return _batch(CAPTURES, len(resolved), columns)


def _plain(column: pa.Array) -> list[Any]:
    """A column's values, times in microseconds."""
    values: list[Any] = (column.cast(_LONG) if pa.types.is_timestamp(column.type) else column).to_pylist()
    return values


def pages_from(batch: pa.RecordBatch) -> Iterator[Page]:
    """Pages back from PAGES rows, to be merged: without tokens and signature, which have done their work by then."""
    columns = {
        name: _plain(column) for name, column in zip(batch.schema.names, batch.columns, strict=True) if name in _MERGED
    }
    of_capture = [name for name in columns if name in Capture.__dataclass_fields__]
    for at, capture_id in enumerate(columns["capture_id"]):
        yield Page(
            capture_id=capture_id,
            capture=Capture(**{name: columns[name][at] for name in of_capture}),
            charset=columns["charset"][at],
            charset_source=columns["charset_source"][at],
            metadata=Metadata(**{name: columns[name][at] for name in Metadata.__dataclass_fields__}),
            flags=tuple(columns["flags"][at]),
            blocks=_blocks_from(columns["page_text"][at], columns["xpaths"][at], columns["block_numbers"][at]),
            signature=None,
            bands=np.empty(0, np.uint64),
            traits=_traits_from(columns["traits_codes"][at], columns["verdicts"][at], columns["keys"][at]),
        )


def _blocks_from(text: str, xpaths: str, numbers: bytes) -> Blocks:
    columns = np.frombuffer(numbers, "<i4").reshape(len(_BLOCK_NUMBERS), -1)
    return Blocks(
        text=text,
        xpaths=xpaths.split("\n"),
        tokens=np.empty(0, np.uint64),
        **dict(zip(_BLOCK_NUMBERS, columns, strict=True)),
    )


def _traits_from(codes: bytes | None, verdicts: bytes | None, keys: bytes | None) -> Traits | None:
    if codes is None or verdicts is None or keys is None:
        return None
    by_block = np.frombuffer(verdicts, _VERDICT)
    return Traits(
        codes=np.frombuffer(codes, np.uint8).reshape(-1, len(by_block)),
        verdicts=by_block,
        keys=np.frombuffer(keys, _KEY).reshape(-1, len(by_block)),
    )


def witnesses_from(rows: pa.Table) -> list[Witness]:
    """Pages as others see them, from their capture_id, url_key and timestamp (in microseconds), the later half of their
    block_numbers as `numbers`, their verdicts and keys."""
    columns = rows.select(["capture_id", "url_key", "timestamp", "numbers", "verdicts", "keys"]).to_pydict()
    return [_witness_from(*row) for row in zip(*columns.values(), strict=True)]


def _witness_from(
    capture_id: str, url_key: str, timestamp: int, numbers: bytes, verdicts: bytes, keys: bytes
) -> Witness:
    words, link_words = np.frombuffer(numbers, "<i4").reshape(2, -1)
    return Witness(
        capture_id=capture_id,
        url_key=url_key,
        timestamp=timestamp,
        words=words,
        link_words=link_words,
        verdicts=np.frombuffer(verdicts, _VERDICT),
        keys=np.frombuffer(keys, _KEY).reshape(-1, len(words)),
    )


def neighbours_from(rows: pa.Table) -> list[Neighbour]:
    """Pages as those of their site meet them: what `witnesses_from` reads, their site, signature, bands and tokens."""
    site = rows.column("site")[0].as_py()
    columns = rows.select(["capture_id", "url_key", "timestamp", "signature", "tokens", "numbers", "verdicts", "keys"])
    found = []
    for (capture_id, url_key, timestamp, signature, tokens_, *witness), bands in zip(
        zip(*columns.to_pydict().values(), strict=True), _numbers(rows.column("bands")), strict=True
    ):
        member = signature and _member_from(capture_id, site, url_key, timestamp, signature, bands)
        found.append(
            Neighbour(
                member=member,
                witness=None if None in witness else _witness_from(capture_id, url_key, timestamp, *witness),
                tokens=np.frombuffer(tokens_ or b"", _HASH),
            )
        )
    return found


def _member_from(capture_id: str, site: str, url_key: str, timestamp: int, signature: bytes, bands: Any) -> Member:
    return Member(
        capture_id=capture_id,
        site=site,
        url_key=url_key,
        timestamp=timestamp,
        signature=np.frombuffer(signature, _SIGNATURE),
        bands=bands.view(np.uint64),
    )


def standing_from(rows: pa.Table) -> list[Standing]:
    """The captures of one site from MEMBERS rows."""
    site = rows.column("site")[0].as_py()
    columns = rows.select(["capture_id", "url_key", "timestamp", "signature", "is_witness"]).to_pydict()
    found = []
    for (capture_id, url_key, timestamp, signature, is_witness), bands in zip(
        zip(*columns.values(), strict=True), _numbers(rows.column("bands")), strict=True
    ):
        member = signature and _member_from(capture_id, site, url_key, timestamp, signature, bands)
        found.append(
            Standing(
                capture_id=capture_id,
                url_key=url_key,
                timestamp=timestamp,
                member=member or None,
                is_witness=is_witness,
            )
        )
    return found


def _numbers(column: pa.ChunkedArray) -> list[Any]:
    """The rows of a column of lists of numbers, an array each."""
    lists = column.combine_chunks()
    lengths = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
    return np.split(lists.flatten().to_numpy(), np.cumsum(lengths)[:-1])


def placed_batch(places: Sequence[tuple[int, int]], rows: pa.RecordBatch) -> pa.RecordBatch:
    """Put the place of its page, file_no and row_no, before each of some rows."""
    columns = [pa.array(column, pa.int32()) for column in zip(*places, strict=True)]
    return pa.RecordBatch.from_arrays([*columns, *rows.columns], schema=pa.schema([*_PLACE, *rows.schema]))


def evidence_batch(rows: Sequence[tuple[str, int, Codes]]) -> pa.RecordBatch:
    """EVIDENCE rows from capture ids, kinds and codes."""
    columns = {
        "capture_id": [capture_id for capture_id, _, _ in rows],
        "kind": [kind for _, kind, _ in rows],
        "features": [len(codes) for _, _, codes in rows],
        "codes": [codes.tobytes() for _, _, codes in rows],
    }
    return _batch(EVIDENCE, len(rows), columns)


def codes_from(row: dict[str, Any]) -> Codes:
    """The (features, blocks) bins of an EVIDENCE row."""
    return np.frombuffer(row["codes"], np.uint8).reshape(row["features"], -1)


def _cross_columns(crosses: Sequence[Cross]) -> dict[str, Any]:
    columns: dict[str, Any] = {name: [getattr(cross, name) for cross in crosses] for name in Cross.__dataclass_fields__}
    columns["cross_id"] = [cross.cross_id for cross in crosses]
    columns["bits"] = _BITS_WORDS.take(pa.array([cross.bits for cross in crosses], _INT))
    return columns


def found_batch(found: Sequence[Found]) -> pa.RecordBatch:
    return _batch(FOUND, len(found), _found_columns(found))


def _found_columns(found: Sequence[Found]) -> dict[str, Any]:
    columns = _cross_columns([one.cross for one in found])
    return columns | {field.name: [getattr(one, field.name) for one in found] for field in _BUCKET}


def cross_from(row: dict[str, Any]) -> Cross:
    return Cross(**{name: row[name] for name in Cross.__dataclass_fields__})


def found_from(row: dict[str, Any]) -> Found:
    return Found(cross=cross_from(row), **{field.name: row[field.name] for field in _BUCKET})


def annotations_batch(annotations: Sequence[tuple[Found, Annotation]]) -> pa.RecordBatch:
    columns = _found_columns([found for found, _ in annotations])
    columns["run_ends"] = [annotation.ends.astype("<i4").tobytes() for _, annotation in annotations]
    columns["run_bits"] = [annotation.bits.tobytes() for _, annotation in annotations]
    return _batch(ANNOTATIONS, len(annotations), columns)


def annotation_from(row: dict[str, Any]) -> Annotation:
    return Annotation(
        cross=cross_from(row),
        ends=np.frombuffer(row["run_ends"], "<i4").astype(np.int32),
        bits=np.frombuffer(row["run_bits"], np.uint8),
    )


def extractions_batch(
    extractions: Sequence[Extraction],
    languages: Sequence[Language],
    htmls: Sequence[str | None],
    site_parts: int,
    seen: Mapping[str, Seen] = MappingProxyType({}),
) -> pa.RecordBatch:
    """Extractions as EXTRACTIONS rows; `languages` are those of their texts, `htmls` is the annotated HTML where it was
    asked for. `seen` has the capture ids of those that were revisited."""
    pages = [one.page for one in extractions]
    columns = _capture_columns(pages) | _seen_columns(pages, seen)
    crosses = [cross for one in extractions for cross in one.crosses]
    columns |= {name: [getattr(one, name) for one in extractions] for name in ("status", "template_id", "text")}
    columns |= {
        "crosses": _lists(
            [one.crosses for one in extractions], _structs(_CROSS, len(crosses), _cross_columns(crosses))
        ),
        "segments": _segments_column(extractions),
        "language": [language.tag for language in languages],
        "language_score": [language.score for language in languages],
        "page_text": [page.blocks.text for page in pages],
        "blocks": [len(page.blocks) for page in pages],
        "words": [int(page.blocks.words.sum()) for page in pages],
        "text_words": [len(tokens(one.text)) for one in extractions],
        "html": list(htmls),
        "site_part": [site_part(page.capture.site, site_parts) for page in pages],
    }
    return _batch(EXTRACTIONS, len(extractions), columns)


def texts_batch(extracted: pa.RecordBatch, config: DuplicatesConfig, *, task: int, first_row: int) -> pa.RecordBatch:
    """Those EXTRACTIONS rows that have a text, as TEXTS rows."""
    some = extracted.filter(pc.greater(extracted.column("text_words"), 0))
    read = [texts.read(text, config) for text in some.column("text").to_pylist()]
    columns = {name: some.column(name) for name in ("capture_id", "url_key", "timestamp", "site_part")}
    columns |= {
        "text_digest": [digest for digest, _ in read],
        "signature": [_signature_bytes(signature) for _, signature in read],
        "task": [task] * len(read),
        "row_no": list(range(first_row, first_row + len(read))),
    }
    return _batch(TEXTS, len(read), columns)


def _signature_bytes(signature: TextSignature | None) -> bytes | None:
    return None if signature is None else signature.astype(_TEXT_SIGNATURE).tobytes()


def text_signatures(column: pa.Array) -> TextSignature:
    """Signatures of texts, all of which have one: uint16, shape (texts, rows)."""
    packed = b"".join(column.to_pylist())
    return np.frombuffer(packed, _TEXT_SIGNATURE).reshape(len(column), -1)


def texts_from(rows: pa.Table) -> list[Text]:
    """Texts back from TEXTS rows."""
    columns = rows.select(["capture_id", "url_key", "timestamp", "text_digest", "signature"])
    columns = columns.set_column(2, "timestamp", columns.column("timestamp").cast(_LONG))
    return [
        Text(
            capture_id=capture_id,
            url_key=url_key,
            timestamp=timestamp,
            digest=digest,
            signature=None if signature is None else np.frombuffer(signature, _TEXT_SIGNATURE),
        )
        for capture_id, url_key, timestamp, digest, signature in zip(*columns.to_pydict().values(), strict=True)
    ]


def marked_from(rows: pa.Table) -> list[Marked]:
    """Texts with what is said of them, back from DUPLICATES rows."""
    marks = zip(*(rows.column(field.name).to_pylist() for field in _MARK), strict=True)
    names = [field.name for field in _MARK]
    return [
        Marked(text, Mark(**dict(zip(names, said, strict=True))))
        for text, said in zip(texts_from(rows), marks, strict=True)
    ]


def marks_batch(marked: Sequence[Marked], rows: pa.Table) -> pa.RecordBatch:
    """What is said of some texts as MARKS rows, with the places of those that are among the TEXTS rows."""
    columns: dict[str, Any] = {field.name: [getattr(mark, field.name) for _, mark in marked] for field in _MARK}
    ids = pa.array([text.capture_id for text, _ in marked], _STRING)
    at = pc.index_in(ids, rows.column("capture_id").combine_chunks())
    columns |= {name: rows.column(name).combine_chunks().take(at) for name in ("task", "row_no")}
    return _batch(MARKS, len(marked), columns | {"capture_id": ids})


def duplicates_batch(staged: pa.RecordBatch, marks: pa.RecordBatch) -> pa.RecordBatch:
    """TEXTS rows and their MARKS rows, in the same order, as DUPLICATES rows."""
    columns = {name: staged.column(name) for name in staged.schema.names}
    columns |= {field.name: marks.column(field.name) for field in _MARK}
    return _batch(DUPLICATES, len(staged), columns)


def marked_batch(marked: Sequence[Marked]) -> pa.RecordBatch:
    """Texts and what is said of them as DUPLICATES rows."""
    columns: dict[str, Any] = {
        name: [getattr(text, name) for text, _ in marked] for name in ("capture_id", "url_key", "timestamp")
    }
    columns["text_digest"] = [text.digest for text, _ in marked]
    columns["signature"] = [_signature_bytes(text.signature) for text, _ in marked]
    columns |= {field.name: [getattr(mark, field.name) for _, mark in marked] for field in _MARK}
    return _batch(DUPLICATES, len(marked), columns)


def _seen_columns(pages: Sequence[Page], seen: Mapping[str, Seen]) -> dict[str, Any]:
    once = [Seen(first=page.capture.timestamp, last=page.capture.timestamp, revisits=0) for page in pages]
    found = [seen.get(page.capture_id, one) for page, one in zip(pages, once, strict=True)]
    return {
        "first_seen": [one.first for one in found],
        "last_seen": [one.last for one in found],
        "revisits": [one.revisits for one in found],
    }


def _structs(fields: list[pa.Field], length: int, columns: dict[str, Any]) -> pa.StructArray:
    return _batch(pa.schema(fields), length, columns).to_struct_array()


def _segments_column(extractions: Sequence[Extraction]) -> pa.ListArray:
    parts = [one.segments for one in extractions]
    names = Segments.__dataclass_fields__
    joined = {name: np.concatenate([getattr(one, name) for one in parts] or [np.empty(0, np.int32)]) for name in names}
    xpaths = pa.array([xpath for one in extractions for xpath in one.page.blocks.xpaths], _STRING)
    firsts = np.cumsum([0, *(len(one.page.blocks) for one in extractions)])[: len(parts)]
    block_of_all = joined["blocks"] + np.repeat(firsts, [len(part) for part in parts])
    columns = {
        "xpath": xpaths.take(pa.array(block_of_all)),
        "block": joined["blocks"],
        "start": joined["starts"],
        "end": joined["ends"],
        "label": _LABEL_WORDS.take(pa.array(joined["labels"])),
        "score": joined["scores"],
        "bits": _BITS_WORDS.take(pa.array(joined["bits"])),
        "siblings": joined["siblings"],
        "siblings_with": joined["siblings_with"],
        "snapshots": joined["snapshots"],
        "snapshots_with": joined["snapshots_with"],
        "conflict": joined["conflicts"],
    }
    return _lists(parts, _structs(_SEGMENT, len(block_of_all), columns))


def segments_from(rows: Iterable[dict[str, Any]]) -> Segments:
    """Segments back from the `segments` column of one extraction."""
    columns = list(rows)
    words = [label.word for label in Label]

    def column(name: str, kind: Any) -> Any:
        return np.array([row[name] for row in columns], kind)

    return Segments(
        blocks=column("block", np.int32),
        starts=column("start", np.int32),
        ends=column("end", np.int32),
        labels=np.array([words.index(row["label"]) for row in columns], np.uint8),
        scores=column("score", np.float32),
        bits=np.array([int(row["bits"], 2) for row in columns], np.uint8),
        siblings=column("siblings", np.int32),
        siblings_with=column("siblings_with", np.int32),
        snapshots=column("snapshots", np.int32),
        snapshots_with=column("snapshots_with", np.int32),
        conflicts=column("conflict", np.bool_),
    )


_PIECE = ("text", "label", "xpath")


def held_batch(number: int, extracted: pa.RecordBatch) -> pa.RecordBatch:
    """EXTRACTIONS rows of an increment as HELD rows; of their segments `history.pieces` reads five fields."""
    columns = {name: extracted.column(name) for name in ("capture_id", "template_id")}
    rows = zip(extracted.column("page_text").to_pylist(), extracted.column("segments").to_pylist(), strict=True)
    columns["pieces"] = [_packed(page_history.pieces(page_text, segments)) for page_text, segments in rows]
    return _batch(HELD, len(extracted), columns | {"number": [number] * len(extracted)})


def _packed(pieces: Iterable[Piece]) -> bytes:
    plain = [[getattr(one, name) for name in _PIECE] for one in pieces]
    packed: bytes = zstandard.compress(json.dumps(plain, ensure_ascii=False).encode())
    return packed


def _unpacked(packed: bytes) -> tuple[Piece, ...]:
    return tuple(Piece(**dict(zip(_PIECE, one, strict=True))) for one in json.loads(zstandard.decompress(packed)))


def moments_from(rows: Iterable[Mapping[str, Any]]) -> Iterator[Moment]:
    """The captures of a URL, one at a time, from rows in order of time: those of CAPTURES, with the time in
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
            signature = np.frombuffer(row["signature"], _SIGNATURE) if row["signature"] else None
        if pieces is not None:
            yield Moment(
                capture_id=row["capture_id"],
                timestamp=row["timestamp"],
                pieces=pieces,
                url_key=row["url_key"],
                url=row["url"],
                site=row["site"],
                template_id=template_id,
                signature=signature,
            )


def _of_step(step: Step, times: int) -> dict[str, Any]:
    """The columns that say which captures a step lies between, as often as it has rows."""
    before, after = step.before, step.after
    columns = {
        **{name: getattr(after, name) for name in ("url_key", "url", "site", "capture_id", "timestamp")},
        "before_id": before.capture_id,
        "before_timestamp": before.timestamp,
    }
    return {name: [value] * times for name, value in columns.items()}


def steps_batch(step: Step, *, is_redesigned: bool) -> pa.RecordBatch:
    """A step as a STEPS row."""
    kinds = Counter(one.kind for one in step.changes)
    said = {
        "template_from": step.before.template_id,
        "template_to": step.after.template_id,
        "similarity": step.similarity,
        "is_redesigned": is_redesigned,
        **{kind: kinds[kind] for kind in KINDS},
    }
    return _batch(STEPS, 1, _of_step(step, 1) | {name: [value] for name, value in said.items()})


def changes_batch(step: Step) -> pa.RecordBatch:
    """The changes of a step as CHANGES rows, in the order of the page."""
    columns = _of_step(step, len(step.changes))
    columns |= {name: [getattr(one, name) for one in step.changes] for name in ("kind", "similarity")}
    for side in ("before", "after"):
        sides = [getattr(one, side) for one in step.changes]
        columns |= {f"{name}_{side}": [one and getattr(one, name) for one in sides] for name in _PIECE}
    return _batch(CHANGES, len(step.changes), columns)


def lives_batch(last: Moment, lives: Sequence[Life]) -> pa.RecordBatch:
    """Lives that a capture is the last of as LIVES rows."""
    columns = {field.name: [getattr(last, field.name)] * len(lives) for field in _OF_URL}
    columns |= {name: [getattr(one, name) for one in lives] for name in Life.__dataclass_fields__}
    return _batch(LIVES, len(lives), columns)


def redesigned_from(steps: pa.Table) -> tuple[list[PageRedesigned], Any, Any]:
    """What `history.redesigns` is asked with, from those STEPS rows of a site whose similarity is known."""
    for name, column in (("before", "before_timestamp"), ("after", "timestamp")):
        steps = steps.append_column(name, steps.column(column).cast(_LONG))
    names = list(PageRedesigned.__dataclass_fields__)
    changed = steps.filter(steps.column("is_redesigned")).select(names).to_pylist()
    befores, afters = (np.sort(steps.column(name).to_numpy()) for name in ("before", "after"))
    return [PageRedesigned(**row) for row in changed], befores, afters


def redesigns_batch(site: str, redesigns: Sequence[Redesign]) -> pa.RecordBatch:
    """Redesigns of a site as REDESIGNS rows."""
    columns = {name: [getattr(one, name) for one in redesigns] for name in Redesign.__dataclass_fields__}
    columns["templates"] = [[asdict(exchange) for exchange in one.templates] for one in redesigns]
    return _batch(REDESIGNS, len(redesigns), columns | {"site": [site] * len(redesigns)})
