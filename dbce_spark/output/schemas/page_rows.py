"""Store decoded pages as rows of the stage that reads archives, and restore them."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dbce_spark.model import BlockFeatures, Blocks, Capture, Metadata, Page, Units
from dbce_spark.output.schemas.capture_columns import CAPTURE, capture_columns
from dbce_spark.output.schemas.codec import (
    BINARY,
    LONG,
    PLACE_FIELDS,
    STRING,
    decode,
    encode,
    fields,
    packed,
    plain,
    row_places,
)

_BLOCKS = fields(page_text=STRING, xpaths=STRING, block_numbers=BINARY)
_OWN, _COMPARED = ("starts", "ends"), ("words", "link_words")
"""Columns that only the page needs, and those that others of its site compare: these travel alone (`cut_words`)."""
BLOCK_NUMBERS = (*_OWN, *_COMPARED)
"""The columns in `block_numbers`, one after the other."""
CUT_WORDS = f"substring(block_numbers, 1 + length(block_numbers) * {len(_OWN)} div {len(BLOCK_NUMBERS)})"
"""`cut_words` as Spark's SQL."""
_FEATURES = fields(feature_codes=BINARY, first_scores=BINARY, keys=BINARY, units=BINARY, holders=BINARY)
UNIT_NUMBERS = ("parents", "firsts", "lasts", "kinds")
"""The columns in `units`, one after the other."""
PAGES = pa.schema(
    [
        *CAPTURE,
        *_BLOCKS,
        *_FEATURES,
        *fields(tokens=BINARY, signature=BINARY, bands=pa.list_(LONG), carried=LONG, html=BINARY),
        *PLACE_FIELDS,
    ]
)
"""Pages as the map over files stages them. The columns of the blocks are packed, since Java only carries them: XPaths
joined by newlines, the numbers as int32, one column after the other. So are its features, null where there are none.
`carried` are the bytes that others of its site need of it. `file_no` and `row_no` say where the row is staged."""
DROPPED = pa.schema([*PLACE_FIELDS, *fields(filter=STRING)])
"""A staged page that goes no further, and the filter that it is counted under."""

# The order of bytes is that of the files, whatever the machine's.
NUMBER = np.dtype("<i4")
HASH = np.dtype("<u8")
SIGNATURE = np.dtype("<u4")
FIRST_SCORE = np.dtype("<u2")
KEY = np.dtype("<u4")
_ID_BYTES = 512
"""Of a row's ids and of the objects around them."""


def pages_batch(
    pages: Sequence[Page], htmls: Sequence[bytes | None], *, file_no: int, first_row: int
) -> pa.RecordBatch:
    """Store pages as PAGES rows; `htmls` are their HTML in UTF-8 where it is kept."""
    blocks = [page.blocks for page in pages]
    return encode(
        PAGES,
        pages,
        **capture_columns(pages),
        **_feature_columns([page.features for page in pages]),
        page_text=[block.text for block in blocks],
        xpaths=["\n".join(block.xpaths) for block in blocks],
        block_numbers=packed((_joined(block, BLOCK_NUMBERS) for block in blocks), NUMBER),
        tokens=packed((block.tokens for block in blocks), HASH),
        signature=packed((page.signature for page in pages), SIGNATURE),
        bands=[page.bands.view(np.int64) for page in pages],
        carried=[_carried(page) for page in pages],
        html=list(htmls),
        **row_places(len(pages), file_no, first_row),
    )


def _carried(page: Page) -> int:
    """Count the bytes of ids and signature, of the hashed words, and of what other pages compare of each block."""
    signed = 0 if page.signature is None else page.signature.nbytes + page.bands.nbytes + page.blocks.tokens.nbytes
    features, words = page.features, len(_COMPARED) * NUMBER.itemsize * len(page.blocks)
    seen = 0 if features is None else words + features.first_scores.nbytes + features.keys.nbytes
    return _ID_BYTES + signed + seen


def _feature_columns(features: Sequence[BlockFeatures | None]) -> dict[str, Any]:
    return {
        "feature_codes": packed((None if one is None else one.codes for one in features), np.uint8),
        "first_scores": packed((None if one is None else one.first_scores for one in features), FIRST_SCORE),
        "keys": packed((None if one is None else one.keys for one in features), KEY),
        "units": packed((None if one is None else _joined(one.units, UNIT_NUMBERS) for one in features), NUMBER),
        "holders": packed((None if one is None else one.units.holders for one in features), NUMBER),
    }


def _joined(columns: Blocks | Units, names: Sequence[str]) -> npt.NDArray[np.int32]:
    return np.concatenate([getattr(columns, name) for name in names])


def _parted(numbers: bytes, names: Sequence[str]) -> dict[str, Any]:
    """Restore the columns that `_joined` joined."""
    return dict(zip(names, np.frombuffer(numbers, NUMBER).reshape(len(names), -1), strict=True))


def cut_words(block_numbers: bytes) -> bytes:
    """Cut out of `block_numbers` what others of its site compare, for `words_from`."""
    return block_numbers[len(block_numbers) * len(_OWN) // len(BLOCK_NUMBERS) :]


def words_from(block_words: bytes) -> dict[str, Any]:
    """Restore `words` and `link_words`."""
    return _parted(block_words, _COMPARED)


def pages_from(batch: pa.RecordBatch) -> Iterator[Page]:
    """Restore pages from PAGES rows, without tokens and signature, which only earlier stages need."""
    return decode(
        Page,
        batch,
        capture=decode(Capture, batch),
        metadata=decode(Metadata, batch),
        flags=map(tuple, plain(batch.column("flags"))),
        blocks=map(_blocks_from, *(plain(batch.column(field.name)) for field in _BLOCKS)),
        signature=[None] * len(batch),
        bands=[np.empty(0, np.uint64)] * len(batch),
        features=map(_features_from, *(plain(batch.column(field.name)) for field in _FEATURES)),
    )


def _blocks_from(text: str, xpaths: str, numbers: bytes) -> Blocks:
    return Blocks(
        text=text,
        xpaths=xpaths.split("\n"),
        tokens=np.empty(0, np.uint64),
        **_parted(numbers, BLOCK_NUMBERS),
    )


def _features_from(
    codes: bytes | None, scores: bytes | None, keys: bytes | None, units: bytes | None, holders: bytes | None
) -> BlockFeatures | None:
    if codes is None or scores is None or keys is None or units is None or holders is None:
        return None
    by_block = np.frombuffer(scores, FIRST_SCORE)
    return BlockFeatures(
        codes=np.frombuffer(codes, np.uint8).reshape(-1, len(by_block)),
        first_scores=by_block,
        keys=np.frombuffer(keys, KEY).reshape(-1, len(by_block)),
        units=Units(holders=np.frombuffer(holders, NUMBER), **_parted(units, UNIT_NUMBERS)),
    )
