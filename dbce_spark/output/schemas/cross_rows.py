"""Store crosses and the buckets that they were found in, and restore them."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from dbce_spark.model import BucketCross, Cross, bits_text
from dbce_spark.output.schemas.codec import (
    BINARY,
    FLOAT,
    INT,
    LONG,
    STRING,
    attributes,
    column_names,
    decode_row,
    encode,
    fields,
)

CROSS = fields(
    cross_id=STRING,
    bits=STRING,
    cur=STRING,
    up=STRING,
    down=STRING,
    prev=STRING,
    next=STRING,
    up_similarity=FLOAT,
    down_similarity=FLOAT,
    prev_similarity=FLOAT,
    next_similarity=FLOAT,
)
BUCKET = fields(bucket_id=STRING, bucket_urls=LONG, group=STRING)
BUCKET_CROSSES = pa.schema([*CROSS, *BUCKET])
BUCKETS = pa.schema(fields(site=STRING, band=INT, key=LONG, size=LONG, one_sum=LONG, other_sum=LONG))
"""A bucket: how many captures are in it, and two hashes that are equal for buckets of the same captures."""
NAMED_BUCKETS = pa.schema([*BUCKETS, *fields(bucket_id=STRING)])
ADJACENT_PAGES = pa.schema(
    [
        *fields(site=STRING, capture_id=STRING, url_key=STRING, timestamp=LONG, signature=BINARY, bands=pa.list_(LONG)),
        *fields(prev=STRING, next=STRING, prev_similarity=FLOAT, next_similarity=FLOAT),
    ]
)
"""A page in its buckets, beside the captures before and behind it."""
BITS_WORDS = pa.array([bits_text(bits) for bits in range(32)])


def crosses_batch(crosses: Sequence[Cross]) -> pa.RecordBatch:
    """Store crosses, with the id and the bits that follow from their arms."""
    return encode(pa.schema(CROSS), crosses, bits=_bits_words(crosses))


def _bits_words(crosses: Sequence[Cross]) -> pa.Array:
    return BITS_WORDS.take(pa.array([cross.bits for cross in crosses], INT))


def bucket_crosses_batch(found: Sequence[BucketCross]) -> pa.RecordBatch:
    """Store crosses and their buckets as BUCKET_CROSSES rows."""
    crosses = [one.cross for one in found]
    return encode(BUCKET_CROSSES, crosses, bits=_bits_words(crosses), **attributes(found, column_names(BUCKET)))


def bucket_cross_from(row: Mapping[str, Any]) -> BucketCross:
    """Restore a cross and its bucket from a BUCKET_CROSSES row."""
    return decode_row(BucketCross, row, cross=decode_row(Cross, row))
