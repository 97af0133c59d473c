"""Define the tables of a stream, and the rows that it passes between its stages."""

import pyarrow as pa

from dbce_spark.output.schemas.capture_columns import CAPTURE
from dbce_spark.output.schemas.codec import BINARY, INT, LONG, STRING, TIME, fields
from dbce_spark.output.schemas.format_columns import FORMATS
from dbce_spark.output.schemas.member_rows import EVIDENCE_PAGES

_DECISION = [
    *fields(node=STRING, node_documents=INT, domain_documents=INT, c_max=INT),
    *fields(siblings=INT, snapshots=INT, confidence=pa.float32()),
]
_PLACE_IN_STREAM = fields(domain=STRING, file_no=LONG, row_no=LONG)
_COUNTED = fields(label=STRING, count=INT, score=pa.float32())
_STREAM_BLOCK = [*fields(xpath=STRING, start=INT, end=INT), *_COUNTED]
_STREAMED = [
    field
    for field in CAPTURE
    if field.name not in ("url_key", "site", "declared_digest", "declared_charset", "truncated")
]
LABELS = pa.schema(
    [
        *_STREAMED,
        *fields(item_title=STRING, item_link=STRING, key=STRING),
        *_PLACE_IN_STREAM,
        *_DECISION,
        *fields(blocks=pa.list_(pa.struct(_STREAM_BLOCK)), text=STRING, page_text=STRING),
        *fields(words=INT, text_words=INT, steps=pa.list_(STRING)),
        *FORMATS,
    ]
)
"""A page of a stream as it was labelled when it arrived. The last three columns are null where they are not asked for;
of those from `node` to `confidence`, and of `count` and `score` of a block, those of the other method are."""

LATE_LABELS = pa.schema(
    [
        *fields(capture_id=STRING),
        *_PLACE_IN_STREAM,
        *_DECISION,
        *fields(blocks=pa.list_(pa.struct(_COUNTED))),
    ]
)
"""The same page labelled once more; its place in the stream is that of the page by whose arrival it was."""

REPEATS = pa.schema(
    [
        *fields(capture_id=STRING, url=STRING, key=STRING, timestamp=TIME),
        *fields(warc_file=STRING, warc_offset=LONG, warc_length=LONG, record_id=STRING, payload_digest=STRING),
        *_PLACE_IN_STREAM,
        *fields(steps=pa.list_(STRING)),
    ]
)
"""A page that a stream dropped since its domain had one of the same URL key, and by DBCE of the same words."""

STREAM = pa.schema(
    [
        *fields(domain=STRING, table=STRING, file_no=LONG, row_no=LONG),
        *fields(packed_row=BINARY, fields=STRING, blocks=BINARY),
    ]
)
"""Messages to where a domain's state is, and the answers. Of a page, `packed_row` is unpacked only by the writer of the
table; `fields`, in JSON, has first what a state needs of the page beside the packed `blocks`, then the labels. Or a row
that passes the state by: a reject, or the counts of the records of a file."""

KEYED_PAGES = pa.schema([*EVIDENCE_PAGES, *fields(domain=STRING, words_hash=LONG, seen_as=pa.list_(LONG))])
"""A page that primes the state of its domain, and the hashes by which it is known again; `words_hash` is the
last of them."""

PRIMED = pa.schema(fields(domain=STRING, state=BINARY))
"""The states that domains begin with."""
