"""A page as it arrives in the stream: what its row says of it, and what its domain's tree needs."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import zstandard

from dbce_spark import tables
from dbce_spark.model import Capture, Page
from dbce_spark.urltree.blocks import WORDS, Keys, block_keys
from dbce_spark.urltree.keys import UrlKey, url_key
from dbce_spark.urltree.settings import UrlTreeConfig

Row = Mapping[str, Any]
"""A row of a table, by its columns; timestamps are microseconds since 1970."""

_OF_CAPTURE = [name for name in tables.LABELS.names if name in Capture.__dataclass_fields__]
_OF_METADATA = [name for name in tables.LABELS.names if name in ("title", "declared_language", "canonical_url")]
_OF_METADATA += ["published", "modified"]
_LEVEL = 1
"""Of zstd: what is packed lives for seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A page and its place in the stream: files in the order in which they came, pages in that of their file.

    `row` has the columns of LABELS that do not depend on other pages, and those of its blocks as lists.
    """

    file_no: int
    row_no: int
    row: Row
    url_key: UrlKey
    keys: Keys  # (blocks, words)

    @property
    def domain(self) -> str:
        return self.url_key.domain


def of_page(page: Page, file_no: int, row_no: int, config: UrlTreeConfig) -> Arrival:
    """A page as the nth (from 0) of the nth file."""
    capture, blocks = page.capture, page.blocks
    row: dict[str, Any] = {name: getattr(capture, name) for name in _OF_CAPTURE}
    row |= {name: getattr(page.metadata, name) for name in _OF_METADATA}
    row |= {"capture_id": page.capture_id, "charset": page.charset, "charset_source": page.charset_source}
    row |= {"flags": [*page.flags], "page_text": blocks.text, "xpaths": blocks.xpaths}
    row |= {name: getattr(blocks, name).tolist() for name in ("starts", "ends", "words")}
    keys = block_keys(blocks, config.blocks.hash)
    return Arrival(file_no=file_no, row_no=row_no, row=row, url_key=_key(row, config), keys=keys)


def _key(row: Row, config: UrlTreeConfig) -> UrlKey:
    """By the title that the feed has, or else the page's own."""
    redirects = {row["item_link"]: row["url"]} if row["item_link"] else {}
    return url_key(
        row["item_link"] or row["url"], row["item_title"] or row["title"] or "", config.keys.rules, redirects
    )


def packed(row: Row) -> bytes:
    """A row for the way to another process."""
    return zstandard.compress(json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass"), _LEVEL)


def unpacked(data: bytes) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(zstandard.decompress(data).decode("utf-8", "surrogatepass"))
    return row


def arrived(file_no: int, row_no: int, told: bytes, keys: bytes, config: UrlTreeConfig) -> Arrival:
    """A page from what was sent of it: its row, packed, and the bytes of its keys."""
    row = unpacked(told)
    columns = np.frombuffer(keys, "<u8").astype(np.uint64).reshape(-1, WORDS[config.blocks.hash])
    return Arrival(file_no=file_no, row_no=row_no, row=row, url_key=_key(row, config), keys=columns)
