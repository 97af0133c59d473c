"""Turn a page into an arrival of the stream: its row, and the part that the state of its domain needs."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import zstandard

from dbce_spark.model import Capture, Page
from dbce_spark.output.schemas import stream_rows
from dbce_spark.streaming.urltree.blocks import KEY_WORDS, Keys, block_keys
from dbce_spark.streaming.urltree.url_keys import UrlKey, url_key
from dbce_spark.streaming.urltree.urltree_settings import UrlTreeConfig

Row = Mapping[str, Any]
"""A row of a table, by its columns; timestamps are microseconds since 1970."""

PageAndHtml = tuple[Page, bytes | None]
"""A page, and its HTML in UTF-8 where formats are written from it."""

_CAPTURE_COLUMNS = [name for name in stream_rows.LABELS.names if name in Capture.__dataclass_fields__]
_METADATA_COLUMNS = ("title", "declared_language", "canonical_url", "published", "modified")
_ZSTD_LEVEL = 1
"""Level of compression, low: what is packed lives for seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A page and its place in the stream: files in the order in which they came, pages in that of their file.

    `packed_row` has the columns of LABELS that do not depend on other pages, those of its blocks as lists, and its HTML
    where that is wanted. No state needs any of it, so it stays packed until it is written. `packed_blocks` is what the
    state needs of the blocks.
    """

    file_no: int
    row_no: int
    capture_id: str
    timestamp: int  # microseconds since 1970-01-01 UTC
    url_key: UrlKey
    packed_row: bytes
    packed_blocks: bytes

    @property
    def domain(self) -> str:
        return self.url_key.domain


def make_arrival(
    came: PageAndHtml, file_no: int, row_no: int, config: UrlTreeConfig, pack_blocks: Callable[[Page], bytes]
) -> Arrival:
    """Make the arrival of a page, the nth (from 0) of the nth file. `pack_blocks` packs what the state needs of it."""
    page, html = came
    capture, blocks = page.capture, page.blocks
    row: dict[str, Any] = {name: getattr(capture, name) for name in _CAPTURE_COLUMNS}
    row |= {name: getattr(page.metadata, name) for name in _METADATA_COLUMNS}
    row |= {"capture_id": page.capture_id, "charset": page.charset, "charset_source": page.charset_source}
    row |= {"flags": [*page.flags], "page_text": blocks.text, "xpaths": blocks.xpaths}
    row |= {name: getattr(blocks, name).tolist() for name in ("starts", "ends", "words")}
    if html is not None:
        row["html"] = html.decode("utf-8", "surrogateescape")
    return Arrival(
        file_no=file_no,
        row_no=row_no,
        capture_id=page.capture_id,
        timestamp=capture.timestamp,
        url_key=_key(capture, page.metadata.title, config),
        packed_row=pack_row(row),
        packed_blocks=pack_blocks(page),
    )


def _key(capture: Capture, title: str, config: UrlTreeConfig) -> UrlKey:
    """Return the URL key by the title that the feed has, or else the page's own."""
    redirects = {capture.item_link: capture.url} if capture.item_link else {}
    return url_key(capture.item_link or capture.url, capture.item_title or title, config.keys.rules, redirects)


def pack_row(row: Row) -> bytes:
    """Pack a row, to be sent to another process."""
    return zstandard.compress(json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass"), _ZSTD_LEVEL)


def unpack_row(data: bytes) -> dict[str, Any]:
    """Unpack a row that `pack_row` has packed."""
    row: dict[str, Any] = json.loads(zstandard.decompress(data).decode("utf-8", "surrogatepass"))
    return row


def pack_head(arrival: Arrival) -> str:
    """Pack the id, time and URL key of a page, which a state needs beside its blocks."""
    return json.dumps([arrival.capture_id, arrival.timestamp, asdict(arrival.url_key)])


def pack_keys(page: Page, config: UrlTreeConfig) -> bytes:
    """Pack the keys of a page's blocks, which a tree needs of it."""
    return block_keys(page.blocks, config.blocks.hash).astype("<u8").tobytes()


def unpack_keys(data: bytes, config: UrlTreeConfig) -> Keys:
    """Unpack keys that `pack_keys` has packed: (blocks, key words)."""
    return np.frombuffer(data, "<u8").astype(np.uint64).reshape(-1, KEY_WORDS[config.blocks.hash])


def restore_arrival(file_no: int, row_no: int, packed_row: bytes, packed_head: str, packed_blocks: bytes) -> Arrival:
    """Restore an arrival from its parts: its file and row by number, its packed row, head and blocks."""
    capture_id, timestamp, url_fields = json.loads(packed_head)
    return Arrival(
        file_no=file_no,
        row_no=row_no,
        capture_id=capture_id,
        timestamp=timestamp,
        url_key=UrlKey(**url_fields | {"branch": tuple(url_fields["branch"])}),
        packed_row=packed_row,
        packed_blocks=packed_blocks,
    )
