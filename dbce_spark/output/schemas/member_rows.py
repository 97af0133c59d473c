"""Define the rows of a site's captures, and restore the features of their pages that are compared."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbce_spark.model import IndexedCapture, Member, Neighbour, PageFeatures
from dbce_spark.output.schemas.codec import BINARY, INT, LONG, PLACE, STRING, decode, fields, plain, unpacked
from dbce_spark.output.schemas.page_rows import FIRST_SCORE, HASH, KEY, PAGES, SIGNATURE, words_from

MEMBERS = pa.schema(
    fields(
        capture_id=STRING,
        site=STRING,
        url_key=STRING,
        timestamp=LONG,
        record_id=STRING,
        payload_digest=STRING,
        declared_digest=STRING,
        signature=BINARY,
        bands=pa.list_(LONG),
        has_features=pa.bool_(),
        carried=LONG,
        **dict.fromkeys(PLACE, INT),
    )
)
"""The index of a collection's pages: the ids of each, its buckets, and where its row of PAGES is kept."""

NEIGHBOURS = pa.schema(
    [field for field in PAGES if field.name in ("capture_id", "site", "url_key", "timestamp")]
    + fields(block_numbers=BINARY, first_scores=BINARY, keys=BINARY, tokens=BINARY, signature=BINARY)
    + fields(bands=pa.list_(LONG))
)
"""The columns of PAGES that the comparison of a site reads."""

EVIDENCE_PAGES = pa.schema(
    [
        *fields(capture_id=STRING, url_key=STRING, timestamp=LONG, block_words=BINARY),
        *fields(first_scores=BINARY, keys=BINARY, signature=BINARY, bands=pa.list_(LONG), site=STRING),
    ]
)
"""The columns that `evidence_from` reads of a page."""

_MEMBER = ("site", "capture_id", "url_key", "timestamp", "signature")
_FEATURES = ("capture_id", "url_key", "timestamp", "block_words", "first_scores", "keys")


def page_features_from(rows: pa.Table) -> list[PageFeatures]:
    """Restore page features from capture_id, url_key and timestamp (in microseconds), block_words
    (`page_rows.cut_words`), first_scores and keys. Those that the classifier has not scored have none of these, and are
    left out."""
    return [one for one in _seen_from(rows) if one is not None]


def _seen_from(rows: pa.Table) -> Iterator[PageFeatures | None]:
    """Restore page features; None where the classifier has not scored a page."""
    for capture_id, url_key, timestamp, *packs in zip(*(plain(rows.column(name)) for name in _FEATURES), strict=True):
        if None in packs:
            yield None
            continue
        block_words, scores, keys = packs
        first_scores = np.frombuffer(scores, FIRST_SCORE)
        yield PageFeatures(
            capture_id=capture_id,
            url_key=url_key,
            timestamp=timestamp,
            **words_from(block_words),
            first_scores=first_scores,
            keys=np.frombuffer(keys, KEY).reshape(-1, len(first_scores)),
        )


def neighbours_from(rows: pa.Table) -> list[Neighbour]:
    """Restore the pages of one site from the columns that `page_features_from` reads, their site, signature, bands and
    tokens."""
    tokens = unpacked((one or b"" for one in plain(rows.column("tokens"))), HASH)
    return [*decode(Neighbour, rows, member=_members_from(rows), features=_seen_from(rows), tokens=tokens)]


def evidence_from(rows: pa.Table) -> Iterator[tuple[PageFeatures, Member | None]]:
    """Restore the pages that can be evidence, each with its place in the buckets, from the columns of
    `neighbours_from` but the tokens. Those that the classifier has not scored are left out."""
    both = zip(_seen_from(rows), _members_from(rows), strict=True)
    return ((seen, member) for seen, member in both if seen is not None)


def _members_from(rows: pa.Table) -> Iterator[Member | None]:
    """Restore bucket members; None without a signature."""
    columns = zip(*(plain(rows.column(name)) for name in _MEMBER), _numbers(rows.column("bands")), strict=True)
    for site, capture_id, url_key, timestamp, signature, bands in columns:
        yield signature and Member(
            capture_id=capture_id,
            site=site,
            url_key=url_key,
            timestamp=timestamp,
            signature=np.frombuffer(signature, SIGNATURE),
            bands=bands.view(np.uint64),
        )


def indexed_captures_from(rows: pa.Table) -> list[IndexedCapture]:
    """Restore the captures of one site from MEMBERS rows."""
    return [*decode(IndexedCapture, rows, member=_members_from(rows))]


def _numbers(column: pa.ChunkedArray) -> list[Any]:
    """Split a column of lists of numbers into an array for each row, empty where the row is null."""
    lists = column.combine_chunks()
    lengths = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
    ends = np.cumsum(lengths)
    return np.split(lists.flatten().to_numpy(), ends[:-1]) if len(ends) else []
